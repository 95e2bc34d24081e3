#!/usr/bin/env python3
"""Checks that the fast engines are faster than what they replace, by ratios of CPU times in one run.

    cmake --build --preset release --target bench_replay bench_network
    tests/bench/check_ratios.py build/release/tests/bench

Absolute times depend on the machine and on what else it does; both sides of a ratio feel that alike. Exit
code 1 when a ratio is below its bound.
"""
import json
import statistics
import subprocess
import sys
from pathlib import Path

# Program, slow side, fast side, how many times faster at least. About half of what is measured.
RATIOS = [
    ("bench_replay", "grid_by_reference/4096", "grid/4096", 40),
    ("bench_network", "swap_flow<FullSharing>/1024", "swap_flow<RippleSharing>/1024", 25),
    ("bench_network", "swap_flow<FullSharing>/8192", "swap_flow<RippleSharing>/8192", 800),
]
REPETITIONS = 3


def cpu_times(program, names):
    """CPU time of each benchmark in seconds, the median of all repetitions."""
    pattern = "^(" + "|".join(names) + ")(/iterations:[0-9]+)?$"
    run = subprocess.run(
        [program, f"--benchmark_filter={pattern}", "--benchmark_format=json",
         f"--benchmark_repetitions={REPETITIONS}"],
        check=True, capture_output=True, text=True)
    unit = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
    times = {}
    for entry in json.loads(run.stdout)["benchmarks"]:
        if entry["run_type"] == "iteration":
            name = entry["run_name"].split("/iterations:")[0]
            times.setdefault(name, []).append(entry["cpu_time"] * unit[entry["time_unit"]])
    return {name: statistics.median(values) for name, values in times.items()}


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    times = {}
    for program in sorted({ratio[0] for ratio in RATIOS}):
        names = sorted({name for p, slow, fast, _ in RATIOS if p == program for name in (slow, fast)})
        times[program] = cpu_times(folder / program, names)
    failed = False
    for program, slow, fast, bound in RATIOS:
        missing = [name for name in (slow, fast) if name not in times[program]]
        if missing:
            sys.exit(f"{program} has no benchmark {missing[0]}")
        ratio = times[program][slow] / times[program][fast]
        failed |= ratio < bound
        print(f"{'FAIL' if ratio < bound else 'ok  '} {slow} / {fast}: {ratio:.1f} (at least {bound})")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
