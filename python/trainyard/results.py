"""What a simulated step comes to."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Iterable, Optional, Union

from . import _core
from ._convert import PathLike, Progress, path_text
from ._progress import progress_of
from .errors import Problem, problems_from
from .table import Table

if TYPE_CHECKING:
    from .scenario import Scenario
    from .timeline import Timeline

Ranks = Union[str, int, Iterable[Union[str, int]], None]


def framed(page: str, height: int = 720) -> str:
    """A page in a frame of its own, for notebooks: its styles stay inside."""
    from html import escape

    return (
        f'<iframe srcdoc="{escape(page, quote=True)}" '
        f'style="width:100%;height:{height}px;border:0"></iframe>'
    )


class Result:
    """One simulated step; ``print`` shows the report, notebooks the page.

    Times are seconds, sizes bytes, rates per second; shares run from 0 to 1. A result belongs to its
    process: what other processes need of it is in :meth:`to_dict`.
    """

    def __init__(self, core: _core.Simulation, scenario: Scenario) -> None:
        self._core = core
        self._scenario = scenario
        self._text: Optional[str] = None
        self._parsed: Optional[dict[str, Any]] = None
        self._recorded: Optional[_core.Recorded] = None

    @property
    def _data(self) -> dict[str, Any]:
        if self._parsed is None:
            self._parsed = json.loads(self._core.json())
        return self._parsed

    def to_dict(self) -> dict[str, Any]:
        """What ``trainyard simulate --json`` prints, key by key."""
        result: dict[str, Any] = json.loads(self.to_json())
        return result

    def to_json(self) -> str:
        """The very text that ``trainyard simulate --json`` prints."""
        return self._core.json()

    def to_csv(self) -> str:
        """One line of names, one of figures, as ``--csv`` writes."""
        return self._core.csv()

    def __getitem__(self, key: str) -> Any:
        """``result["mfu"]``: a member of :meth:`to_dict`."""
        return self.to_dict()[key]

    @property
    def scenario(self) -> Scenario:
        """What was simulated."""
        return self._scenario

    @property
    def step_time(self) -> float:
        """Seconds of a step."""
        return float(self._data["step_time_s"])

    @property
    def step_time_interval(self) -> tuple[float, float]:
        """The 90 % interval of the step time, seconds."""
        low, high = self._data["step_time_interval_s"]
        return float(low), float(high)

    @property
    def grade(self) -> str:
        """The evidence behind the constants: measured, published, extrapolated, datasheet."""
        return str(self._data["grade"])

    @property
    def gpus(self) -> int:
        """Ranks of the job."""
        return int(self._data["engine"]["ranks"])

    @property
    def tokens_per_s(self) -> float:
        """Over all devices; 0 for models without tokens."""
        return float(self._data["tokens_per_s"] or 0)

    @property
    def samples_per_s(self) -> float:
        """Sequences or samples a second, over all devices."""
        return float(self._data["samples_per_s"])

    @property
    def mfu(self) -> float:
        """Model FLOPs over what the devices could do in the step."""
        return float(self._data["mfu"])

    @property
    def hfu(self) -> float:
        """The same with recomputation counted."""
        return float(self._data["hfu"])

    @property
    def fits(self) -> bool:
        """Whether the job fits into memory."""
        return bool(self._data["fits"])

    @property
    def peak_memory(self) -> int:
        """Bytes of the fullest device."""
        return int(self._data["memory_bytes"]["peak"])

    @property
    def peak_memory_interval(self) -> tuple[int, int]:
        """The interval of peak_memory, bytes; ``result["peak_memory_interval_share"]`` says how much
        of what was measured such intervals hold."""
        low, high = self._data["peak_memory_interval_bytes"]
        return int(low), int(high)

    @property
    def memory_fit(self) -> str:
        """How surely it fits: fits, probably fits, probably does not fit, does not fit."""
        return str(self._data["memory_fit"])

    @property
    def memory_capacity(self) -> int:
        """Bytes that a device has."""
        return int(self._data["memory_bytes"]["capacity"])

    @property
    def bottleneck(self) -> str:
        """compute, communication, network, memory, bubble, ..."""
        return str(self._data["bottleneck"]["class"])

    @property
    def advice(self) -> list[dict[str, Any]]:
        """Settings that would help most: ``set`` (fields), ``step_time_s``, ``gain``."""
        best: list[dict[str, Any]] = self.to_dict().get("advice", {}).get("best", [])
        return best

    @property
    def warnings(self) -> list[Problem]:
        """What is doubtful about it."""
        return problems_from(self._core.warnings())

    # Tables

    @property
    def breakdown(self) -> Table:
        """Where the time goes: seconds of the critical rank and of the mean of all, by kind."""
        parts = self._data["breakdown_s"]
        return Table(
            ["kind", "critical_s", "mean_s"],
            [
                {"kind": kind, "critical_s": seconds, "mean_s": parts["mean"][kind]}
                for kind, seconds in parts["critical"].items()
            ],
        )

    @property
    def collectives(self) -> Table:
        """Transfers by kind and group: sizes, times, bandwidths, what is exposed."""
        return Table.of(self.to_dict()["collectives"])

    @property
    def links(self) -> Table:
        """Classes of links: capacity, bytes of a step, utilisation."""
        return Table.of(self.to_dict()["links"])

    @property
    def memory(self) -> Table:
        """Bytes by stage and kind."""
        return Table(
            ["stage", "kind", "bytes"],
            [
                {"stage": number, "kind": kind, "bytes": size}
                for number, stage in enumerate(self._data["memory_bytes"]["stages"])
                for kind, size in stage["kinds"].items()
            ],
        )

    @property
    def what_if(self) -> Table:
        """What each resource improved would save, where it was asked for."""
        return Table.of(self.to_dict().get("what_if", []))

    def to_pandas(self, table: str = "breakdown") -> Any:
        """One of breakdown, collectives, kernels, links, memory, what_if, timeline as a
        DataFrame."""
        if table == "timeline":
            return self.timeline().to_pandas()
        if table not in ("breakdown", "collectives", "kernels", "links", "memory", "what_if"):
            raise ValueError(
                f'there is no table "{table}": '
                "breakdown, collectives, kernels, links, memory, what_if or timeline"
            )
        return getattr(self, table).to_pandas()

    @property
    def kernels(self) -> Table:
        """Kernels of the rank that sets the pace by part and phase, each alone on the device: count,
        operations, bytes of memory, seconds, and what limits them."""
        names = ["part", "phase", "count", "flops", "bytes", "time_s", "limit"]
        return Table(names, [dict(zip(names, row)) for row in self._core.kernels()])

    @property
    def roofs(self) -> dict[str, float]:
        """FLOP/s of a device's peak in each number format that the kernels compute in, and bytes a
        second of its ``"memory"``, as its data sheet has them."""
        return dict(self._core.roofs())

    # Charts: of matplotlib, on ``ax`` or on axes of their own, which they return

    def plot_breakdown(self, *, ax: Any = None) -> Any:
        """Where the time goes."""
        from .plots import breakdown

        return breakdown([self], ax=ax)

    def plot_timeline(self, ranks: Ranks = None, *, ax: Any = None, progress: Progress = None) -> Any:
        """The ops over time, a row for each rank and stream."""
        from .plots import timeline

        return timeline(self, ranks, ax=ax, progress=progress)

    def plot_memory(self, ranks: Ranks = None, *, ax: Any = None, progress: Progress = None) -> Any:
        """What devices hold over the step."""
        from .plots import memory

        return memory(self, ranks, ax=ax, progress=progress)

    def plot_roofline(self, *, ax: Any = None) -> Any:
        """Rates of kernels under the peaks."""
        from .plots import roofline

        return roofline(self, ax=ax)

    # The step op by op

    def _ops(self, ranks: Ranks, progress: Progress) -> _core.Recorded:
        if ranks is None and self._recorded is not None:
            return self._recorded
        words: list[Any] = []
        if isinstance(ranks, str) or (hasattr(ranks, "__index__") and not hasattr(ranks, "__len__")):
            words = [ranks]
        elif ranks is not None:
            words = list(ranks)  # type: ignore[arg-type]
        with progress_of(progress) as call:
            recorded = self._core.recorded([str(word) for word in words], call)
        if ranks is None:
            self._recorded = recorded
        return recorded

    def timeline(self, ranks: Ranks = None, *, progress: Progress = None) -> Timeline:
        """The step's ops as columns, of one rank per pipeline stage and the critical one, of
        ``ranks`` (numbers), of ``"all"`` or ``"stages"``. The step is run again for it."""
        from .timeline import Timeline

        recorded = self._ops(ranks, progress)
        return Timeline(recorded.timeline(), recorded.memory_curves)

    def write_trace(
        self, path: PathLike, ranks: Ranks = None, *, progress: Progress = None
    ) -> None:
        """A timeline for Perfetto, as ``--trace`` writes it (``.json`` or ``.json.gz``)."""
        self._ops(ranks, progress).write_trace(path_text(path))

    def to_html(self, *, progress: Progress = None) -> str:
        """The report as a page that needs no network, as ``--html`` writes it."""
        return self._ops(None, progress).html()

    def to_svg(self, *, progress: Progress = None) -> str:
        """The timeline as a picture, as ``--svg`` writes it."""
        return self._ops(None, progress).svg()

    def report(self, width: int = 100) -> str:
        """The report for people, in lines of ``width`` cells (80 or more)."""
        return self._core.text(max(80, min(int(width), 10_000)))

    def __repr__(self) -> str:
        if self._text is None:
            self._text = self.report().rstrip("\n")
        return self._text

    def _repr_html_(self) -> str:
        return framed(self.to_html())


class Answer:
    """What a study found: ``print`` shows its report, notebooks its page where it has one."""

    def __init__(self, core: _core.Answer) -> None:
        self._core = core

    def to_dict(self) -> Any:
        """What the command of that name prints with ``--json``."""
        return json.loads(self._core.json())

    def to_json(self) -> str:
        """The very text."""
        return self._core.json()

    def to_csv(self) -> str:
        """As ``--csv`` writes it. ValueError where the study has none."""
        return self._written(self._core.csv(), "table")

    def to_html(self) -> str:
        """A page that needs no network. ValueError where the study has none."""
        return self._written(self._core.html(), "page")

    @staticmethod
    def _written(text: Optional[str], what: str) -> str:
        if text is None:
            raise ValueError(f"there is no {what} of this")
        return text

    def report(self, width: int = 100) -> str:
        """The report for people, in lines of ``width`` cells (80 or more)."""
        return self._core.text(max(80, min(int(width), 10_000)))

    def __repr__(self) -> str:
        return self.report().rstrip("\n")

    def _repr_html_(self) -> str:
        from html import escape

        page = self._core.html()
        return f"<pre>{escape(self.report())}</pre>" if page is None else framed(page)

    @property
    def scenarios(self) -> list[Scenario]:
        """The scenarios that it names, best first; may be empty."""
        from .scenario import Scenario

        return [Scenario(core) for core in self._core.scenarios]

    @property
    def best(self) -> Optional[Scenario]:
        """The first of them; None where nothing is possible."""
        scenarios = self.scenarios
        return scenarios[0] if scenarios else None
