"""Checks a built site: all links and anchors lead somewhere, nothing is loaded from elsewhere."""

import html.parser
import pathlib
import urllib.parse

_LOADS = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}
_QUIET_RELATIONS = {"canonical", "prev", "next", "edit"}  # of <link>: nothing is loaded


class _PageReader(html.parser.HTMLParser):
    """Collects a page's anchors, and where its links and the files it loads lead."""

    def __init__(self) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        attribute = _LOADS.get(tag)
        if attribute in values and not _QUIET_RELATIONS & set(values.get("rel", "").split()):
            self.loads.append(values[attribute])


def check_site(site: pathlib.Path) -> list[str]:
    """What is wrong with the pages below `site`, one line each."""
    pages = {page: _read(page) for page in sorted(site.rglob("*.html"))}
    problems = [] if pages else [f"{site}: no pages"]
    for page, read in pages.items():
        name = page.relative_to(site).as_posix()
        for load in read.loads:
            if _is_elsewhere(load):
                problems.append(f"{name}: loads {load} from elsewhere")
        for link in read.links + read.loads:
            problem = "" if _is_elsewhere(link) else _problem(page, link, pages)
            if problem:
                problems.append(f"{name}: {link}: {problem}")
    return problems


def _read(page: pathlib.Path) -> _PageReader:
    reader = _PageReader()
    reader.feed(page.read_text(encoding="utf-8"))
    return reader


def _is_elsewhere(link: str) -> bool:
    parts = urllib.parse.urlsplit(link)
    return bool(parts.scheme or parts.netloc)


def _problem(page: pathlib.Path, link: str, pages: dict[pathlib.Path, _PageReader]) -> str:
    parts = urllib.parse.urlsplit(link)
    path = urllib.parse.unquote(parts.path)
    if path.startswith("/"):
        return ""  # of the page for what is not found, which does not know where it is
    there = (page.parent / path).resolve() if path else page
    if there.is_dir():
        there = there / "index.html"
    if not there.is_file():
        return "no such file"
    anchor = urllib.parse.unquote(parts.fragment)
    if anchor and there in pages and anchor not in pages[there].anchors and anchor != "__top":
        return "no such anchor"
    return ""
