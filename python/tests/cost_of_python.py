"""What Python costs over the program: 1,000 strategies, evaluated here and swept there.

    cost_of_python.py PROGRAM [ROUNDS]

Both simulate the same points, in turns; the least time of each counts. Prints the times; fails only
where the answers differ, or Python takes half as long again.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time

import trainyard
from paths import root

path = str(root / "scenarios/llama2-7b-tp2-pp2-dp2.json")
axes = {
    "training.global_batch": [64, 128, 192, 256, 320],
    "training.sequence_length": [512, 1024, 1536, 2048, 4096],
    "training.precision": ["bf16", "fp16", "fp32", "tf32", "fp8"],
    "strategy.zero": [0, 1],
    "training.recompute": ["none", "full"],
    "strategy.overlap.dp": [True, False],
}


def points() -> list[dict[str, object]]:
    out: list[dict[str, object]] = [{}]
    for field, values in axes.items():
        out = [{**point, field: value} for point in out for value in values]
    return out


def main() -> int:
    program = sys.argv[1]
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    fields = points()
    began = time.perf_counter()
    base = trainyard.Scenario.load(path)
    asked = [base.replace(point) for point in fields]
    made = time.perf_counter() - began
    words = [program, "sweep", path, "--json"]
    for field, values in axes.items():
        words += ["--grid", f"{field}={','.join(v if isinstance(v, str) else json.dumps(v) for v in values)}"]
    mine: list[float] = []
    its: list[float] = []
    for _ in range(rounds):
        trainyard._core.after_fork()  # nothing remembered, as in a program that starts
        began = time.perf_counter()
        found = trainyard.evaluate(asked)
        mine.append(time.perf_counter() - began)
        began = time.perf_counter()
        done = subprocess.run(words, check=True, capture_output=True, text=True)
        its.append(time.perf_counter() - began)
    told = json.loads(done.stdout)["points"]
    assert [e["step_time_s"] if e.feasible else None for e in found] == [
        point.get("step_time_s") for point in told
    ]
    ratio = min(mine) / min(its)
    print(
        f"{len(fields)} strategies, {sum(e.feasible for e in found)} feasible: "
        f"evaluate {min(mine):.3f} s, the program {min(its):.3f} s, x {ratio:.3f}; "
        f"making the scenarios {made:.3f} s"
    )
    return 0 if ratio < 1.5 else 1


if __name__ == "__main__":
    sys.exit(main())
