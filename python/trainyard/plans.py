"""Grids, the best layouts, the smallest clusters."""

from __future__ import annotations

from typing import Any, Mapping, Optional, Sequence, TypeVar, Union

from . import _core
from ._convert import (
    PathLike,
    Progress,
    axis_texts,
    flag,
    path_text,
    share,
    text,
    threads_of,
    whole,
)
from ._progress import progress_of
from .errors import Interrupted
from .results import Answer
from .scenario import Scenario, ScenarioLike, scenario_of
from .table import Table


_Kind = TypeVar("_Kind", bound=Answer)


def _whole(answer: _Kind) -> _Kind:
    if answer._core.interrupted:
        raise Interrupted(answer)
    return answer


class Sweep(Answer):
    """The points of a grid."""

    @property
    def points(self) -> Table:
        """A row for each point: its fields, then its figures."""
        rows = []
        for point in self.to_dict()["points"]:
            rest = {key: value for key, value in point.items() if key != "set"}
            rows.append({**point.get("set", {}), **rest})
        return Table.of(rows)

    def to_pandas(self) -> Any:
        """The same as a DataFrame."""
        return self.points.to_pandas()

    def plot(self, *, ax: Any = None) -> Any:
        """Step time against memory, with the front (matplotlib)."""
        from .plots import pareto

        return pareto(self.points, ax=ax)


def sweep(
    scenario: ScenarioLike,
    grid: Mapping[str, Any],
    *,
    nearest_batch: bool = False,
    best_by: str = "throughput",
    headroom: float = 0.05,
    top: int = 20,
    threads: Optional[int] = None,
    progress: Progress = None,
) -> Sweep:
    """Simulates every combination of the values of some fields.

    ``grid``: ``{"strategy.tp": [1, 2, 4], "training.micro_batch": "1..4"}``; ``"auto"`` takes the
    values that :func:`plan` would look at. ``best`` and ``scenarios`` of the answer are those that
    leave ``headroom`` of a device's memory free, best first by ``best_by``: throughput,
    throughput-per-gpu, step-time or mfu. Ctrl-C raises :class:`Interrupted` with the points that
    were done.
    """
    if not isinstance(grid, Mapping):
        raise TypeError("grid must be a dict of fields and their values")
    if not grid:
        raise ValueError("a grid needs a field at least")
    asked = scenario_of(scenario)
    with progress_of(progress) as call:
        core = _core.sweep(
            asked._core,
            axis_texts(grid),
            flag("nearest_batch", nearest_batch),
            text("best_by", best_by),
            share("headroom", headroom),
            whole("top", top, 1, 100_000),
            threads_of(threads),
            call,
        )
    return _whole(Sweep(core))


class Plan(Answer):
    """Layouts, or clusters, with the best first."""

    @property
    def scenarios(self) -> list[Scenario]:
        """Of each layout, or of the cluster chosen of each kind; best first."""
        found = super().scenarios
        kinds = [
            kind
            for kind in self.to_dict().get("clusters", [])
            if any(size["chosen"] for size in kind["sizes"])
        ]
        if not kinds:
            return found
        return [s for _, s in sorted(zip(kinds, found), key=lambda pair: not pair[0]["best"])]

    @property
    def rows(self) -> Table:
        """A row for each layout, or for each size of a cluster."""
        data = self.to_dict()
        if "clusters" in data:
            return Table.of([size for kind in data["clusters"] for size in kind["sizes"]])
        return Table.of(data.get("best", []))

    def to_pandas(self) -> Any:
        """The same as a DataFrame."""
        return self.rows.to_pandas()

    def plot(self, *, ax: Any = None) -> Any:
        """Layouts: step time against memory, with the front. Clusters: days against cost
        (matplotlib)."""
        from .plots import clusters, pareto

        return (clusters if "clusters" in self.to_dict() else pareto)(self.rows, ax=ax)

    def plot_scaling(self, *, ax: Any = None) -> Any:
        """Speedup over GPUs, of a plan that was asked for ``scaling``."""
        from .plots import scaling

        return scaling(self, ax=ax)


