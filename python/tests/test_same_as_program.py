"""Fifty random scenarios: Python and the program give the same text, bit for bit."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import unittest
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import trainyard
from paths import program, root, scenarios

bases = (
    "bert-large-ddp-8",
    "ddp-overlap",
    "gpt2-xl-fsdp-4",
    "llama2-7b-tp2-pp2-dp2",
    "llama2-7b-zero3-8",
    "llama3-8b-h100-8",
    "mixtral-8x7b-ep8-h100-64",
    "resnet50-loader",
    "two-nodes-roce",
)
values: dict[str, list[Any]] = {
    "strategy.tp": [1, 2, 4],
    "strategy.pp": [1, 2],
    "strategy.zero": [0, 1, 2, 3],
    "training.micro_batch": [1, 2, 4],
    "training.global_batch": [16, 32, 48, 64],
    "training.sequence_length": [512, 1024, 4096],
    "training.recompute": ["none", "selective", "full"],
    "training.precision": ["bf16", "fp16", "fp8", "bf17"],
    "strategy.overlap.dp": [True, False],
    "software.cuda_graphs": [True, False],
    "environment.NCCL_ALGO": ["Ring", "Tree"],
    "run.fold": [True, False],
    "run.seed": [1, 7],
    "run.fidelity": ["alpha-beta", "bundle", "flow"],
    "perturbations": [[{"device": 1, "slowdown": 1.2}]],
}


def timeless(text: str) -> str:
    """Without the time that the simulation took, and without how a change was said."""
    text = re.sub(r'"wall_ms": [0-9.e+-]+', '"wall_ms": 0', text)
    return re.sub(r'"file": "(--set )?[\w.]+ ?= ?.*"', '"file": "a change"', text)


def drawn(seed: int) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """A scenario's file, changes, and what is looked at beside the step."""
    rng = random.Random(seed)
    fields = rng.sample(sorted(values), rng.randint(0, 4))
    changes = {field: rng.choice(values[field]) for field in fields}
    beside = {"advice": rng.choice([None, 0, 2]), "scaling": rng.random() < 0.5}
    return f"scenarios/{rng.choice(bases)}.json", changes, beside


def of_program(path: str, changes: dict[str, Any], beside: dict[str, Any]) -> tuple[int, str, str]:
    words = [program, "simulate", path, "--json"]
    for field, value in changes.items():
        words += ["--set", f"{field}={json.dumps(value)}"]
    if beside["advice"] is not None:
        words += ["--advice", str(beside["advice"])]
    if not beside["scaling"]:
        words.append("--no-scaling")
    done = subprocess.run(words, check=False, capture_output=True, text=True, cwd=root)
    return done.returncode, done.stdout, done.stderr


class IsTheSameAsTheProgram(unittest.TestCase):
    def test_fifty_random_scenarios(self) -> None:
        os.chdir(root)
        seeds = range(50)
        with ThreadPoolExecutor(2) as pool:
            told = list(pool.map(lambda seed: of_program(*drawn(seed)), seeds))
        simulated = 0
        for seed, (code, out, err) in zip(seeds, told):
            path, changes, beside = drawn(seed)
            what = f"seed {seed}: {path} {changes} {beside}"
            try:
                s = trainyard.Scenario.load(path)
                s.update(changes)
                result = trainyard.simulate(s, **beside)
            except trainyard.InputError as error:
                self.assertEqual(code, 3, what)
                for problem in error.problems:
                    self.assertIn(problem.message, err, what)
                continue
            self.assertEqual(timeless(result.to_json()), timeless(out), what)
            self.assertEqual(code, 0 if result.fits else 1, what)
            simulated += 1
        self.assertGreater(simulated, 20)


if __name__ == "__main__":
    unittest.main()
