"""A page for each command, from its own --help."""

import dataclasses
import pathlib
import re
import subprocess

from .markdown import cell, code, fenced
from .page import Page

_ENTRY = re.compile(r"  (\S.*?)(?:\s{2,}(\S.*))?$")
_COLUMN = 30  # where the right column of a help text begins
_SUFFIX = re.compile(r" (REQUIRED$|Excludes:|Needs:)")


_NOT_BUILT = 4  # exit code of a command whose own program does not stand beside the program


class NotBuiltError(RuntimeError):
    """A command runs a program that was not built."""


class Program:
    """The built program, asked for what it says of itself."""

    def __init__(self, path: pathlib.Path, root: pathlib.Path) -> None:
        self._path = path
        self._root = root

    def says(self, *arguments: str) -> str:
        """What it prints. Raises RuntimeError (or NotBuiltError) with its words where it fails."""
        ran = subprocess.run(
            [self._path, *arguments], cwd=self._root, capture_output=True, text=True, check=False
        )
        if ran.returncode != 0:
            asked = " ".join(("trainyard", *arguments))
            kind = NotBuiltError if ran.returncode == _NOT_BUILT else RuntimeError
            raise kind(f"{asked}: exit code {ran.returncode}: {ran.stderr.strip()}")
        return ran.stdout


@dataclasses.dataclass
class Entry:
    """An option, operand or subcommand: its left column, and what it does."""

    name: str
    meaning: str


@dataclasses.dataclass
class Help:
    """The parts of a help text."""

    description: str
    usage: str
    tables: dict[str, list[Entry]]  # by title: Positionals, Options, Subcommands
    notes: str  # examples and what else stands at the end


def parsed(text: str) -> Help:
    """Reads what --help prints: description, usage, tables with a heading each, notes."""
    description: list[str] = []
    usage = ""
    tables: dict[str, list[Entry]] = {}
    notes: list[str] = []
    table: list[Entry] | None = None
    lines = text.split("\n")
    for line, following in zip(lines, [*lines[1:], ""]):
        if line.startswith("Usage: "):
            usage = line.removeprefix("Usage: ")
        elif not usage:
            description.append(line)
        elif not notes and re.fullmatch(r"[A-Z]\w*:", line):
            table = tables.setdefault(line[:-1], [])
        elif not notes and table is not None and line.startswith("  "):
            _add(table, line, following.startswith(" " * _COLUMN))
        elif line.strip() or notes:
            notes.append(line)
    return Help(" ".join(description).strip(), usage, tables, "\n".join(notes).strip())


def _add(table: list[Entry], line: str, goes_on: bool) -> None:
    """Adds an entry, or what a line says of the last one.

    The left column may fill its width, with a single space behind it; a longer one stands alone,
    with its meaning on the next line.
    """
    if line.startswith("   "):
        if table:
            table[-1].meaning = f"{table[-1].meaning} {line.strip()}".strip()
        return
    entry = _ENTRY.match(line)
    name, meaning = (entry.group(1), entry.group(2) or "") if entry else (line.strip(), "")
    if not meaning and not goes_on and line[_COLUMN - 1 : _COLUMN] == " ":
        name, meaning = line[:_COLUMN].strip(), line[_COLUMN:].strip()
    table.append(Entry(name, meaning))


@dataclasses.dataclass(frozen=True)
class Argument:
    """The left column of a help text in parts."""

    flags: list[str]  # or the operand's name
    takes: str
    default: str
    required: bool
    needs: list[str]
    excludes: list[str]


def argument(name: str) -> Argument:
    """Takes a left column apart: "-n,--ranks COUNT:INT in [1 - 8]=2 Excludes: --from"."""
    required = False
    others: dict[str, list[str]] = {}
    while suffixes := list(_SUFFIX.finditer(name)):
        last = suffixes[-1]
        required = required or last.group(1) == "REQUIRED"
        others[last.group(1)] = name[last.end() :].split()
        name = name[: last.start()]
    flags, _, rest = name.partition(" ")
    if default := re.search(r"=([^A-Z\s]\S*)$", rest):
        rest = rest[: default.start()]
    kind, _, check = rest.partition(":")
    return Argument(
        flags.split(","),
        _taken(kind.strip(), check),
        default.group(1) if default else "",
        required,
        others.get("Needs:", []),
        others.get("Excludes:", []),
    )


def _taken(kind: str, check: str) -> str:
    """What an option takes, in words: "INT, 1 to 8", "one of a, b"; as Markdown."""
    if names := re.match(r"\{(.*)\}$", check):
        return "one of " + ", ".join(code(each) for each in names.group(1).split(","))
    if limits := re.match(r"(\w+) in \[(\S+) - (\S+)\]$", check):
        return f"{cell(kind)}, {limits.group(2)} to {limits.group(3)}"
    if check in ("", kind, "FILE"):
        return cell(kind)
    return f"{cell(kind)}, {cell(check.lower())}"


def table_of(title: str, entries: list[Entry], command: str) -> str:
    """A table of options or operands, each with an anchor of its own."""
    columns = {"Positionals": "Operand", "Options": "Option"}
    lines = [f"| {columns.get(title, title)} | Takes | Default | Meaning |", "|---|---|---|---|"]
    for entry in entries:
        told = argument(entry.name)
        anchor = "-".join([*command.split()[1:], told.flags[-1]])
        names = ", ".join(code(flag) for flag in told.flags)
        meaning = cell(entry.meaning)
        if told.needs:
            meaning += "; only with " + ", ".join(code(each) for each in told.needs)
        if told.excludes:
            meaning += "; not with " + ", ".join(code(each) for each in told.excludes)
        names = f"**{names}**" if told.required else names
        default = code(told.default) if told.default else ""
        lines.append(f'| <a id="{anchor}"></a>{names} | {told.takes} | {default} | {meaning} |')
    return "\n".join(lines) + "\n"


def described(command: str, text: str) -> str:
    """What a help text says of `command`, as Markdown without a heading."""
    told = parsed(text)
    parts = [cell(told.description) + ".", fenced(told.usage)]
    for title, entries in told.tables.items():
        if title != "Subcommands":
            parts.append(table_of(title, entries, command))
    if told.notes:
        parts.append(fenced(told.notes))
    return "\n\n".join(parts)


def _with_subcommands(program: Program, words: list[str], level: int) -> str:
    command = " ".join(["trainyard", *words])
    text = program.says(*words, "--help")
    parts = [f"{'#' * level} {command}", described(command, text)]
    for entry in parsed(text).tables.get("Subcommands", []):
        parts.append(_with_subcommands(program, [*words, entry.name], level + 1))
    return "\n\n".join(parts)


def command_pages(program: Program) -> list[Page]:
    """The list of commands, then a page for each."""
    told = parsed(program.says("--help"))
    commands = told.tables["Subcommands"]
    lines = [
        "# Commands",
        "",
        cell(told.description) + ".",
        "",
        "| Command | What it does |",
        "|---|---|",
    ]
    for entry in commands:
        lines.append(f"| [{entry.name}]({entry.name}.md) | {cell(entry.meaning)} |")
    pages = [Page("commands/index.md", "All", "\n".join(lines) + "\n")]
    for entry in commands:
        try:
            text = _with_subcommands(program, [entry.name], 1)
        except NotBuiltError:
            text = (
                f"# trainyard {entry.name}\n\n{cell(entry.meaning)}.\n\nIt runs a program that was "
                "not built where this page was made: its options are not listed here.\n"
            )
        pages.append(Page(f"commands/{entry.name}.md", entry.name, text, weight=4))
    return pages
