"""What docstrings and the README show is what happens."""

from __future__ import annotations

import doctest
import importlib
import inspect
import os
import pkgutil
import re
import unittest

import trainyard
from paths import root

options = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL


def modules() -> list[str]:
    found = [m.name for m in pkgutil.iter_modules(trainyard.__path__) if m.name != "_core"]
    return ["trainyard", *(f"trainyard.{name}" for name in found)]


class ShowsWhatHappens(unittest.TestCase):
    def test_examples_of_docstrings(self) -> None:
        tried = 0
        for name in modules():
            result = doctest.testmod(importlib.import_module(name), optionflags=options)
            self.assertEqual(result.failed, 0, name)
            tried += result.attempted
        self.assertGreater(tried, 10)

    def test_examples_of_the_projects_readme(self) -> None:
        os.chdir(root)
        result = doctest.testfile(
            str(root / "README.md"), module_relative=False, optionflags=options
        )
        self.assertEqual(result.failed, 0)
        self.assertGreater(result.attempted, 5)

    def test_ten_lines_of_the_readme_run(self) -> None:
        os.chdir(root)
        text = (root / "python" / "README.md").read_text()
        found = re.search(r"## Ten lines\n\n((?:    .*\n|\n)+)", text)
        assert found is not None
        code = "\n".join(line[4:] for line in found.group(1).splitlines())
        code = code.replace("trainyard.plan(s)", "trainyard.plan(s, grid={'strategy.pp': [1]})")
        names: dict[str, object] = {}
        exec(compile(code.replace("print(r)", "repr(r)"), "README.md", "exec"), names)
        self.assertIsInstance(names["best"], trainyard.Scenario)


class IsDocumented(unittest.TestCase):
    def test_everything_public_says_what_it_is(self) -> None:
        for name in trainyard.__all__:
            thing = getattr(trainyard, name)
            self.assertTrue(inspect.getdoc(thing), name)
            if not inspect.isclass(thing):
                continue
            for member, value in vars(thing).items():
                if not member.startswith("_") and (callable(value) or isinstance(value, property)):
                    self.assertTrue(inspect.getdoc(value), f"{name}.{member}")

    def test_the_stub_is_of_the_module(self) -> None:
        stub = (root / "python/trainyard/_core.pyi").read_text()
        said = set(re.findall(r"^(?:def|class) (\w+)", stub, re.M))
        there = {name for name in dir(trainyard._core) if not name.startswith("_")}
        self.assertEqual(said, there)
        for kind in re.findall(r"^class (\w+):\n((?:    .*\n)+)", stub, re.M):
            members = set(re.findall(r"def (\w+)", kind[1])) - {"__len__"}
            made = {n for n in dir(getattr(trainyard._core, kind[0])) if not n.startswith("_")}
            self.assertEqual(members, made, kind[0])


class BeginsQuickly(unittest.TestCase):
    def test_nothing_large_is_imported_before_it_is_needed(self) -> None:
        import subprocess
        import sys

        code = (
            "import sys, trainyard\n"
            "trainyard.simulate(trainyard.data_dir() / 'scenarios/llama3-8b-h100-8.json')\n"
            "print([m for m in ('numpy', 'pandas', 'tqdm', 'matplotlib') if m in sys.modules])"
        )
        done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
        self.assertEqual(done.stdout, "[]\n")


if __name__ == "__main__":
    unittest.main()
