"""A page for each command, from its own --help."""

import dataclasses
import pathlib
import re
import subprocess

from .markdown import cell, code, fenced
from .page import Page

_ENTRY = re.compile(r"  (\S.*?)(?:\s{2,}(\S.*))?$")


class Program:
    """The built program, asked for what it says of itself."""

    def __init__(self, path: pathlib.Path, root: pathlib.Path) -> None:
        self._path = path
        self._root = root

    def says(self, *arguments: str) -> str:
        """What it prints. Raises RuntimeError with its words where it fails."""
        ran = subprocess.run(
            [self._path, *arguments], cwd=self._root, capture_output=True, text=True, check=False
        )
        if ran.returncode != 0:
            asked = " ".join(("trainyard", *arguments))
            raise RuntimeError(f"{asked}: exit code {ran.returncode}: {ran.stderr.strip()}")
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
    for line in text.split("\n"):
        if line.startswith("Usage: "):
            usage = line.removeprefix("Usage: ")
        elif not usage:
            description.append(line)
        elif not notes and re.fullmatch(r"[A-Z]\w*:", line):
            table = tables.setdefault(line[:-1], [])
        elif not notes and table is not None and line.startswith("  "):
            _add(table, line)
        elif line.strip() or notes:
            notes.append(line)
    return Help(" ".join(description).strip(), usage, tables, "\n".join(notes).strip())


def _add(table: list[Entry], line: str) -> None:
    entry = _ENTRY.match(line)
    if entry and not line.startswith("   "):
        table.append(Entry(entry.group(1), entry.group(2) or ""))
    elif table:
        table[-1].meaning = f"{table[-1].meaning} {line.strip()}".strip()


def _split_name(name: str) -> tuple[str, str]:
    """An entry's left column as the flags (or the operand's name), and what they take."""
    flags, _, takes = name.partition(" ")
    flags, colon, rest = flags.partition(":") if ":{" in flags else (flags, "", "")
    return flags, (colon + rest + " " + takes).strip().removeprefix(":")


def table_of(title: str, entries: list[Entry], command: str) -> str:
    """A table of options or operands, each with an anchor of its own."""
    columns = {"Positionals": "Operand", "Options": "Option"}
    lines = [f"| {columns.get(title, title)} | Takes | Meaning |", "|---|---|---|"]
    for entry in entries:
        flags, takes = _split_name(entry.name)
        anchor = "-".join([*command.split()[1:], flags.split(",")[-1]])
        names = ", ".join(code(flag) for flag in flags.split(","))
        lines.append(
            f'| <a id="{anchor}"></a>{names} | {cell(takes.replace(":", ": "))} | {cell(entry.meaning)} |'
        )
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
    lines = ["# Commands", "", cell(told.description) + ".", "", "| Command | What it does |", "|---|---|"]
    for entry in commands:
        lines.append(f"| [{entry.name}]({entry.name}.md) | {cell(entry.meaning)} |")
    pages = [Page("commands/index.md", "All", "\n".join(lines) + "\n")]
    for entry in commands:
        text = _with_subcommands(program, [entry.name], 1)
        pages.append(Page(f"commands/{entry.name}.md", entry.name, text))
    return pages
