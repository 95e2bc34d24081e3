"""The notebooks run, from any folder, and are stored in one form."""

from __future__ import annotations

import asyncio
import json
import os
import runpy
import tempfile
import unittest
from pathlib import Path
from typing import Any

from paths import root

try:
    import matplotlib.font_manager  # noqa: F401 (its list of fonts is made here, not in a kernel)
    import nbclient
    import nbformat
    from ipykernel.kernelspec import write_kernel_spec

    lacking = None
except ImportError as error:
    lacking = f"{error.name} is not installed"

folder = root / "python" / "notebooks"
notebooks = sorted(folder.glob("*.ipynb"))


async def executed(notebook: Path, place: Path, turns: asyncio.Semaphore) -> Any:
    """The notebook with outputs, run with ``place`` as the current folder."""
    client = nbclient.NotebookClient(
        nbformat.read(notebook, as_version=4),
        timeout=120,
        kernel_name="trainyard",
        resources={"metadata": {"path": str(place)}},
    )
    manager = client.create_kernel_manager()
    manager.transport = "ipc"
    manager.ip = str(place / "kernel")
    async with turns:
        return await client.async_execute()


async def all_executed(places: list[Path]) -> list[Any]:
    turns = asyncio.Semaphore(2)
    runs = (executed(notebook, place, turns) for notebook, place in zip(notebooks, places))
    return await asyncio.gather(*runs)


class Run(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        if lacking:
            print(lacking)
            raise unittest.SkipTest(lacking)

    def test_all_run_and_show_figures(self) -> None:
        self.assertEqual(len(notebooks), 6)
        # Not the user's own kernels and settings.
        with tempfile.TemporaryDirectory() as made:
            write_kernel_spec(os.path.join(made, "kernels", "trainyard"))
            os.environ["JUPYTER_PATH"] = os.environ["JUPYTER_RUNTIME_DIR"] = made
            os.environ["IPYTHONDIR"] = os.path.join(made, "ipython")
            os.environ["TMPDIR"] = made
            os.environ.pop("MPLBACKEND", None)
            places = [Path(made, notebook.stem) for notebook in notebooks]
            for place in places:
                place.mkdir()
            done = asyncio.run(all_executed(places))
            for place in places:
                self.assertEqual([file.name for file in place.iterdir() if file.suffix], [])
        for notebook, document in zip(notebooks, done):
            with self.subTest(notebook=notebook.name):
                outputs = [out for cell in document.cells for out in cell.get("outputs", [])]
                figures = [out for out in outputs if "image/png" in out.get("data", {})]
                self.assertGreaterEqual(len(figures), 3)
                said = "".join(out.text for out in outputs if out.get("name") == "stdout")
                self.assertNotRegex(said, r"\bnan\b")
                self.assertEqual([out for out in outputs if out.get("name") == "stderr"], [])

    def test_all_are_notebooks(self) -> None:
        for notebook in notebooks:
            nbformat.validate(nbformat.read(notebook, as_version=4))


class AreStoredInOneForm(unittest.TestCase):
    def setUp(self) -> None:
        self.tidy = runpy.run_path(str(folder / "tidy.py"))["tidy"]

    def test_all_do(self) -> None:
        self.assertTrue(notebooks)
        for notebook in notebooks:
            with self.subTest(notebook=notebook.name):
                text = notebook.read_text(encoding="utf-8")
                self.assertEqual(self.tidy(text), text, "python/notebooks/tidy.py mends it")

    def test_what_a_run_leaves_goes(self) -> None:
        stored = notebooks[0].read_text(encoding="utf-8")
        document = json.loads(stored)
        for cell in document["cells"]:
            cell["metadata"]["collapsed"] = True
            if cell["cell_type"] == "code":
                cell["execution_count"] = 3
                cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": ["said"]}]
        document["metadata"]["widgets"] = {}
        self.assertEqual(self.tidy(json.dumps(document)), stored)

    def test_cells_alike_get_ids_of_their_own(self) -> None:
        cell = {"cell_type": "markdown", "metadata": {}, "source": ["again"]}
        made = self.tidy(json.dumps({"cells": [cell, cell, cell]}))
        ids = [made_cell["id"] for made_cell in json.loads(made)["cells"]]
        self.assertEqual(len(set(ids)), 3)
        self.assertEqual(self.tidy(made), made)


if __name__ == "__main__":
    unittest.main()
