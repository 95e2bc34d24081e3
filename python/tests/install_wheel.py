"""Wheels are made from the source tree and run where there is no compiler and no library of it.

    install_wheel.py SCRATCH [PYTHON...]

For each Python (else this one): `make-wheels`, a fresh environment with the wheel and nothing else,
an empty PATH, a folder elsewhere; there the main job gives what this build gives.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import trainyard
from paths import main as main_scenario
from paths import root

code = """
import sys, time
began = time.perf_counter()
import trainyard
imported = time.perf_counter() - began
assert str(trainyard.data_dir()).startswith(sys.prefix), trainyard.data_dir()
result = trainyard.simulate(sys.argv[1])
assert trainyard.simulate(trainyard.data_dir() / "scenarios/llama3-8b-h100-8.json").fits
print(result.step_time.hex(), imported)
"""


def clean() -> dict[str, str]:
    """An environment in which nothing of this build is found."""
    gone = ("PYTHON", "TRAINYARD", "LD_", "CMAKE", "CCACHE")
    return {key: value for key, value in os.environ.items() if not key.startswith(gone)}


def main() -> int:
    scratch = Path(sys.argv[1]) / "install_wheel"
    pythons = sys.argv[2:] or [sys.executable]
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    expected = trainyard.simulate(main_scenario).step_time
    began = time.monotonic()
    subprocess.run([root / "python/make-wheels", *pythons], check=True, env={**clean(), **_launchers()})
    print(f"wheels made in {time.monotonic() - began:.0f} s", flush=True)
    for python in pythons:
        there = scratch / f"environment-{python.replace('/', '-')}"
        subprocess.run([python, "-m", "venv", there], check=True, env=clean())
        subprocess.run(
            [there / "bin/pip", "install", "--quiet", "--no-index", "--find-links",
             root / "build/wheels", "trainyard"],
            check=True, env=clean(),
        )  # fmt: skip
        done = subprocess.run(
            [there / "bin/python", "-c", code, main_scenario],
            check=True, capture_output=True, text=True, cwd=scratch, env={**clean(), "PATH": ""},
        )  # fmt: skip
        step_time, imported = done.stdout.split()
        assert float.fromhex(step_time) == expected, done.stdout
        print(f"{python}: the wheel gives the same, imported in {float(imported) * 1e3:.0f} ms")
    shutil.rmtree(scratch)
    return 0


def _launchers() -> dict[str, str]:
    names = ("CMAKE_C_COMPILER_LAUNCHER", "CMAKE_CXX_COMPILER_LAUNCHER")
    ccache = {key: value for key, value in os.environ.items() if key.startswith("CCACHE")}
    return {**ccache, **{name: os.environ[name] for name in names if name in os.environ}}


if __name__ == "__main__":
    sys.exit(main())
