#!/usr/bin/env python3
"""How much sooner a plan is done with two threads, two ranks, and in shards.

    cmake --build --preset release --target trainyard
    tests/bench/plan_ratios.py build/release/bin/trainyard [REPETITIONS]

Run in the root of the source tree, on a machine that does nothing else and has two cores. One plan, medians of
wall time; ranks (of Open MPI) have one thread each. The results of all are compared, byte for byte.
"""
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# GPT-3 175B on 4,096 A100.
PLAN = ["plan", "scenarios/llama3-70b-h100-64.json"]
for change in ["model=gpt-3-175b", "topology=dgx-a100-8x8", "topology.nodes=512", "training.sequence_length=2048",
               "training.global_batch=1536", "strategy.dp=null", "strategy.cp=1", "strategy.tp=8", "strategy.pp=16",
               "strategy.vpp=1", "strategy.schedule=null"]:
    PLAN += ["--set", change]
PLAN += ["--grid", "strategy.zero=0,1,2,3"]
SHARDS = 16
MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
       "OMPI_MCA_rmaps_base_oversubscribe": "1"}


def timed(command):
    """Wall seconds, CPU seconds and output of a run."""
    before = os.times()
    begin = time.monotonic()
    output = subprocess.run(command, check=True, capture_output=True, env={**os.environ, **MPI}).stdout
    wall = time.monotonic() - begin
    after = os.times()
    cpu = sum(after[2:4]) - sum(before[2:4])
    return wall, cpu, output


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    program = str(Path(sys.argv[1]).resolve())
    repetitions = int(sys.argv[2]) if len(sys.argv) == 3 else 3
    mpirun = shutil.which("mpirun")
    plan = [program, *PLAN]
    ways = {"1 thread": plan + ["--threads", "1"], "2 threads": plan + ["--threads", "2"]}
    if mpirun:
        for ranks in (1, 2):
            ways[f"{ranks} rank{'s' * (ranks > 1)}"] = [mpirun, "-n", str(ranks), *plan, "--threads", "1"]
    runs = {way: [] for way in ways}
    for _ in range(repetitions):
        for way, command in ways.items():
            runs[way].append(timed(command))
    reference = runs["1 thread"][0][2]
    print("| way | wall s | CPU s | times as fast |\n|---|---|---|---|")
    median = {way: statistics.median(run[0] for run in all_runs) for way, all_runs in runs.items()}
    for way, all_runs in runs.items():
        if any(run[2] != reference for run in all_runs):
            sys.exit(f"{way} tells something else")
        base = "1 rank" if "rank" in way else "1 thread"
        cpu = statistics.median(run[1] for run in all_runs)
        print(f"| {way} | {median[way]:.2f} | {cpu:.2f} | {median[base] / median[way]:.2f} |")
    with tempfile.TemporaryDirectory() as folder:
        parts = [f"{folder}/{i}.db" for i in range(1, SHARDS + 1)]
        walls = [timed(plan + ["--threads", "1", "--shard", f"{i}/{SHARDS}", "--store", part])[0]
                 for i, part in enumerate(parts, 1)]
        wall, _, output = timed(plan + ["--threads", "1", "--merge", *parts])
        if output != reference:
            sys.exit("merged shards tell something else")
    print(f"\n{SHARDS} shards: {statistics.median(walls):.2f} s (the longest {max(walls):.2f} s), "
          f"1/{median['1 thread'] / statistics.median(walls):.1f} of the whole (the longest "
          f"1/{median['1 thread'] / max(walls):.1f}); put together in {wall:.2f} s")


if __name__ == "__main__":
    main()
