"""A page of the site, and the menu that leads to it."""

import dataclasses
import re
import unicodedata


@dataclasses.dataclass(frozen=True)
class Page:
    """Markdown at a place of the site.

    place: path below the root of the site's pages, as "files/scenario.md".
    title: what the menu says.
    text: Markdown as Python-Markdown reads it.
    origin: the file of the repository that it shows, if one; its links start there.
    weight: how much the search prefers it to others.
    """

    place: str
    title: str
    text: str
    origin: str = ""
    weight: float = 1


@dataclasses.dataclass(frozen=True)
class Group:
    """A folder of the menu: pages and further groups, in order."""

    title: str
    entries: "list[Page | Group]"


Menu = list[Page | Group]


def pages_of(menu: Menu) -> list[Page]:
    """All pages of a menu, in its order."""
    pages: list[Page] = []
    for entry in menu:
        pages += [entry] if isinstance(entry, Page) else pages_of(entry.entries)
    return pages


def nav(menu: Menu) -> list[dict[str, object]]:
    """The menu as MkDocs' setting `nav`. Groups without a page are left out."""
    entries: list[dict[str, object]] = []
    for entry in menu:
        if isinstance(entry, Page):
            entries.append({entry.title: entry.place})
        elif pages_of(entry.entries):
            entries.append({entry.title: nav(entry.entries)})
    return entries


def slug(heading: str) -> str:
    """The anchor of a heading, as Python-Markdown's extension toc names it."""
    plain = unicodedata.normalize("NFKD", heading).encode("ascii", "ignore").decode("ascii")
    plain = re.sub(r"[^\w\s-]", "", plain).strip().lower()
    return re.sub(r"[-\s]+", "-", plain)
