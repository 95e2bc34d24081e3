"""Stored notebooks without outputs, with stable ids and sorted keys, so that a change reads as one.

    tidy.py [--check] [NOTEBOOK...]        else all of this folder

Writes them in that form; with --check only names those that are not, and ends with 1. A cell keeps
the id that it has; others are called after what stands in them.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}


def tidy_cell(cell: dict[str, Any], taken: set[str]) -> dict[str, Any]:
    """The same cell with nothing that running it leaves."""
    text = "".join(cell["source"])
    name = cell.get("id") or hashlib.sha256(text.encode()).hexdigest()[:8]
    while name in taken:
        name += "-2"
    taken.add(name)
    out = {
        "cell_type": cell["cell_type"],
        "id": name,
        "metadata": {},
        "source": text.rstrip("\n").splitlines(keepends=True),
    }
    if cell["cell_type"] == "code":
        out.update(execution_count=None, outputs=[])
    return out


def tidy(text: str) -> str:
    """A notebook's text in the form that is stored."""
    taken: set[str] = set()
    notebook = {
        "cells": [tidy_cell(cell, taken) for cell in json.loads(text)["cells"]],
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(notebook, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def main(arguments: list[str]) -> int:
    check = "--check" in arguments
    named = [Path(argument) for argument in arguments if argument != "--check"]
    untidy = 0
    for file in named or sorted(Path(__file__).parent.glob("*.ipynb")):
        before = file.read_text(encoding="utf-8")
        after = tidy(before)
        if before == after:
            continue
        untidy += 1
        if check:
            print(f"{file.name} is not in the form that is stored: {Path(__file__).name} {file.name}")
        else:
            file.write_text(after, encoding="utf-8")
    return 1 if check and untidy else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
