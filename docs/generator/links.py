"""Links of documents, from where they lead in the repository to where they lead on the site."""

import dataclasses
import pathlib
import posixpath

from .markdown import fenced, headings, links, with_links
from .page import Page, slug

_PICTURES = (".png", ".svg", ".jpg", ".jpeg", ".gif", ".webp")
_OTHER_PLACES = ("http://", "https://", "mailto:")


def is_outside(link: str) -> bool:
    """Whether a link leaves the repository."""
    return link.startswith(_OTHER_PLACES)


class Linker:
    """Rewrites links, and remembers the files that the site has to have because of them."""

    def __init__(self, root: pathlib.Path, pages: list[Page]) -> None:
        self._root = root
        self._places = {page.origin: page.place for page in pages if page.origin}
        # The root's README is cut into pages: by the anchor of a heading, its page.
        self._readme = {
            slug(page.title): page.place for page in pages if page.origin == "README.md"
        }
        self._places["README.md"] = "index.md"
        self.pictures: set[str] = set()
        self.shown: dict[str, Page] = {}  # files that are no document, as pages

    def linked(self, page: Page) -> Page:
        """The page with its links leading to places of the site."""

        def target(link: str) -> str | None:
            if link.startswith("site:"):
                return posixpath.relpath(link[5:], posixpath.dirname(page.place) or ".")
            if not page.origin or is_outside(link) or link.startswith("#"):
                return link
            place = self._place(posixpath.dirname(page.origin), link)
            return place and posixpath.relpath(place, posixpath.dirname(page.place) or ".")

        return dataclasses.replace(page, text=with_links(page.text, target))

    def _place(self, folder: str, link: str) -> str | None:
        """Where on the site a link out of a document in `folder` leads; None: nowhere."""
        path, hash_sign, anchor = link.partition("#")
        origin = posixpath.normpath(posixpath.join(folder, path))
        if (self._root / origin).is_dir():
            origin = posixpath.join(origin, "README.md")
        if origin == "README.md" and anchor:
            return self._readme.get(anchor, "index.md")
        if origin in self._places:
            return self._places[origin] + hash_sign + anchor
        if not (self._root / origin).is_file():
            return None  # check_documents() tells of it
        if origin.endswith(_PICTURES):
            self.pictures.add(origin)
            return origin
        return self._show(origin).place

    def _show(self, origin: str) -> Page:
        """A page that shows a file as it is."""
        if origin not in self.shown:
            text = (self._root / origin).read_text(encoding="utf-8", errors="replace")
            language = {".cpp": "cpp", ".h": "cpp", ".py": "python", ".json": "json"}.get(
                pathlib.PurePosixPath(origin).suffix, "text"
            )
            title = pathlib.PurePosixPath(origin).name
            body = f"# {title}\n\n{fenced(text, language)}"
            self.shown[origin] = Page(f"shown/{origin}.md", title, body)
        return self.shown[origin]


def check_documents(root: pathlib.Path, documents: list[str]) -> list[str]:
    """What is wrong with the relative links of documents, one line each."""
    problems = []
    for document in documents:
        text = (root / document).read_text(encoding="utf-8")
        for link in links(text):
            if is_outside(link):
                continue
            path, _, anchor = link.partition("#")
            there = (root / document).parent / path if path else root / document
            if not there.exists():
                problems.append(f"{document}: ({link}): no such file")
            elif anchor and there.is_file() and anchor not in anchors(there.read_text("utf-8")):
                problems.append(f"{document}: ({link}): no such heading")
    return problems


def anchors(text: str) -> set[str]:
    """The anchors that the headings of a document make."""
    found: set[str] = set()
    for heading in headings(text):
        name, number = slug(heading), 0
        while name in found:
            number += 1
            name = f"{slug(heading)}-{number}"
        found.add(name)
    return found
