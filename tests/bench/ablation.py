#!/usr/bin/env python3
"""What each mechanism of the engines saves in time, and its lines of code, as a table.

    cmake --build --preset release --target bench_ablation
    tests/bench/ablation.py build/release/tests/bench/bench_ablation

Each figure says how many times longer a job takes without the mechanism. Lines are neither blank nor
comment. Run in the root of the source tree on an idle machine (some minutes).
"""
import subprocess
import sys
from pathlib import Path

# What would go with a mechanism. One that is a part of another is counted there too.
FILES = {
    "ahead": ["sim/engine/ahead/*"],
    "passages": ["sim/engine/ahead/passages.*", "sim/engine/ahead/runner_passages.cpp"],
    "seams": ["sim/engine/ahead/seams.*"],
    "replay": ["sim/engine/replay/*"],
    "stretches": ["sim/engine/replay/stretch*"],
    "slices": ["sim/engine/replay/slices.*"],
    "vector code": ["sim/engine/replay/kernels_avx*.cpp"],
    "ripple": ["sim/engine/flow/ripple_sharing.*"],
    "sweeps": ["sim/engine/steps/ring_sweep.*", "sim/engine/steps/stepping_sweeps.cpp"],
    "late steps": [],
}


def lines(patterns):
    count = 0
    for pattern in patterns:
        for path in sorted(Path(".").glob(pattern)):
            if path.suffix in (".cpp", ".h"):
                text = path.read_text().splitlines()
                count += sum(1 for line in text if line.strip() and not line.strip().startswith("//"))
    return count


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    jobs = {}
    with subprocess.Popen([sys.argv[1]], stdout=subprocess.PIPE, text=True) as bench:
        for line in bench.stdout:
            name, ranks, lanes, ops, engine, without, time = line.rstrip("\n").split(";")
            job = jobs.setdefault((name, int(ranks)), {})
            job[without] = float(time) if time else None
            if not without:
                job["about"] = f"{lanes} | {float(ops):.2f} | {engine}"
    if bench.returncode != 0:
        sys.exit(f"{sys.argv[1]} ended with {bench.returncode}")
    names = list(FILES)
    print("| job | ranks | lanes | million ops | engine | ms | " + " | ".join(names) + " |")
    print("|" + "---|" * (6 + len(names)))
    for (name, ranks), job in jobs.items():
        cells = []
        for mechanism in names:
            time = job[mechanism]
            cells.append("> 30" if time is None else f"{time / job['']:.2f}")
        print(f"| {name} | {ranks:,} | {job['about']} | {job['']:.1f} | " + " | ".join(cells) + " |")
    print("| lines | | | | | | " + " | ".join(str(lines(FILES[name])) for name in names) + " |")


main()
