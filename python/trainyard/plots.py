"""Charts with matplotlib, in the colours and hatches of the program's own pages.

Each takes ``ax`` (matplotlib's axes; None makes some) and returns it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Sequence

from . import _core
from ._convert import Progress

if TYPE_CHECKING:
    from .fits import Fit
    from .results import Ranks, Result
    from .table import Table


class Fill(NamedTuple):
    """How a kind of time is painted."""

    title: str
    """In a breakdown."""
    slice: str
    """In a timeline."""
    colour: str
    hatch: str
    """As matplotlib names it."""
    ink: str
    """Of the hatch."""


_hatches = {
    "none": "",
    "slash": "//",
    "backslash": "\\\\",
    "vertical": "||",
    "horizontal": "--",
    "cross": "xx",
    "dots": "..",
}


@lru_cache(maxsize=None)
def fills() -> dict[str, Fill]:
    """By the name of the kind of time."""
    return {
        name: Fill(title, piece, colour or "#ececec", _hatches[hatch], ink)
        for name, title, piece, colour, hatch, ink in _core.time_kinds()
    }


def _axes(ax: Optional[Any], size: tuple[float, float]) -> Any:
    if ax is not None:
        return ax
    import matplotlib.pyplot

    return matplotlib.pyplot.subplots(figsize=size, layout="constrained")[1]


def _paint(fill: Fill) -> dict[str, Any]:
    return {
        "facecolor": fill.colour,
        "hatch": fill.hatch,
        "edgecolor": fill.ink if fill.hatch else "none",
        "linewidth": 0,
    }


def _legend(ax: Any, kinds: Sequence[str], words: str) -> None:
    from matplotlib.patches import Patch

    handles = [Patch(label=getattr(fills()[kind], words), **_paint(fills()[kind])) for kind in kinds]
    ax.legend(handles=handles, loc="upper left", bbox_to_anchor=(1, 1), frameon=False, fontsize="small")


def breakdown(results: Sequence[Result], *, names: Optional[Sequence[str]] = None, ax: Any = None) -> Any:
    """Where the time of each goes (mean of its ranks), stacked, in seconds."""
    ax = _axes(ax, (8, 1.8 + 0.5 * len(results)))
    shown = [
        kind
        for kind in fills()
        if any(row["mean_s"] > 0 for r in results for row in r.breakdown if row["kind"] == kind)
    ]
    for place, result in enumerate(results):
        begin = 0.0
        seconds = dict(zip(result.breakdown["kind"], result.breakdown["mean_s"]))
        for kind in shown:
            ax.barh(place, seconds[kind], left=begin, **_paint(fills()[kind]))
            begin += seconds[kind]
    ax.set_yticks(range(len(results)), names or [result.scenario.file for result in results])
    ax.invert_yaxis()
    ax.set_xlabel("seconds of a step")
    _legend(ax, shown, "title")
    return ax


def _spans(left: Any, right: Any, resolution: float) -> list[tuple[float, float]]:
    # (begin, length) of what a picture can tell apart: what is nearer than that becomes one.
    import numpy as np

    chosen = right > left
    if not chosen.any():
        return []
    order = np.argsort(left[chosen], kind="stable")
    left = left[chosen][order]
    right = np.maximum.accumulate(right[chosen][order])
    first = np.concatenate([[True], left[1:] - right[:-1] > resolution])
    last = np.concatenate([first[1:], [True]])
    return [(a, b - a) for a, b in zip(left[first].tolist(), right[last].tolist())]


def timeline(result: Result, ranks: Ranks = None, *, ax: Any = None, progress: Progress = None) -> Any:
    """The ops of a step over time, a row for each rank and stream; waiting for others apart."""
    import numpy as np

    ops = result.timeline(ranks, progress=progress)
    rows = sorted({(r, s) for r, s in zip(ops.rank.tolist(), ops.stream.tolist()) if s > 0})
    place = {row: number for number, row in enumerate(rows)}
    ax = _axes(ax, (10, 1 + 0.35 * len(rows)))
    device = ops.stream > 0
    begin = ops.start_ps * 1e-9
    moves = ops.transfer_start_ps * 1e-9
    end = ops.end_ps * 1e-9
    at = np.array([place.get(row, -1) for row in zip(ops.rank.tolist(), ops.stream.tolist())])
    resolution = ops.step_ps * 1e-9 / 2000
    shown = []
    for row in range(len(rows)):
        here = device & (at == row)
        pieces = [(kind, here & (ops.kind == i), moves, end) for i, kind in enumerate(ops.kinds)]
        for kind, chosen, left, right in [*pieces, ("waiting", here, begin, moves)]:
            spans = _spans(left[chosen], right[chosen], resolution)
            if spans:
                ax.broken_barh(spans, (row - 0.4, 0.8), **_paint(fills()[kind]))
                shown.append(kind)
    ax.set_yticks(range(len(rows)), [f"rank {r}, {ops.streams[s]}" for r, s in rows], fontsize="small")
    ax.invert_yaxis()
    ax.set_xlim(0, ops.step_ps * 1e-9)
    ax.set_xlabel("milliseconds")
    _legend(ax, [kind for kind in fills() if kind in shown], "slice")
    return ax


def memory(result: Result, ranks: Ranks = None, *, ax: Any = None, progress: Progress = None) -> Any:
    """What devices hold over the step, with the limit."""
    ops = result.timeline(ranks, progress=progress)
    ax = _axes(ax, (8, 4))
    for number, (rank, (times, held)) in enumerate(sorted(ops.memory().items())):
        if len(times) == 0:
            continue
        ax.step(
            (times - times[0]) * 1e-9, held * 1e-9, where="post", label=f"rank {rank}",
            color=_core.series_colours()[number % 8],
        )  # fmt: skip
    ax.axhline(result.memory_capacity * 1e-9, color="#b00020", linestyle="--", label="device")
    ax.set_ylim(bottom=0)
    ax.set_xlabel("milliseconds")
    ax.set_ylabel("GB, as the allocator counts")
    ax.legend(frameon=False, fontsize="small")
    return ax


def pareto(table: Table, *, ax: Any = None) -> Any:
    """Step time against memory of points of a sweep or a plan, with the front of those that none
    beats in both."""
    able = [
        (row["step_time_s"], row["peak_memory_bytes"] * 1e-9)
        for row in table
        if row.get("step_time_s") is not None and row.get("peak_memory_bytes")
    ]
    front: list[tuple[float, float]] = []
    for point in sorted(able):
        if not front or point[1] < front[-1][1]:
            front.append(point)
    ax = _axes(ax, (6, 4))
    colours = _core.series_colours()
    ax.scatter([p[0] for p in able], [p[1] for p in able], color=colours[0], label="points")
    ax.step(
        [p[0] for p in front], [p[1] for p in front], where="post", color=colours[1], marker="o",
        label="front",
    )  # fmt: skip
    ax.set_xlabel("seconds of a step")
    ax.set_ylabel("GB of the fullest device")
    ax.legend(frameon=False, fontsize="small")
    return ax


def clusters(table: Table, *, ax: Any = None) -> Any:
    """Days of a training against its cost on the clusters that a plan for a goal looked at, a line
    for each kind through its sizes; against energy where no price is known. Rings: the chosen, where
    there is a choice."""
    from matplotlib.patheffects import withStroke

    rows = [row for row in table if row.get("wall_s")]
    if not rows:
        raise ValueError("the plan has no training: give it tokens=...")
    choice = not all(row.get("chosen") for row in rows)
    priced = all(row.get("money") is not None for row in rows)
    ax = _axes(ax, (7, 4.5))
    colours = _core.series_colours()
    for number, name in enumerate(dict.fromkeys(row["cluster"] for row in rows)):
        kind = [row for row in rows if row["cluster"] == name]
        days = [row["wall_s"] / 86400 for row in kind]
        costs = [(row["money"] if priced else row["energy_kwh"]) / 1000 for row in kind]
        colour = colours[number % len(colours)]
        ax.plot(days, costs, color=colour, marker="o", label=name)
        for row, day, cost in zip(kind, days, costs):
            ax.annotate(
                str(row["gpus"]), (day, cost), xytext=(0, -17 if number % 2 else 8),
                textcoords="offset points", ha="center", fontsize="small", color="#333333",
                path_effects=[withStroke(linewidth=2, foreground="white")],
            )  # fmt: skip
            if choice and row.get("chosen"):
                ax.plot([day], [cost], "o", markersize=14, fillstyle="none", color=colour)
    ax.margins(0.08, 0.15)
    ax.set_xlabel("days; numbers are GPUs")
    ax.set_ylabel("cost, thousands" if priced else "MWh")
    ax.legend(frameon=False, fontsize="small")
    return ax


_bands = {
    "up_to_64KiB": "up to 64 KiB",
    "64KiB_to_1MiB": "64 KiB to 1 MiB",
    "1_to_16MiB": "1 to 16 MiB",
    "above_16MiB": "above 16 MiB",
}


def residuals(fit: Fit, *, ax: Any = None) -> Any:
    """By band of sizes, how far a fit to logs is off at sizes that were left out of it (mean, per
    cent), a bar for each sweep."""
    sweeps = [sweep for sweep in fit.to_dict().get("sweeps", []) if sweep.get("loo_mape_by_size")]
    if not sweeps:
        raise ValueError("only fits to logs of ten sizes or more have residuals")
    ax = _axes(ax, (7, 4))
    colours = _core.series_colours()
    width = 0.8 / len(sweeps)
    for number, sweep in enumerate(sweeps):
        errors = sweep["loo_mape_by_size"]
        ax.bar(
            [place + (number + 0.5) * width - 0.4 for place in range(len(_bands))],
            [100 * (errors.get(band) or 0) for band in _bands], width=width,
            color=colours[number % len(colours)],
            label=f"{sweep['collective'].replace('_', '-')}, {sweep['ranks']} ranks",
        )  # fmt: skip
    ax.set_xticks(range(len(_bands)), list(_bands.values()))
    ax.set_ylabel("% off at sizes left out")
    ax.legend(frameon=False, fontsize="small")
    return ax


def roofline(result: Result, *, ax: Any = None) -> Any:
    """Rates of kernels over the operations that they do for each byte of memory, under the peaks."""
    kernels = [row for row in result.kernels if row["flops"] > 0 and row["bytes"] > 0]
    ax = _axes(ax, (7, 4.5))
    colours = _core.series_colours()
    parts = list(dict.fromkeys(row["part"] for row in kernels))
    most = max(row["time_s"] for row in kernels)
    for number, part in enumerate(parts):
        of_part = [row for row in kernels if row["part"] == part]
        ax.scatter(
            [row["flops"] / row["bytes"] for row in of_part],
            [row["flops"] / row["time_s"] * 1e-12 for row in of_part],
            s=[20 + 300 * row["time_s"] / most for row in of_part],
            color=colours[number % len(colours)], label=part, alpha=0.8,
        )  # fmt: skip
    roofs = dict(result.roofs)
    bandwidth = roofs.pop("memory")
    least = min(row["flops"] / row["bytes"] for row in kernels) / 4
    most_dense = max(row["flops"] / row["bytes"] for row in kernels) * 4
    for name, peak in roofs.items():
        knee = peak / bandwidth
        ax.plot(
            [min(least, knee / 4), knee, max(most_dense, knee * 4)],
            [min(least, knee / 4) * bandwidth * 1e-12, peak * 1e-12, peak * 1e-12],
            color="#5b5b5b", linestyle="--", linewidth=1, label=f"peak of {name} and memory",
        )  # fmt: skip
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel("FLOP for each byte of device memory")
    ax.set_ylabel("TFLOP/s")
    ax.legend(frameon=False, fontsize="small")
    return ax


def scaling(plan: Any, *, ax: Any = None) -> Any:
    """Speedup over GPUs of a plan that was asked for ``scaling``, one batch on all sizes."""
    curves = plan.to_dict().get("scaling") or []
    if not curves:
        raise ValueError("the plan was not asked for scaling=...")
    ax = _axes(ax, (6, 4))
    for number, curve in enumerate(curves):
        for style, key in (("-", "strong"), (":", "weak")):
            rows = [row for row in curve[key]["sizes"] if row.get("speedup")]
            ax.plot(
                [row["gpus"] for row in rows], [row["speedup"] for row in rows], style, marker="o",
                color=_core.series_colours()[number % 8], label=f"{curve['cluster']}, {key}",
            )  # fmt: skip
    ax.set_xscale("log", base=2)
    ax.set_yscale("log", base=2)
    ax.set_xlabel("GPUs")
    ax.set_ylabel("speedup")
    ax.legend(frameon=False, fontsize="small")
    return ax
