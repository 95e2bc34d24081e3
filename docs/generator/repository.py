"""The pages that the repository's documents make, and their places in the menu."""

import dataclasses
import os
import pathlib
import re

from .headers import headers_page, with_header_links
from .markdown import cell, normalised, sections, subject, title_of
from .page import Group, Menu, Page, pages_of, slug

# Sections of the root's README by what people come for; others go under Project.
_USES = {
    "Simulate": [
        "What would help",
        "The best layout",
        "The smallest cluster, the days and the cost",
        "Start from your own job",
        "Look at a job that ran",
        "What it models",
    ],
    "Explore": ["Look and explore", "From Python"],
    "Calibrate": ["Measure your own machine", "From logs to a profile"],
    "Accuracy": ["How accurate is it?"],
}
_FIRST = "Ten lines"
_WHAT_FOR = {
    "Simulate": "a step, a sweep, the best layout, the smallest cluster, from a scenario or from "
    "the job that you have",
    "Explore": "change a field and see at once, in a window or in a notebook",
    "Calibrate": "measure your machine, or make a profile from logs that you have",
}
# Folders whose headers say how models work, or what clients call.
_TOLD_BY_HEADERS = (
    "api",
    "topology",
    "workload",
    "program",
    "cost",
    "strategy",
    "engine",
    "traces",
)