_sizes = ("on", "within", "budget", "scaling", "guide")


def plan(
    scenario: Optional[ScenarioLike] = None,
    *,
    grid: Optional[Mapping[str, Any]] = None,
    top: Optional[int] = None,
    front: bool = False,
    headroom: float = 0.05,
    threads: Optional[int] = None,
    model: Optional[str] = None,
    on: Union[str, Sequence[str], None] = None,
    tokens: Optional[str] = None,
    within: Optional[str] = None,
    budget: Optional[str] = None,
    price: Union[str, Sequence[str], None] = None,
    mtbf: Optional[str] = None,
    checkpoint: Optional[str] = None,
    batch: Optional[str] = None,
    sequence_length: int = 0,
    assume: Optional[PathLike] = None,
    objectives: Union[str, Sequence[str], None] = None,
    scaling: Optional[str] = None,
    guide: Optional[str] = None,
    longest_context: bool = False,
    progress: Progress = None,
) -> Plan:
    """The best layouts of a scenario's model on its cluster, proven; or, with a goal, the smallest
    cluster of each kind.

    Words of a goal are those of ``trainyard plan``: ``on=["h100", "gb200"]``, ``tokens="2T"``,
    ``within="30d"``, ``budget="5M"``, ``price="h100=2.5/h"``, ``mtbf="50000h/gpu"``,
    ``scaling="8..1024"``. ``top`` (10) and ``front`` are of one cluster's layouts. ``grid`` takes
    values of fields in place of the usual ones.
    ``longest_context``: the longest sequences that fit at about the scenario's tokens a step, with
    ``tokens`` and ``within`` also trained in time; ``to_dict()["context"]`` has the lengths that
    were looked at. Ctrl-C raises :class:`Interrupted` with the best by then.
    """
    words: dict[str, Any] = {}
    for key, value in {
        "model": model,
        "tokens": tokens,
        "within": within,
        "budget": budget,
        "mtbf": mtbf,
        "checkpoint": checkpoint,
        "batch": batch,
        "scaling": scaling,
        "guide": guide,
    }.items():
        if value is not None:
            words[key] = text(key, value)
    for key, several in {"on": on, "price": price, "objectives": objectives}.items():
        if several is not None:
            entries = several.split(",") if isinstance(several, str) else list(several)
            words[key] = [text(key, path_text(entry) if key == "on" else entry) for entry in entries]
    if assume is not None:
        words["assume"] = path_text(assume)
    if length := whole("sequence_length", sequence_length, 0, 1_000_000_000):
        words["sequence_length"] = length
    shown = 10 if top is None else whole("top", top, 1, 1000)
    with_front = flag("front", front)
    of_context = flag("longest_context", longest_context)
    axes = axis_texts(grid or {})
    room = share("headroom", headroom)
    count = threads_of(threads)
    asked = scenario_of(scenario)._core if scenario is not None else None
    if asked is None and "model" not in words:
        raise TypeError("plan needs a scenario, or model=... with on=...")
    sizes = [key for key in (*_sizes, "model") if key in words]
    if of_context and (asked is None or set(sizes) - {"within"}):
        raise TypeError("longest_context is of a scenario's own cluster")
    if of_context and "within" in words and not {"tokens", "assume"} & set(words):
        raise TypeError("within says nothing of a step: with tokens, how much is to be learned")
    for_sizes = asked is None or (bool(sizes) and not of_context)
    if for_sizes and (top is not None or with_front):
        raise TypeError("top and front are about the layouts of one cluster; of several the best is told")
    with progress_of(progress) as call:
        if for_sizes:
            core = _core.plan_clusters(asked, words, axes, room, count, call)
        else:
            assert asked is not None
            core = _core.plan_layouts(
                asked,
                axes,
                shown,
                with_front,
                room,
                count,
                words,
                of_context,
                call,
            )
    return _whole(Plan(core))
