#!/usr/bin/env python3
"""Errors of runs that no fit has seen: by release, and without those that differ from a fitted run in nothing but the release.

    tests/validation/later_releases.py --program build/release/bin/trainyard
"""

import argparse
import json
import os
import subprocess
import sys

from profile_files import ROOT
from record_groups import of_release, run_as_configured

CLASSES = (("dense", "dense-decoder"), ("mixtures", "moe-decoder"), ("hybrids", "hybrid"))


def read(name):
    path = os.path.join(ROOT, "tests/validation/records", name)
    with open(path) as file:
        return path, json.load(file)


def cell(rows):
    errors = [100 * r["error"] for r in rows]
    return f"{sum(map(abs, errors)) / len(errors):.1f} ({sum(errors) / len(errors):+.1f}), {len(errors)}" if errors else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", required=True, help="the built trainyard")
    options = parser.parse_args()
    path, records = read("training_dev_2026.json")
    _, fitted = read("training_dev.json")
    seen = {run_as_configured(r) for r in fitted}
    done = subprocess.run([options.program, "validate", path, "--json"], check=False, capture_output=True, text=True)
    if not done.stdout:
        sys.exit(done.stderr)
    verdicts = {r["id"]: r for r in json.loads(done.stdout)["records"] if r["skipped"] is None}
    scored = [r for r in records if r["id"] in verdicts]
    groups = {"all": scored, "without twins in training_dev": [r for r in scored if run_as_configured(r) not in seen]}
    for record in scored:
        groups.setdefault(of_release(record), []).append(record)
    print("| runs | " + " | ".join(name for name, _ in CLASSES) + " |\n" + "|---" * (len(CLASSES) + 1) + "|")
    for name, rows in groups.items():
        found = [verdicts[r["id"]] for r in rows]
        print(f"| {name} | " + " | ".join(cell([v for v in found if v["class"].startswith(kind)]) for _, kind in CLASSES) + " |")


if __name__ == "__main__":
    main()
