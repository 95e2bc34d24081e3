"""Charts: what is drawn is what the tables say."""

from __future__ import annotations

import unittest

import trainyard
from paths import golden, main, scenarios
from trainyard import Table, plots

try:
    import matplotlib.pyplot as pyplot
    from matplotlib.colors import to_hex

    lacking = None
except ImportError as error:
    lacking = f"{error.name} is not installed"


def setUpModule() -> None:
    if lacking:
        print(lacking)
        raise unittest.SkipTest(lacking)


class DrawsAStep(unittest.TestCase):
    def setUp(self) -> None:
        self.result = trainyard.simulate(main, advice=0, scaling=False)
        self.addCleanup(pyplot.close, "all")

    def test_bars_of_a_breakdown_add_up_to_the_step(self) -> None:
        ax = self.result.plot_breakdown()
        length = sum(bar.get_width() for bar in ax.patches)
        self.assertAlmostEqual(length, self.result.step_time, 9)
        self.assertIn("#0072b2", {to_hex(bar.get_facecolor()) for bar in ax.patches})

    def test_spans_of_a_timeline_lie_in_the_step(self) -> None:
        ax = self.result.plot_timeline()
        step = self.result.step_time * 1e3
        spans = [path.vertices[:, 0] for part in ax.collections for path in part.get_paths()]
        self.assertGreater(len(spans), 5)
        self.assertLess(max(span.max() for span in spans), step * (1 + 1e-9))
        named = [label.get_text() for label in ax.get_yticklabels()]
        self.assertIn("rank 0, compute", named)

    def test_a_memory_curve_stays_below_the_peak(self) -> None:
        ax = self.result.plot_memory()
        held = ax.lines[0].get_ydata()
        self.assertLessEqual(max(held), self.result.peak_memory * 1e-9)
        self.assertGreater(max(held), 0.5 * self.result.peak_memory * 1e-9)

    def test_no_kernel_is_above_the_roofs(self) -> None:
        ax = self.result.plot_roofline()
        roofs = self.result.roofs
        peak = max(rate for name, rate in roofs.items() if name != "memory")
        for row in self.result.kernels:
            if row["flops"] > 0:
                self.assertLess(row["flops"] / row["time_s"], peak)
        self.assertEqual(ax.get_xscale(), "log")

    def test_axes_that_are_given_are_drawn_on(self) -> None:
        ax = pyplot.subplots()[1]
        self.assertIs(plots.breakdown([self.result, self.result], names=["a", "b"], ax=ax), ax)
        self.assertEqual([label.get_text() for label in ax.get_yticklabels()], ["a", "b"])


class DrawsStudies(unittest.TestCase):
    def tearDown(self) -> None:
        pyplot.close("all")

    def test_no_point_is_below_the_front(self) -> None:
        found = trainyard.sweep(
            main, {"strategy.zero": [2, 3], "training.recompute": ["none", "full"]}
        )
        ax = found.plot()
        times, sizes = ax.lines[0].get_data()
        fitting = [row for row in found.points if row["step_time_s"] is not None]
        self.assertGreater(len(fitting), 1)
        for row in fitting:
            beaten = any(
                t < row["step_time_s"] and m < row["peak_memory_bytes"] * 1e-9
                for t, m in zip(times, sizes)
            )
            kept = row["step_time_s"] in times
            self.assertTrue(kept or beaten, row)

    def test_clusters_lie_at_their_days_and_cost(self) -> None:
        grid = {"strategy.schedule": ["1f1b"], "strategy.vpp": [1], "strategy.tp": [1], "strategy.pp": [1]}
        asked = {"model": "gpt2-xl", "on": "8xl40s,16xl40s", "tokens": "10B", "grid": grid}
        priced = trainyard.plan(**asked, price="1/h")
        line = priced.plot().lines[0]
        self.assertEqual(list(line.get_xdata()), [row["wall_s"] / 86400 for row in priced.rows])
        self.assertEqual(list(line.get_ydata()), [row["money"] / 1000 for row in priced.rows])
        free = trainyard.plan(**asked).plot()
        self.assertEqual(free.get_ylabel(), "MWh")
        with self.assertRaises(ValueError):
            plots.clusters(Table.of([]))

    def test_residuals_are_those_of_the_report(self) -> None:
        fitted = trainyard.fit(golden / "nccl_logs" / "h100_1x8_allreduce_dgxc.txt")
        ax = fitted.plot()
        errors = fitted.to_dict()["sweeps"][0]["loo_mape_by_size"]
        heights = [bar.get_height() for bar in ax.patches]
        self.assertEqual(heights, [100 * error for error in errors.values()])
        self.assertGreater(min(heights), 0)

    def test_scaling_is_of_a_plan_that_was_asked_for_it(self) -> None:
        grid = {"strategy.schedule": ["1f1b"], "strategy.vpp": [1], "strategy.tp": [1], "strategy.pp": [1]}
        asked = trainyard.plan(model="gpt2-xl", on="l40s", scaling="8..16", batch="500k", grid=grid)
        strong = asked.plot_scaling().lines[0]
        self.assertEqual(list(strong.get_xdata()), [8, 16])
        self.assertTrue(1 < strong.get_ydata()[1] <= 2)
        with self.assertRaises(ValueError):
            trainyard.plan(scenarios / "gpt2-xl-fsdp-4.json", grid=grid).plot_scaling()


if __name__ == "__main__":
    unittest.main()
