"""The page of the Python package: its names, as mkdocstrings shows them."""

import ast
import pathlib

from .markdown import code
from .page import Menu, Page

_PACKAGE = "trainyard"


def public_names(source: str) -> list[str]:
    """What a module's __all__ lists. Raises ValueError where it has none."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and any(
            isinstance(each, ast.Name) and each.id == "__all__" for each in node.targets
        ):
            return [str(name) for name in ast.literal_eval(node.value)]
    raise ValueError("the package has no __all__")


def has_package(root: pathlib.Path) -> bool:
    """Whether the source tree has the Python package."""
    return (root / "python" / _PACKAGE / "__init__.py").is_file()


def package_pages(root: pathlib.Path) -> Menu:
    """The page on the package's names; none where the source tree has no such package."""
    if not has_package(root):
        return []
    source = (root / "python" / _PACKAGE / "__init__.py").read_text(encoding="utf-8")
    names = [name for name in public_names(source) if not name.startswith("_")]
    parts = [f"# Module {_PACKAGE}", f"All that {code('import ' + _PACKAGE)} offers."]
    parts += [f"::: {_PACKAGE}.{name}" for name in names]
    return [Page("python/reference.md", "Reference", "\n\n".join(parts) + "\n", weight=2)]


def plugin(root: pathlib.Path) -> dict[str, object]:
    """The setting of MkDocs that reads the package's sources; nothing of it is run."""
    options = {
        "show_source": False,
        "show_root_heading": True,
        "show_root_full_path": False,
        "heading_level": 2,
        "members_order": "source",
        "separate_signature": True,
        "show_signature_annotations": True,
        "docstring_style": "google",
        "show_if_no_docstring": False,
        "inherited_members": True,
    }
    handler = {"paths": [str(root / "python")], "options": options}
    return {"mkdocstrings": {"handlers": {"python": handler}}}
