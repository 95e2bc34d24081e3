"""Markdown as the repository writes it (that of GitHub) in the form that Python-Markdown reads."""

import collections.abc
import dataclasses
import re

_ITEM = re.compile(r"( *)([*+-]|\d+\.) +\S")
_FENCE = re.compile(r" {0,3}(```|~~~)")
_HEADING = re.compile(r"(#{1,6}) +(.*?)(?: +#+)?$")
_LINK = re.compile(r"(?<!\\)(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^()\s]+)((?: +\"[^\"]*\")?)\)")
_CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")


@dataclasses.dataclass(frozen=True)
class Section:
    """A heading of level 2 and what stands below it. The first of a text has none."""

    heading: str
    text: str


def is_prose(lines: list[str]) -> list[bool]:
    """Of each line, whether it is no code: not fenced, and not indented after an empty line."""
    answer = []
    fence = False
    code = False
    for number, line in enumerate(lines):
        if _FENCE.match(line):
            fence = not fence
            answer.append(False)
            continue
        empty_before = number == 0 or not lines[number - 1].strip()
        if line.strip():
            code = line.startswith("    ") and (code or empty_before)
        answer.append(not fence and not code)
    return answer


def headings(text: str) -> list[str]:
    """The headings of a text, outside code."""
    lines = text.split("\n")
    found = (_HEADING.match(line) for line, prose in zip(lines, is_prose(lines)) if prose)
    return [match.group(2) for match in found if match]


def title_of(text: str) -> str:
    """The first heading, without what follows a colon."""
    found = headings(text)
    return found[0].split(":")[0].rsplit("/", 1)[-1] if found else ""


def subject(text: str) -> str:
    """What a document is about: its heading behind a colon, else its first sentence."""
    _, colon, rest = next(iter(headings(text)), "").partition(": ")
    if colon:
        return rest
    lines = text.split("\n")
    told = [line if prose else "" for line, prose in zip(lines, is_prose(lines))]
    paragraphs = "\n".join(line for line in told if not line.startswith("#")).strip().split("\n\n")
    return re.split(r"(?<=[.:])\s", " ".join(paragraphs[0].split()), maxsplit=1)[0].rstrip(":.")


def sections(text: str) -> list[Section]:
    """Cuts a text at its headings of level 2."""
    lines = text.split("\n")
    parts: list[tuple[str, list[str]]] = [("", [])]
    for line, prose in zip(lines, is_prose(lines)):
        if prose and line.startswith("## "):
            parts.append((line[3:].strip(), []))
        else:
            parts[-1][1].append(line)
    return [Section(heading, "\n".join(body).strip("\n")) for heading, body in parts]


def normalised(text: str) -> str:
    """Puts the empty line before lists that Python-Markdown asks for, and nests items by four."""
    lines = text.split("\n")
    out: list[str] = []
    in_list = False
    for line, prose in zip(lines, is_prose(lines)):
        item = _ITEM.match(line) if prose else None
        if item:
            depth = len(item.group(1))
            if in_list and 0 < depth < 4:
                line = " " * 4 + line.lstrip()
            elif not in_list and out and out[-1].strip():
                out.append("")
            in_list = True
        elif _HEADING.match(line) or _begins_paragraph(line, out):
            in_list = False
        out.append(line)
    return "\n".join(out)


def _begins_paragraph(line: str, before: list[str]) -> bool:
    """Whether a line begins a paragraph that belongs to no list."""
    return bool(line.strip()) and line[0] != " " and bool(before) and not before[-1].strip()


def outside_code(line: str, change: collections.abc.Callable[[str], str]) -> str:
    """A line whose parts outside code spans went through `change`."""
    spans: list[str] = []

    def put_away(match: re.Match[str]) -> str:
        spans.append(match.group(0))
        return f"\0{len(spans) - 1}\0"

    changed = change(_CODE.sub(put_away, line))
    return re.sub("\0(\\d+)\0", lambda match: spans[int(match.group(1))], changed)


def with_links(text: str, target: collections.abc.Callable[[str], str | None]) -> str:
    """A text whose links lead to `target` of where they led; None leaves the words alone."""

    def rewritten(match: re.Match[str]) -> str:
        image, words, old, title = match.groups()
        new = target(old)
        return words if new is None else f"{image}[{words}]({new}{title})"

    lines = text.split("\n")
    return "\n".join(
        outside_code(line, lambda part: _LINK.sub(rewritten, part)) if prose else line
        for line, prose in zip(lines, is_prose(lines))
    )


def links(text: str) -> list[str]:
    """Where the links of a text lead, in order."""
    found: list[str] = []

    def note(old: str) -> str:
        found.append(old)
        return old

    with_links(text, note)
    return found


def cell(text: str) -> str:
    """Plain text as the content of a table's cell: nothing of it is markup."""
    text = re.sub(r"([\\`*_{}\[\]<>#|~])", r"\\\1", text)
    text = text.replace("\\<", "&lt;").replace("\\>", "&gt;").replace("\\|", "&#124;")
    return text.replace("\\~", "~").replace("\n", " ")


def code(text: str) -> str:
    """Plain text as a code span that also a table's cell may hold."""
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return f"<code>{escaped.replace('|', '&#124;')}</code>"


def fenced(text: str, language: str = "text") -> str:
    """Lines as a block of code."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text.rstrip()}\n{fence}\n"
