"""Studies: each finds what the command of its name prints."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

import trainyard
from paths import golden, main, program, root, scenarios, small

path = str(main.relative_to(root))


def printed(*arguments: str) -> str:
    return subprocess.run(
        [program, *arguments], check=False, capture_output=True, text=True, cwd=root
    ).stdout


def interrupted(code: str) -> tuple[int, str]:
    """The exit code, and what is printed after the line "begins", of a program that Ctrl-C reaches
    soon after it."""
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "begins\n"
    time.sleep(0.3)
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=30)
    return child.returncode, out


class Evaluates(unittest.TestCase):
    def test_many_as_it_does_one(self) -> None:
        base = trainyard.Scenario.load(main)
        asked = [
            base.replace({"strategy.zero": zero, "training.micro_batch": batch})
            for zero in (0, 2, 3)
            for batch in (1, 2)
        ]
        found = trainyard.evaluate(asked)
        alone = trainyard.evaluate(asked, threads=1)
        self.assertEqual([e.to_dict() for e in found], [e.to_dict() for e in alone])
        for entry, scenario in zip(found, asked):
            if not entry.feasible:
                self.assertTrue(math.isnan(entry.step_time))
                self.assertTrue(entry.problems)
                continue
            result = trainyard.simulate(
                scenario.replace({"run.fidelity": "alpha-beta"}), advice=0, scaling=False
            )
            self.assertEqual(entry.step_time, result.step_time)
            self.assertEqual(entry["mfu"], result.mfu)
        self.assertEqual(len(found.table), len(asked))
        self.assertTrue(found.best and found.best.feasible)

    def test_jobs_without_memory_are_refused_or_simulated(self) -> None:
        large = trainyard.Scenario.load(main).replace(
            {"strategy.zero": 0, "training.recompute": None}
        )
        refused = trainyard.evaluate([large])[0]
        self.assertFalse(refused.feasible)
        self.assertGreater(refused["peak_memory_bytes"], refused["memory_capacity_bytes"])
        simulated = trainyard.evaluate([large], unfit="simulate")[0]
        self.assertTrue(simulated.feasible and not simulated["fits"])

    def test_nothing_and_nonsense(self) -> None:
        self.assertEqual(len(trainyard.evaluate([])), 0)
        self.assertIsNone(trainyard.evaluate([]).best)
        with self.assertRaises(TypeError):
            trainyard.evaluate(path)
        with self.assertRaises(TypeError):
            trainyard.evaluate([1])
        for threads in (0, -1, 10**9):
            with self.assertRaises(ValueError):
                trainyard.evaluate([], threads=threads)

    def test_other_threads_go_on_meanwhile(self) -> None:
        base = trainyard.Scenario.load(scenarios / "llama3-70b-h100-64.json")
        asked = [base.replace({"run.seed": seed, "run.fold": False}) for seed in range(4)]
        turns = 0
        over = threading.Event()

        def work() -> None:
            trainyard.evaluate(asked, threads=1)
            over.set()

        worker = threading.Thread(target=work)
        worker.start()
        while not over.is_set():
            turns += 1
            time.sleep(0.001)
        worker.join()
        self.assertGreater(turns, 5)


class TellsProgress(unittest.TestCase):
    def test_to_a_callable(self) -> None:
        told: list[tuple[str, float, float]] = []
        asked = [trainyard.Scenario.load(main).replace({"run.seed": i}) for i in range(8)]
        trainyard.evaluate(asked, progress=lambda *words: told.append(words))
        self.assertEqual(told[-1], ("evaluate", 8.0, 8.0))

    def test_what_it_raises_comes_out(self) -> None:
        base = trainyard.Scenario.load(scenarios / "llama3-70b-h100-64.json")
        asked = [base.replace({"run.seed": i, "run.fold": False}) for i in range(40)]

        def refuse(stage: str, done: float, total: float) -> None:
            raise ZeroDivisionError(stage)

        began = time.monotonic()
        with self.assertRaises(ZeroDivisionError):
            trainyard.evaluate(asked, threads=1, progress=refuse)
        self.assertLess(time.monotonic() - began, 10)
        with self.assertRaises(TypeError):
            trainyard.evaluate([], progress=3)

    def test_ctrl_c_ends_it(self) -> None:
        code = (
            "import sys, trainyard\n"
            f"s = trainyard.Scenario.load({str(scenarios / 'llama3-70b-h100-64.json')!r})\n"
            "lengths = range(1024, 1024 + 32 * 2000, 32)\n"
            "many = [s.replace({'training.sequence_length': n, 'run.fold': False}) for n in lengths]\n"
            "print('begins', flush=True)\n"
            "try:\n"
            "    trainyard.evaluate(many)\n"
            "except KeyboardInterrupt as stop:\n"
            "    print(trainyard.simulate(s, advice=0, scaling=False).fits)\n"
            "    print(all(one.feasible for one in stop.found), len(stop.found) < 2000)\n"
            "    sys.exit(7)\n"
        )
        self.assertEqual(interrupted(code), (7, "True\nTrue True\n"))


    def test_ctrl_c_leaves_what_sweeps_and_plans_had_found(self) -> None:
        code = (
            "import sys, trainyard\n"
            f"s = trainyard.Scenario.load({str(scenarios / 'llama3-70b-h100-64.json')!r})\n"
            "def tell(stage, done, total):\n"
            "    if done > 3:\n"
            "        print('begins', flush=True)\n"
            "try:\n"
            "    CALL\n"
            "except trainyard.Interrupted as stop:\n"
            "    print('ends', type(stop.found).__name__, len(stop.found.to_dict()[ROWS]) < 2000)\n"
            "    print(isinstance(stop, KeyboardInterrupt), 'found' in str(stop))\n"
            "    sys.exit(7)\n"
        )
        sweep = (
            "trainyard.sweep(s, {'training.sequence_length': '1024..64992+32', 'run.fold': [False]},"
            " progress=tell)"
        )
        plan = "trainyard.plan(s, grid={'strategy.cp': '1..8*2'}, top=1000, progress=tell)"
        for call, kind, rows in ((sweep, "Sweep", "points"), (plan, "Plan", "best")):
            code_of_call = code.replace("CALL", call).replace("ROWS", repr(rows))
            status, out = interrupted(code_of_call)
            said = [line for line in out.splitlines() if line != "begins"]
            self.assertEqual((status, said), (7, [f"ends {kind} True", "True True"]), out)


class SweepsAndPlans(unittest.TestCase):
    def test_a_sweep_is_that_of_the_program(self) -> None:
        found = trainyard.sweep(
            main, {"strategy.zero": [2, 3], "training.micro_batch": "1..2", "training.precision": ["bf16"]}
        )
        said = printed(
            "sweep", str(main), "--grid", "strategy.zero=2,3", "--grid", "training.micro_batch=1..2",
            "--grid", "training.precision=bf16", "--json",
        )  # fmt: skip
        self.assertEqual(found.to_json(), said)
        self.assertEqual(len(found.points), 4)
        best = found.best
        assert best is not None
        self.assertEqual(best.strategy.zero, found.to_dict()["best"]["set"]["strategy.zero"])
        self.assertIn("strategy.zero", found.to_csv().splitlines()[0])

    def test_the_longest_context_is_that_of_the_program(self) -> None:
        grid = {"strategy.tp": [1, 8], "strategy.pp": [1], "strategy.cp": [1, 8]}
        found = trainyard.plan(main, grid=grid, longest_context=True)
        words = ["--longest-context", "--grid", "strategy.tp=1,8", "--grid", "strategy.pp=1"]
        self.assertEqual(
            found.to_json(), printed("plan", str(main), *words, "--grid", "strategy.cp=1,8", "--json")
        )
        best = found.best
        assert best is not None
        lengths = [one["tokens"] for one in found.to_dict()["context"]["lengths"] if one["fits"]]
        self.assertEqual(best.training.sequence_length, max(lengths))
        with self.assertRaises(TypeError):
            trainyard.plan(main, longest_context=True, on="h100")
        with self.assertRaises(trainyard.InputError):
            trainyard.plan(main, longest_context=True, mtbf="50000h/gpu")

    def test_axes_that_are_none_are_refused(self) -> None:
        for grid in ({"strategy.tpp": [1]}, {"strategy.tp": ["x"]}, {"strategy.tp": "1.."}):
            with self.assertRaises(trainyard.InputError, msg=str(grid)):
                trainyard.sweep(main, grid)
        with self.assertRaises(TypeError):
            trainyard.sweep(main, {"strategy.tp": 1})
        with self.assertRaises(ValueError):
            trainyard.sweep(main, {})
        with self.assertRaises(trainyard.InputError):
            trainyard.sweep(main, {"strategy.zero": [float("nan")]})

    def test_a_plan_is_that_of_the_program(self) -> None:
        grid = {"strategy.schedule": ["1f1b"], "strategy.vpp": [1], "strategy.zero": [1, 3]}
        found = trainyard.plan(main, grid=grid, top=3)
        said = printed(
            "plan", str(main), "--top", "3", "--grid", "strategy.schedule=1f1b", "--grid",
            "strategy.vpp=1", "--grid", "strategy.zero=1,3", "--json",
        )  # fmt: skip
        self.assertEqual(found.to_json(), said)
        best = found.best
        assert best is not None
        self.assertTrue(trainyard.simulate(best, advice=0, scaling=False).fits)
        self.assertEqual(len(found.rows), 3)
        self.assertIn("<html", found.to_html())

    def test_a_comparison_is_that_of_the_program(self) -> None:
        files = [str(scenarios / f"ddp-{name}.json") for name in ("overlap", "no-overlap")]
        found = trainyard.compare(files)
        self.assertEqual(found.to_json(), printed("compare", *files, "--json"))
        self.assertEqual(found.report(), printed("compare", *files))
        with self.assertRaises(ValueError):
            trainyard.compare(files[:1])

    def test_a_goal_finds_a_cluster_as_the_program_does(self) -> None:
        grid = {
            "strategy.schedule": ["1f1b"],
            "strategy.vpp": [1],
            "strategy.tp": [1],
            "strategy.pp": [1],
        }
        words = [f"--grid={field}={values[0]}" for field, values in grid.items()]
        found = trainyard.plan(model="gpt2-xl", on="l40s", tokens="100B", within="90d", grid=grid)
        said = printed(
            "plan", "--model", "gpt2-xl", "--on", "l40s", "--tokens", "100B", "--within", "90d",
            *words, "--json",
        )  # fmt: skip
        self.assertEqual(found.to_json(), said)
        self.assertEqual(len(found.scenarios), 1)
        for on in (["8xl40s", "8xh100"], ["8xh100", "8xl40s"]):
            goal = trainyard.plan(model="gpt2-xl", on=on, tokens="100B", price="1/h", grid=grid)
            device = goal.to_dict()["training"]["request"]["device"]
            best = goal.best
            assert best is not None
            self.assertIn(device.split("-")[0].lower(), str(best.topology["node"]).lower())
            self.assertEqual(len(goal.scenarios), 2)
        with self.assertRaises(trainyard.InputError):
            trainyard.plan(model="gpt2-xl", on="no-gpu", tokens="1B")
        with self.assertRaises(TypeError):
            trainyard.plan()


class ReadsOthersFiles(unittest.TestCase):
    def test_jobs(self) -> None:
        file = golden / "jobs" / "ds_zero2.json"
        job = trainyard.import_job(
            file, model="gpt2-xl", topology="h100-1x4", changes={"training.sequence_length": 1024}
        )
        self.assertEqual(job.scenario.strategy.zero, 2)
        self.assertIn("loss scaling", "".join(job.notes["ignored"]))
        again = trainyard.Scenario.from_deepspeed(
            file, model="gpt2-xl", topology="h100-1x4", changes={"training.sequence_length": 1024}
        )
        self.assertEqual(again, job.scenario)
        with self.assertRaises(trainyard.InputError):
            trainyard.Scenario.from_megatron(file, gpu="h100")
        with self.assertRaises(trainyard.InputError):
            trainyard.import_job(file, kind="none")
        with self.assertRaises(trainyard.WorldError):
            trainyard.import_job("none.sh")

    def test_traces(self) -> None:
        files = [golden / "traces" / f"rank{i}.json" for i in (0, 1)]
        found = trainyard.import_trace(files)
        said = printed("import", "trace", *map(str, files), "--json")
        self.assertEqual(found.to_json(), said)
        with self.assertRaisesRegex(TypeError, "against"):
            trainyard.import_trace(files, changes={"strategy.tp": 2})

    def test_arguments_of_another_kind_of_fit(self) -> None:
        log = golden / "nccl_logs" / "h100_1x8_allreduce_dgxc.txt"
        for given in ({"profile": "nonexistent"}, {"scenario": "nope.json"}):
            with self.assertRaisesRegex(TypeError, 'kind="steps" and kind="trace"'):
                trainyard.fit(log, **given)  # type: ignore[arg-type]
        for kind in ("steps", "trace"):
            for given in ({"device": "V100"}, {"network": "bogus"}):
                with self.assertRaisesRegex(TypeError, 'kind="logs"'):
                    trainyard.fit(log, kind=kind, scenario="x.json", **given)  # type: ignore[arg-type]

    def test_notes_of_fits(self) -> None:
        log = golden / "nccl_logs" / "h100_1x8_allreduce_dgxc.txt"
        fitted = trainyard.fit(log, device="H100-SXM5-80GB", name="mine")
        with tempfile.TemporaryDirectory() as folder:
            said = subprocess.run(
                [program, "fit", log, "--device", "H100-SXM5-80GB", "-o", os.path.join(folder, "mine.json")],
                capture_output=True, text=True, check=True,
            )  # fmt: skip
        self.assertTrue(fitted.notes["assumed"])
        for note in fitted.notes["assumed"] + fitted.notes["flagged"] + fitted.notes["found"]:
            self.assertIn(note, said.stdout + said.stderr)
            self.assertIn(note, str(fitted))
        self.assertIn("assumed", fitted._repr_html_())

    def test_logs_of_collectives(self) -> None:
        logs = sorted((golden / "nccl_logs").glob("*"))
        for log in logs:
            try:
                fitted = trainyard.fit(log, device="H100-SXM5-80GB", name="mine")
            except trainyard.InputError:
                continue
            self.assertEqual(fitted.profile["name"], "mine")
            with tempfile.TemporaryDirectory() as folder:
                fitted.save(os.path.join(folder, "mine.json"))
                self.assertEqual(trainyard.check(os.path.join(folder, "mine.json")), [])
            return
        self.fail("no log could be fitted")

    def test_records(self) -> None:
        records = root / "tests/validation/records/training_dev.json"
        found = trainyard.validate(records, only="ibm_fms_fsdp")
        said = printed("validate", str(records), "--only", "ibm_fms_fsdp", "--json")
        self.assertEqual(found.to_json(), said)


class ListsWhatComesAlong(unittest.TestCase):
    def test_names_are_of_things_that_are_there(self) -> None:
        self.assertIn("llama-3.1-8b", trainyard.models())
        self.assertTrue(trainyard.profiles() and trainyard.devices() and trainyard.software())
        for name in trainyard.topologies()[:5]:
            self.assertGreater(trainyard.topology(name).to_dict()["devices"], 0)
        self.assertGreater(trainyard.model("llama-3.1-8b")["parameters"], 8e9)
        self.assertEqual(json.loads(printed("schema", "topology")), trainyard.schema("topology"))
        for profile in trainyard.profiles()[:2]:
            self.assertTrue(trainyard.profile(profile))

    def test_names_that_are_none_are_refused(self) -> None:
        for call in (trainyard.model, trainyard.topology, trainyard.profile, trainyard.schema):
            with self.assertRaises(trainyard.InputError):
                call("no-such-thing")
            with self.assertRaises((trainyard.InputError, TypeError)):
                call(None)

    def test_the_version_is_that_of_the_program(self) -> None:
        self.assertIn(trainyard.__version__, printed("--version"))
        self.assertTrue((trainyard.data_dir() / "scenarios").is_dir())
        self.assertTrue(Path(small).exists())


if __name__ == "__main__":
    unittest.main()
