"""Nothing that Python hands over ends the interpreter: whatever is wrong raises."""

from __future__ import annotations

import gc
import os
import random
import subprocess
import sys
import tempfile
import threading
import unittest
import warnings
from pathlib import Path
from typing import Any, Callable

import trainyard
from paths import main, scenarios
from paths import small as shipped
from trainyard import _core


# What is written by chance is written there.
apart = tempfile.TemporaryDirectory()
small = Path(apart.name) / "small.json"
trainyard.Scenario.load(shipped).save(small)
os.chdir(apart.name)


class Odd:
    """Raises wherever it is asked."""

    def __fspath__(self) -> str:
        raise ZeroDivisionError

    def __index__(self) -> int:
        raise ZeroDivisionError

    def __iter__(self) -> Any:
        raise ZeroDivisionError

    def __bool__(self) -> bool:
        raise ZeroDivisionError

    def __len__(self) -> int:
        raise ZeroDivisionError


def endless() -> Any:
    ring: list[Any] = []
    ring.append(ring)
    return ring


def odd_values() -> list[Any]:
    closed = open(os.devnull)
    closed.close()
    deep: Any = 1
    for _ in range(2000):
        deep = [deep]
    return [
        None, True, 0, 1, -1, 2**31, 2**63, 2**64, -(2**63) - 1, 10**400, 0.0, -0.0, 1e308, 1e-320,
        float("nan"), float("inf"), -float("inf"), 1j, "", " ", "x", "a\0b", "\ud800", "\U0001f600",
        "NaN", "Infinity", "null", "{", "[]", "1e999", "x" * 100_000, b"", b"\xff", bytearray(3),
        [], [None], [[]], (), (1, 2), {}, {1: 2}, {"a": float("nan")}, {None: None}, set(), object(),
        type, len, lambda: 0, closed, Odd(), endless(), deep, Exception(), range(3), ..., memoryview(b"x"),
        small, str(small), trainyard.Scenario.load(small), trainyard.Scenario.load(small)._core,
        trainyard.Scenario.load(small).strategy, [trainyard.Scenario.load(small)],
    ]  # fmt: skip


acceptable = (
    AttributeError, KeyError, LookupError, OSError, OverflowError, RecursionError, TypeError,
    UnicodeError, ValueError, ZeroDivisionError, trainyard.TrainyardError,
)  # fmt: skip


