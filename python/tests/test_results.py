"""What a simulation comes to, and that it is what the program prints."""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

import trainyard
from paths import main, program, root, scenarios

try:
    import numpy as np
except ImportError:
    np = None  # type: ignore[assignment]
try:
    import pandas
except ImportError:
    pandas = None  # type: ignore[assignment]


def printed(*arguments: str) -> str:
    return subprocess.run(
        [program, *arguments], check=False, capture_output=True, text=True, cwd=root
    ).stdout


def timeless(text: str) -> str:
    """Without the time that the simulation itself took."""
    text = re.sub(r'"wall_ms": [0-9.e+-]+', '"wall_ms": 0', text)
    return re.sub(r"(ops|events) in\s+[0-9.]+ [a-z]+", r"\1", text)


class IsWhatTheProgramPrints(unittest.TestCase):
    def test_json_and_report(self) -> None:
        result = trainyard.simulate(main, what_if=True, samples=3)
        path = str(main.relative_to(root))
        options = ("simulate", path, "--what-if", "--samples", "3")
        self.assertEqual(timeless(result.to_json()), timeless(printed(*options, "--json")))
        self.assertEqual(timeless(result.report()), timeless(printed(*options)))
        self.assertEqual(repr(result), result.report().rstrip("\n"))
        self.assertEqual(result.to_dict(), json.loads(result.to_json()))

    def test_files(self) -> None:
        result = trainyard.simulate(main, advice=0, scaling=False)
        with tempfile.TemporaryDirectory() as folder:
            html, csv, trace = (Path(folder) / name for name in ("p.html", "p.csv", "p.json"))
            mine = Path(folder) / "mine.json"
            printed(
                "simulate", str(main), "--advice", "0", "--no-scaling",
                "--html", str(html), "--csv", str(csv), "--trace", str(trace),
            )  # fmt: skip
            result.write_trace(mine)
            self.assertEqual(mine.read_text(), trace.read_text())
            self.assertEqual(timeless(result.to_html()), timeless(html.read_text()))
            self.assertEqual(timeless(result.to_csv()), timeless(csv.read_text()))
        self.assertIn("<svg", result.to_svg())
        page = result._repr_html_()
        self.assertTrue(page.startswith("<iframe srcdoc=") and "<html" not in page)


class AddsUp(unittest.TestCase):
    def setUp(self) -> None:
        self.result = trainyard.simulate(main, advice=0, scaling=False)

    def test_times_of_the_breakdown_are_the_step(self) -> None:
        self.assertAlmostEqual(sum(self.result.breakdown["critical_s"]), self.result.step_time, 9)
        low, high = self.result.step_time_interval
        self.assertTrue(low < self.result.step_time < high)

    def test_kinds_of_memory_are_the_peak(self) -> None:
        self.assertEqual(sum(self.result.memory["bytes"]), self.result.peak_memory)
        memory = trainyard.memory(main)
        self.assertEqual(memory.peak, self.result.peak_memory)
        self.assertEqual(sum(memory.stages["bytes"]), memory.peak)
        self.assertEqual(memory.to_json(), printed("memory", str(main), "--json"))

    def test_tables_show_themselves(self) -> None:
        table = self.result.collectives
        self.assertEqual(len(table["time_s"] if "time_s" in table.columns else table), len(table))
        self.assertIn("reduce_scatter", repr(table))
        self.assertIn("<td>reduce_scatter</td>", table._repr_html_())
        with self.assertRaises(KeyError):
            table["none"]

    @unittest.skipIf(pandas is None, "pandas is not installed")
    def test_tables_become_frames(self) -> None:
        for name in ("breakdown", "collectives", "links", "memory", "timeline"):
            frame = self.result.to_pandas(name)
            self.assertGreater(len(frame), 0, name)
        with self.assertRaises(ValueError):
            self.result.to_pandas("none")

    @unittest.skipIf(np is None, "NumPy is not installed")
    def test_a_timeline_shows_the_librarys_memory(self) -> None:
        timeline = self.result.timeline()
        self.assertEqual(len(timeline), len(timeline.rank))
        first = timeline.start_ps
        self.assertFalse(first.flags.owndata or first.flags.writeable)
        self.assertEqual(
            first.__array_interface__["data"], timeline.start_ps.__array_interface__["data"]
        )
        del timeline  # the column keeps it
        self.assertTrue((first >= first.min()).all())

    @unittest.skipIf(np is None, "NumPy is not installed")
    def test_ops_lie_in_their_step(self) -> None:
        timeline = self.result.timeline("all")
        self.assertTrue((timeline.start_ps <= timeline.transfer_start_ps).all())
        self.assertTrue((timeline.transfer_start_ps <= timeline.end_ps).all())
        self.assertEqual(int(timeline.end_ps.max()), timeline.step_ps)
        self.assertAlmostEqual(timeline.step_ps * 1e-12, self.result.step_time, 9)
        self.assertTrue((timeline.name < len(timeline.names)).all())
        memory = timeline.memory()
        self.assertEqual(sorted(memory), sorted(set(timeline.rank.tolist())))

    def test_ranks_that_are_none_are_refused(self) -> None:
        for ranks in ("some", 99, [0, 99], "-1"):
            with self.assertRaises(trainyard.InputError, msg=str(ranks)):
                self.result.timeline(ranks)


class SaysWhatIsWrong(unittest.TestCase):
    def test_a_job_that_ranks_stop_is_stuck(self) -> None:
        s = trainyard.Scenario.load(scenarios / "ddp-overlap.json")
        s.set("perturbations", [{"device": 3, "hangs": "100 ms"}])
        with self.assertRaises(trainyard.StuckError) as caught:
            trainyard.simulate(s)
        self.assertTrue(caught.exception.to_dict())
        self.assertIn("rank 3", str(caught.exception))

    def test_a_job_too_large_for_memory_says_so(self) -> None:
        s = trainyard.Scenario.load(main).replace({"strategy.zero": 0, "training.recompute": None})
        result = trainyard.simulate(s, advice=0, scaling=False)
        self.assertFalse(result.fits)
        self.assertGreater(result.peak_memory, result.memory_capacity)


if __name__ == "__main__":
    unittest.main()
