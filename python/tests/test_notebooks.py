"""The notebooks run, from any folder, and are stored in one form."""

from __future__ import annotations

import os
import runpy
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from paths import root

try:
    import matplotlib.font_manager  # noqa: F401 (its list of fonts is made here, not in a kernel)
    import nbclient
    import nbformat
    from ipykernel.kernelspec import write_kernel_spec
except ImportError as lacking:
    raise unittest.SkipTest(f"{lacking.name} is not installed") from None

folder = root / "python" / "notebooks"
notebooks = sorted(folder.glob("*.ipynb"))


def executed(notebook: Path, place: Path) -> Any:
    """The notebook with outputs, run with ``place`` as the current folder."""
    document = nbformat.read(notebook, as_version=4)
    client = nbclient.NotebookClient(
        document, timeout=120, kernel_name="trainyard", resources={"metadata": {"path": str(place)}}
    )
    manager = client.create_kernel_manager()
    manager.transport = "ipc"
    manager.ip = str(place / "kernel")
    return client.execute()


class Notebooks(unittest.TestCase):
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
            with ThreadPoolExecutor(2) as pool:
                done = list(pool.map(executed, notebooks, places))
            for document, place in zip(done, places):
                self.assertEqual([file.name for file in place.iterdir() if file.suffix], [])
        for notebook, document in zip(notebooks, done):
            with self.subTest(notebook=notebook.name):
                outputs = [out for cell in document.cells for out in cell.get("outputs", [])]
                figures = [out for out in outputs if "image/png" in out.get("data", {})]
                self.assertGreaterEqual(len(figures), 3)
                said = "".join(out.text for out in outputs if out.output_type == "stream")
                self.assertNotIn("nan", said)
                warned = [out for out in outputs if out.get("name") == "stderr"]
                self.assertEqual(warned, [])

    def test_stored_form(self) -> None:
        tidy = runpy.run_path(str(folder / "tidy.py"))["tidy"]
        for notebook in notebooks:
            with self.subTest(notebook=notebook.name):
                text = notebook.read_text(encoding="utf-8")
                self.assertEqual(tidy(text), text, "python/notebooks/tidy.py mends it")
                nbformat.validate(nbformat.reads(text, as_version=4))
                self.assertNotIn("/home", text)

    def test_the_form_drops_what_a_run_leaves(self) -> None:
        tidy = runpy.run_path(str(folder / "tidy.py"))["tidy"]
        document = nbformat.read(notebooks[0], as_version=4)
        stored = tidy(nbformat.writes(document))
        for cell in document.cells:
            cell.metadata["collapsed"] = True
            if cell.cell_type == "code":
                cell.execution_count = 3
                cell.outputs = [nbformat.v4.new_output("stream", text="said")]
        document.metadata["widgets"] = {}
        self.assertEqual(tidy(nbformat.writes(document)), stored)


if __name__ == "__main__":
    unittest.main()