class TakesNothingWrong(unittest.TestCase):
    def tries(self, call: Callable[..., Any], *arguments: Any, **words: Any) -> None:
        try:
            call(*arguments, **words)
        except acceptable:
            pass

    def test_values_of_fields(self) -> None:
        s = trainyard.Scenario.load(main)
        fields = ["strategy.tp", "training.precision", "software.timeout", "environment.X", "model",
                  "perturbations", "run.seed", "strategy.overlap.dp", "strategy", "strategy.stage_layers"]  # fmt: skip
        for value in odd_values():
            for field in fields:
                self.tries(s.copy().set, field, value)
            self.tries(s.copy().set, value, 1)
            self.tries(s.__getitem__, value)
            self.tries(s.strategy.__getitem__, value)
            self.tries(trainyard.Scenario, value)
            self.tries(trainyard.Scenario.load, value)
            self.tries(trainyard.Scenario.from_dict, value)
            self.tries(trainyard.Scenario.from_json, value)
            self.tries(s.update, value)
            self.tries(s.__eq__, value)
        for number in (float("nan"), float("inf"), 10**400):
            with self.assertRaises(trainyard.InputError):
                s.set("strategy.tp", number)

    def test_arguments_of_the_public_calls(self) -> None:
        calls: list[tuple[Callable[..., Any], list[Any], list[str]]] = [
            (trainyard.simulate, [small], ["advice", "samples", "progress"]),
            (trainyard.memory, [small], ["steps", "lengths", "max_split_size", "progress"]),
            (trainyard.compare, [[small, small]], ["progress"]),
            (trainyard.evaluate, [[small]], ["threads", "unfit", "progress"]),
            (trainyard.sweep, [small, {"training.micro_batch": [1]}],
             ["best_by", "headroom", "top", "threads"]),
            (trainyard.plan, [None], ["model", "on", "tokens", "price", "grid", "headroom", "scaling"]),
            (trainyard.validate, ["none.json"], ["only"]),
            (trainyard.fit, ["none.log"], ["kind", "name", "scenario", "device"]),
            (trainyard.import_job, [str(small)], ["kind", "model", "nodes", "define", "changes"]),
            (trainyard.first_scenario, ["no-model"], ["gpu", "gpus", "nodes", "topology"]),
            (trainyard.import_trace, ["none.json"], ["scale_to", "changes", "against"]),
            (trainyard.model, ["none"], ["sequence_length"]),
            (trainyard.topology, ["none"], []),
            (trainyard.profile, ["none"], []),
            (trainyard.schema, ["none"], []),
            (trainyard.check, ["none"], []),
        ]  # fmt: skip
        for call, usual, words in calls:
            for value in odd_values():
                for place in range(len(usual)):
                    self.tries(call, *usual[:place], value, *usual[place + 1 :])
                for word in words:
                    self.tries(call, *usual, **{word: value})

    def test_arguments_of_the_compiled_part(self) -> None:
        rng = random.Random(1)
        functions = [getattr(_core, name) for name in dir(_core) if not name.startswith("__")]
        kept = {"write_file", "set_data_dir", "after_fork", "end_calls", "plan_layouts"}
        for function in functions:
            name = getattr(function, "__name__", "")
            if name in kept or not callable(function):
                continue
            for count in range(0, 10):
                for _ in range(12):
                    self.tries(function, *rng.choices(odd_values(), k=count))
        warnings.simplefilter("ignore", RuntimeWarning)  # of what was never initialised
        for kind in (_core.Scenario, _core.Simulation, _core.Timeline, _core.Answer, _core.Recorded):
            self.tries(kind)
            made = kind.__new__(kind)  # never initialised
            for name in dir(made):
                if not name.startswith("__"):
                    self.tries(lambda: getattr(made, name)())

    def test_ranks_of_timelines(self) -> None:
        result = trainyard.simulate(small, advice=0, scaling=False)
        for value in odd_values():
            self.tries(result.timeline, value)
            if not isinstance(value, (str, os.PathLike)) or isinstance(value, Odd):
                self.tries(result.write_trace, value)
            self.tries(result.report, value)
            self.tries(result.to_pandas, value)


    def test_what_only_looks_like_an_answer_raises(self) -> None:
        s = trainyard.Scenario.load(small)
        wrong: list[Callable[[], Any]] = [
            lambda: trainyard.simulate(s, scaling="no"),  # type: ignore[arg-type]
            lambda: trainyard.simulate(s, what_if="false"),  # type: ignore[arg-type]
            lambda: trainyard.memory(s, lengths=[]),
            lambda: trainyard.sweep(s, {"strategy.zero": b"12"}),
            lambda: trainyard.plan(s, headroom="0.1"),  # type: ignore[arg-type]
            lambda: trainyard.plan(s, sequence_length=0.0),  # type: ignore[arg-type]
            lambda: trainyard.plan(s, front=object()),  # type: ignore[arg-type]
            lambda: trainyard.plan(s, longest_context=True, within="100d"),
            lambda: trainyard.plan(model="gpt2-xl", on="h100", tokens="1B", within="60d", top=3),
            lambda: trainyard.plan(model="gpt2-xl", on="h100", tokens="1B", within="60d", front=True),
            lambda: trainyard.Scenario.from_hf("gpt2-xl", topology="h100-1x8", gpus=4),
            lambda: s.set("description", "x\ud800y"),
            lambda: trainyard.import_job(small, changes={"description=a": "b"}),
        ]
        for number, call in enumerate(wrong):
            with self.assertRaises((TypeError, ValueError), msg=str(number)):
                call()
        found = trainyard.sweep(s, {"description": ["null", "true"]})
        self.assertEqual([row["description"] for row in found.points], ["null", "true"])


