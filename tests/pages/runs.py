"""Runs of the program on shipped scenarios, and how pages print figures."""

import json
import subprocess
import sys
from functools import lru_cache

PROGRAM = ""  # set once, before the first run


def run(*arguments):
    """What a command prints as JSON; 1 is the exit code of one that ran and says no."""
    command = [PROGRAM, *arguments, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(command)}:\n{done.stderr}")
    return json.loads(done.stdout)


@lru_cache(maxsize=None)
def simulate(scenario, *changes):
    return run("simulate", scenario, *(part for change in changes for part in ("--set", change)))


def step(scenario, *changes):
    return simulate(scenario, *changes)["step_time_s"]


def per_cent(share):
    return f"{100 * share:.0f} %"


def gigabytes(size):
    return f"{size / 1e9:.1f} GB"


def gigabytes_per_s(rate):
    return f"{rate / 1e9:.0f} GB/s" if rate >= 100e9 else f"{rate / 1e9:.3g} GB/s"
