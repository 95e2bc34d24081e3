"""Writes what MkDocs builds the site from: pages, pictures and settings, in one folder."""

import json
import pathlib
import shutil

from .commands import Program, command_pages
from .links import Linker
from .page import Group, Menu, Page, nav, pages_of
from .python_api import has_package, plugin, package_pages
from .repository import Repository
from .schemas import schema_pages


def reference(program: Program) -> Menu:
    """The parts of the menu that the program makes."""
    commands: Menu = list(command_pages(program))
    files: Menu = list(schema_pages(program))
    return [Group("Commands", commands), Group("Files", files)]


def write_sources(
    root: pathlib.Path, program: pathlib.Path, sources: pathlib.Path, site: pathlib.Path
) -> list[str]:
    """Writes the folder `sources`, which must be new; returns the repository's documents.

    Raises RuntimeError where the program does not say what it should.
    """
    repository = Repository(root)
    menu = repository.menu(reference(Program(program, root)), package_pages(root))
    pages = pages_of(menu)
    linker = Linker(root, pages)
    linked = [linker.linked(page) for page in pages]
    _write_pages(sources / "pages", linked + list(linker.shown.values()))
    for picture in sorted(linker.pictures):
        _copy(root / picture, sources / "pages" / picture)
    for asset in sorted((root / "docs/assets").iterdir()):
        _copy(asset, sources / "pages/assets" / asset.name)
    settings: dict[str, object] = {
        "INHERIT": str(root / "docs/mkdocs.yml"),
        "docs_dir": str(sources / "pages"),
        "site_dir": str(site),
        "nav": nav(menu),
    }
    if has_package(root):
        settings["plugins"] = plugin(root)
    (sources / "mkdocs.yml").write_text(json.dumps(settings, indent=1), encoding="utf-8")
    return repository.documents


def _write_pages(folder: pathlib.Path, pages: list[Page]) -> None:
    for page in pages:
        there = folder / page.place
        there.parent.mkdir(parents=True, exist_ok=True)
        if there.exists():
            raise RuntimeError(f"{page.place}: two pages of the site have this place")
        front = f"---\nsearch:\n  boost: {page.weight:g}\n---\n\n" if page.weight != 1 else ""
        there.write_text(front + page.text, encoding="utf-8")


def _copy(source: pathlib.Path, target: pathlib.Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