class SharesWithThreads(unittest.TestCase):
    def test_no_change_of_two_threads_is_lost(self) -> None:
        s = trainyard.Scenario.load(small)
        count = 300

        def variables() -> None:
            for k in range(count):
                s.set(f"environment.A{k}", "1")

        def seeds() -> None:
            for k in range(count):
                s.set("run.seed", k)

        before = sys.getswitchinterval()
        sys.setswitchinterval(1e-6)
        try:
            threads = [threading.Thread(target=work) for work in (variables, seeds)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        finally:
            sys.setswitchinterval(before)
        self.assertEqual(len(s.to_dict()["environment"]), count)
        self.assertEqual(s.run.seed, count - 1)

    def test_threads_simulate_and_change_one_scenario(self) -> None:
        s = trainyard.Scenario.load(small)
        usual = trainyard.simulate(s, advice=0, scaling=False).step_time
        failures: list[BaseException] = []

        def work(number: int) -> None:
            try:
                for turn in range(20):
                    s.run.seed = number * 100 + turn
                    result = trainyard.simulate(s, advice=0, scaling=False)
                    assert result.step_time == usual
                    result.timeline()
            except BaseException as error:  # noqa: BLE001
                failures.append(error)

        workers = [threading.Thread(target=work, args=(i,)) for i in range(6)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        self.assertEqual(failures, [])

    def test_columns_outlive_what_they_are_of(self) -> None:
        try:
            import numpy
        except ImportError:
            self.skipTest("NumPy is not installed")
        columns = []
        for _ in range(30):
            columns.append(trainyard.simulate(small, advice=0, scaling=False).timeline().end_ps)
            gc.collect()
        for column in columns:
            self.assertTrue(numpy.array_equal(column, columns[0]))
        with self.assertRaises(ValueError):
            columns[0][0] = 1


class SurvivesForks(unittest.TestCase):
    def run_apart(self, code: str) -> str:
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", code],
            check=False, capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_a_child_forked_by_progress_is_told_that_nobody_works(self) -> None:
        done = self.run_apart(
            "import os, trainyard\n"
            f"s = trainyard.Scenario.load({str(scenarios / 'llama3-70b-h100-64.json')!r})\n"
            "children = []\n"
            "def progress(*news):\n"
            "    if not children:\n"
            "        children.append(os.fork())\n"
            "grid = {'training.sequence_length': '1024..1408+64', 'run.fold': [False]}\n"
            "try:\n"
            "    trainyard.sweep(s, grid, progress=progress)\n"
            "except RuntimeError:\n"
            "    os._exit(9 if children == [0] else 1)\n"
            "print(os.waitstatus_to_exitcode(os.waitpid(children[0], 0)[1]))\n"
        )
        self.assertEqual(done, "9\n")

    def test_a_child_simulates_while_the_parent_does(self) -> None:
        out = self.run_apart(f"""
import os, threading, trainyard
s = trainyard.Scenario.load({str(scenarios / "gpt2-xl-fsdp-4.json")!r})
before = trainyard.simulate(s, advice=0, scaling=False)
over = False
def work():
    while not over:
        trainyard.evaluate([s.replace({{"run.seed": i}}) for i in range(20)])
workers = [threading.Thread(target=work) for _ in range(2)]
for worker in workers: worker.start()
codes = []
for _ in range(8):
    child = os.fork()
    if child == 0:
        after = trainyard.simulate(s, advice=0, scaling=False)
        same = after.step_time == before.step_time and len(before.timeline()) > 0
        os._exit(0 if same else 1)
    codes.append(os.waitpid(child, 0)[1])
over = True
for worker in workers: worker.join()
print(codes)
""")
        self.assertEqual(out, f"{[0] * 8}\n")

    def test_processes_of_multiprocessing_evaluate(self) -> None:
        out = self.run_apart(f"""
import multiprocessing, trainyard
s = trainyard.Scenario.load({str(small)!r})
def step_time(scenario): return trainyard.simulate(scenario, advice=0, scaling=False).step_time
trainyard.simulate(s)
with multiprocessing.get_context("fork").Pool(2) as pool:
    print(len(set(pool.map(step_time, [s.replace({{"run.seed": i}}) for i in range(8)]))))
""")
        self.assertEqual(out, "1\n")

    def test_the_interpreter_ends_while_threads_work(self) -> None:
        self.run_apart(f"""
import threading, time, trainyard
s = trainyard.Scenario.load({str(small)!r})
def work():
    while True: trainyard.simulate(s, advice=0, scaling=False)
for _ in range(3): threading.Thread(target=work, daemon=True).start()
time.sleep(0.2)
""")


if __name__ == "__main__":
    unittest.main()
