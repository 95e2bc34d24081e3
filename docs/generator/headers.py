"""Pages on a folder's headers: what each says of itself, of its types and of its functions."""

import dataclasses
import pathlib
import re

from .markdown import code, fenced, is_prose, outside_code
from .page import Page, slug


@dataclasses.dataclass(frozen=True)
class Told:
    """A comment and the declaration that it stands before."""

    comment: str
    declaration: str


@dataclasses.dataclass(frozen=True)
class Header:
    """What a header says of itself, and of what it declares."""

    comment: str
    declarations: list[Told]


def parsed(text: str) -> Header:
    """Reads the comments that begin at a line's start and the declarations after them.

    Bodies of functions and what is private are left out; members of types are what is told of.
    """
    about = ""
    declarations: list[Told] = []
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        if not lines[at].startswith("//"):
            at += 1
            continue
        comment = []
        while at < len(lines) and lines[at].startswith("//"):
            comment.append(lines[at].removeprefix("//").removeprefix(" "))
            at += 1
        words = "\n".join(comment)
        if at >= len(lines) or not lines[at].strip() or lines[at].startswith(("#", "namespace")):
            about = about or words
            continue
        declared, at = _declaration(lines, at)
        declarations.append(Told(words, declared))
    return Header(about, declarations)


def _declaration(lines: list[str], at: int) -> tuple[str, int]:
    """The declaration that begins at a line, and the line after it."""
    taken: list[str] = []
    depth = 0
    while at < len(lines):
        line = lines[at]
        taken.append(line)
        at += 1
        code_alone = line.split("//")[0]
        depth += sum(code_alone.count(c) for c in "{(") - sum(code_alone.count(c) for c in "})")
        if depth == 0 and code_alone.rstrip().endswith((";", "}")):
            break
    whole = "\n".join(taken)
    if re.search(r"^(struct|class|enum|union)\b", whole, re.M):
        return _public(whole), at
    body = re.search(r"\n?\s*\{.*\}\s*$", whole, re.S)
    return (whole[: body.start()] + ";" if body else whole), at


def _public(declared: str) -> str:
    """A type without what is private and the bodies of its functions, whose braces stand alone."""
    declared = re.sub(r"\n*^ *private:\n.*?(?=^\};)", "\n", declared, flags=re.M | re.S)
    return re.sub(
        r"(?:\n +: .*(?:\n +, .*|\n {6,}\S.*)*)?\n( +)\{\n(?:.*\n)*?\1\}(?=\n)", ";", declared
    )


def header_text(name: str, text: str) -> str:
    """A header as Markdown: a heading, its own words, declarations with what is said of them."""
    header = parsed(text)
    parts = [f"## {name}"]
    if header.comment:
        parts.append(prose(header.comment))
    for told in header.declarations:
        parts.append(fenced(told.declaration, "cpp"))
        parts.append(prose(told.comment))
    return "\n\n".join(parts)


def prose(comment: str) -> str:
    """A comment as paragraphs; lines that are indented (formulas, tables) stay as they are."""
    out: list[str] = []
    block: list[str] = []
    for line in [*comment.split("\n"), ""]:
        if re.match(r" {2,}\S", line):
            block.append(line)
            continue
        if block:
            out += ["", fenced("\n".join(block)), ""]
            block = []
        out.append(_plain(line))
    return "\n".join(out).strip()


def _plain(line: str) -> str:
    """A line of a comment: only code spans are markup."""
    parts = re.split(r"(`[^`]*`)", line)
    return "".join(
        code(part[1:-1])
        if part.startswith("`") and part.endswith("`") and len(part) > 2
        else re.sub(r"([\\`*_\[\]#|])", r"\\\1", part).replace("<", "&lt;").replace(">", "&gt;")
        for part in parts
    )


def headers_page(root: pathlib.Path, folder: str, headers: list[pathlib.Path]) -> Page:
    """The page of a folder's headers (and of folders in it without a page of their own)."""
    name = pathlib.PurePosixPath(folder).name
    parts = [
        f"# Headers of {name}",
        f"What the headers of {code(folder)} say: formulas, units, sources.",
    ]
    for header in headers:
        text = header.read_text(encoding="utf-8")
        if parsed(text).declarations or parsed(text).comment:
            parts.append(header_text(header.relative_to(root / folder).as_posix(), text))
    return Page(f"{folder}/headers.md", "headers", "\n\n".join(parts) + "\n", weight=0.3)


def with_header_links(text: str, names: set[str], page: str) -> str:
    """A document in which the names of headers, as in "(knots.h)", lead to `page`."""

    def linked(match: re.Match[str]) -> str:
        name = match.group(1)
        return f"[{name}](site:{page}#{slug(name)})" if name in names else name

    lines = text.split("\n")
    return "\n".join(
        outside_code(line, lambda part: re.sub(r"(?<![\w/\[])([\w/]+\.h)\b", linked, part))
        if told
        else line
        for line, told in zip(lines, is_prose(lines))
    )
