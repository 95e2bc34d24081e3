#!/usr/bin/env python3
"""What a point of a sweep costs: CPU time of one thread in whole sweeps of shipped scenarios, dense and
mixtures of experts, on 8 to 16,384 GPUs.

    cmake --build --preset release --target trainyard
    tests/bench/sweeps.py build/release/bin/trainyard

Medians of five runs, start of the program included; `each` is per point that is possible. Run in the root
of the source tree on an idle machine.
"""
import json
import resource
import statistics
import subprocess
import sys

SWEEPS = [
    ("llama3-70b-h100-64", ["strategy.tp=1,2,4,8", "strategy.pp=1,2,4,8", "training.micro_batch=1,2,4",
                            "strategy.zero=0,1,2,3", "strategy.cp=1,2"]),
    ("llama3-8b-h100-8", ["training.micro_batch=1,2,4", "strategy.zero=1,2,3",
                          "training.recompute=none,selective,full", "strategy.tp=1,2,4"]),
    ("llama3-8b-hsdp-h100-64", ["training.micro_batch=1,2,4", "strategy.tp=1,2",
                                "training.recompute=none,full"]),
    ("mixtral-8x7b-ep8-h100-64", ["strategy.pp=1,2,4", "strategy.tp=1,2,4", "training.micro_batch=1,2,4",
                                  "strategy.zero=1,2,3"]),
    ("llama3-405b-h100-16k", ["strategy.tp=8,16", "strategy.pp=8,16", "training.micro_batch=1,2",
                              "training.recompute=none,selective,full"]),
]
RUNS = 5


def cpu_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print("| sweep | points | possible | CPU s | ms each |")
    print("|---|---|---|---|---|")
    for name, grid in SWEEPS:
        command = [sys.argv[1], "sweep", f"scenarios/{name}.json", "--threads", "1", "--json"]
        for axis in grid:
            command += ["--grid", axis]
        times = []
        for _ in range(RUNS):
            before = cpu_seconds()
            out = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
            times.append(cpu_seconds() - before)
        result = json.loads(out.stdout)
        time = statistics.median(times)
        print(f"| {name} | {len(result['points'])} | {result['feasible']} | {time:.2f} | "
              f"{1e3 * time / max(result['feasible'], 1):.1f} |", flush=True)


if __name__ == "__main__":
    main()