class Repository:
    """The documents of a source tree."""

    def __init__(self, root: pathlib.Path) -> None:
        self.root = root
        self.documents = sorted(self._walk(".md"))
        self._headers = sorted(self._walk(".h", "sim"))

    def _walk(self, ending: str, below: str = ".") -> list[str]:
        """Files with that ending, but of builds, environments and hidden folders; from the root."""
        found = []
        for folder, folders, files in os.walk(self.root / below):
            folders[:] = [
                name
                for name in folders
                if not name.startswith((".", "build", "__"))
                and not pathlib.Path(folder, name, "pyvenv.cfg").exists()
            ]
            place = pathlib.Path(folder).relative_to(self.root)
            found += [(place / name).as_posix() for name in files if name.endswith(ending)]
        return found

    def read(self, place: str) -> str:
        """The text of a file."""
        return (self.root / place).read_text(encoding="utf-8")

    def menu(self, reference: Menu, package: Menu) -> Menu:
        """The whole menu.

        reference: pages that the program makes; package: those that the Python package makes.
        """
        by_heading = {part.heading: part for part in sections(self.read("README.md"))}
        front = by_heading.pop("").text + "\n\n## " + _FIRST + "\n\n" + by_heading.pop(_FIRST).text
        groups: dict[str, list[Page | Group]] = {}
        placed = {heading: use for use, all_of_it in _USES.items() for heading in all_of_it}
        for heading, part in by_heading.items():
            text = f"# {heading}\n\n{normalised(part.text)}\n"
            page = Page(f"guide/{slug(heading)}.md", heading, text, "README.md")
            groups.setdefault(placed.get(heading, "Project"), []).append(page)
        groups.setdefault("Accuracy", []).extend(self._tree("tests/validation", "Validation"))
        groups["Accuracy"] += self._pages("scenarios/COMPARED.md", "Beside public guides")
        works = self._how_it_works()
        home = Page("index.md", "First answer", self._home(front, groups), "README.md")
        return [
            home,
            *(Group(use, groups.get(use, [])) for use in ("Simulate", "Explore", "Calibrate")),
            *reference,
            Group("Python", [*self._inside("python"), *package]),
            Group("How it works", [Page("how/index.md", "All", self._overview(works)), *works]),
            Group("Accuracy", groups["Accuracy"]),
            Group("Project", [*groups.get("Project", []), *self._rest()]),
        ]

    def _home(self, front: str, groups: dict[str, list[Page | Group]]) -> str:
        lines = [normalised(front), "", "## Three uses", ""]
        for use, what_for in _WHAT_FOR.items():
            pages = [page for page in groups.get(use, []) if isinstance(page, Page)]
            linked = ", ".join(f"[{cell(page.title)}](site:{page.place})" for page in pages)
            lines.append(f"* **{use}**: {what_for}. {linked}")
        lines += [
            "",
            "Every [command](site:commands/index.md) and every field of every "
            "[file](site:files/index.md) is listed.",
        ]
        return "\n".join(lines) + "\n"

    def _overview(self, works: Menu) -> str:
        """A table of the parts, with the first sentence of what each says of itself."""
        lines = ["# How it works", "", "| Part | What it does |", "|---|---|"]
        for page in pages_of(works):
            if page.origin:
                folder = os.path.dirname(page.origin)
                name = folder if page.origin.endswith("README.md") else page.origin
                lines.append(f"| [{cell(name)}](site:{page.place}) | {subject(page.text)} |")
        return "\n".join(lines) + "\n"

    def _pages(self, place: str, title: str = "") -> list[Page]:
        """The page of one document; none where it is missing."""
        if place not in self.documents:
            return []
        text = self.read(place)
        return [Page(place, title or title_of(text), normalised(text) + "\n", place)]

    def _own_documents(self, folder: str) -> list[str]:
        return [each for each in self.documents if os.path.dirname(each) == folder]

    def _tree(self, folder: str, title: str = "") -> list[Page | Group]:
        """The documents of a folder and of those below it, README first; a group if several."""
        own = sorted(self._own_documents(folder), key=lambda each: not each.endswith("README.md"))
        headers = self._headers_of(folder) if own else []
        names = {header.relative_to(self.root / folder).as_posix() for header in headers}
        entries: list[Page | Group] = []
        for entry in (page for place in own for page in self._pages(place)):
            text = with_header_links(entry.text, names, f"{folder}/headers.md")
            entries.append(dataclasses.replace(entry, text=text))
        if headers:
            entries.append(headers_page(self.root, folder, headers))
        for below in self._below(folder):
            entries += self._tree(below)
        if len(entries) < 2:
            return entries
        return [Group(title or entries[0].title, entries)]

    def _inside(self, folder: str) -> Menu:
        """As _tree, without a group around all."""
        return [
            each
            for entry in self._tree(folder)
            for each in (entry.entries if isinstance(entry, Group) else [entry])
        ]

    def _below(self, folder: str) -> list[str]:
        """Folders directly below that hold documents, in the order in which CMake adds them."""
        names = {
            each[len(folder) + 1 :].split("/")[0]
            for each in self.documents
            if each.startswith(folder + "/") and each.count("/") > folder.count("/") + 1
        }
        lists = self.root / folder / "CMakeLists.txt"
        added = (
            re.findall(r"add_subdirectory\((\S+)\)", lists.read_text("utf-8"))
            if lists.exists()
            else []
        )
        order = {name: number for number, name in enumerate(added)}
        return [
            f"{folder}/{name}"
            for name in sorted(names, key=lambda n: (order.get(n, len(order)), n))
        ]

    def _headers_of(self, folder: str) -> list[pathlib.Path]:
        """Headers of a folder, and of folders below it without a document."""
        parts = folder.split("/")
        if parts[0] != "sim" or len(parts) < 2 or parts[1] not in _TOLD_BY_HEADERS:
            return []
        told = {os.path.dirname(each) for each in self.documents}

        def owner(place: str) -> str:
            at = os.path.dirname(place)
            while at not in told and at:
                at = os.path.dirname(at)
            return at

        return [self.root / each for each in self._headers if owner(each) == folder]

    def _how_it_works(self) -> Menu:
        entries: Menu = [*self._own("sim")]
        for folder in [*self._below("sim"), "calibrate", "topologies", "scenarios", "gui"]:
            entries += [entry for entry in self._tree(folder)]
        return _without(entries, "scenarios/COMPARED.md")

    def _own(self, folder: str) -> Menu:
        return [page for place in self._own_documents(folder) for page in self._pages(place)]

    def _rest(self) -> Menu:
        """Documents that no other part of the menu shows."""
        shown = (
            "sim/",
            "calibrate/",
            "topologies/",
            "scenarios/",
            "gui/",
            "python/",
            "tests/validation/",
        )
        rest: Menu = []
        for place in self.documents:
            if place != "README.md" and not place.startswith(shown):
                rest += self._pages(place)
        return rest


def _without(entries: Menu, place: str) -> Menu:
    """A menu without one page."""
    kept: Menu = []
    for entry in entries:
        if isinstance(entry, Group):
            inner = _without(entry.entries, place)
            kept.append(inner[0] if len(inner) == 1 else Group(entry.title, inner))
        elif entry.place != place:
            kept.append(entry)
    return kept
