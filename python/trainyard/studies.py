"""Questions about scenarios: one step, memory, many steps, sweeps, plans, fits, validation."""

from __future__ import annotations

import json
from typing import Any, Iterable, Iterator, Mapping, Optional, Sequence, Union, overload

from . import _core
from ._convert import (
    PathLike,
    Progress,
    axis_texts,
    path_list,
    path_text,
    share,
    text,
    threads_of,
    whole,
)
from ._progress import progress_of
from .errors import InputError, Problem, StuckError, problems_from
from .results import Answer, Result
from .scenario import Scenario, ScenarioLike, scenario_of
from .table import Table


def simulate(
    scenario: ScenarioLike,
    *,
    scaling: bool = True,
    advice: Optional[int] = None,
    what_if: bool = False,
    samples: int = 0,
    progress: Progress = None,
) -> Result:
    """Simulates one training step.

    >>> import trainyard
    >>> r = trainyard.simulate(trainyard.data_dir() / "scenarios/llama3-8b-h100-8.json")
    >>> r.fits, r.bottleneck
    (True, 'compute')
    >>> round(r.step_time, 1)
    1.4

    ``scaling``: also the smallest size, for the scaling efficiency. ``advice``: how many settings to
    try for what would help, 0 for none, None for as many as are quick. ``what_if``: also each
    resource improved. ``samples``: also so many seeds. Raises InputError, and StuckError for a job
    that ranks stop.
    """
    if advice is not None:
        advice = whole("advice", advice, 0, 1000)
    samples = whole("samples", samples, 0, 1_000_000)
    asked = scenario_of(scenario).copy()
    with progress_of(progress) as call:
        core = _core.simulate(asked._core, bool(scaling), advice, bool(what_if), samples, call)
    if isinstance(core, tuple):
        raise StuckError(*core)
    return Result(core, asked)


class Memory(Answer):
    """What fills the devices, stage by stage and tensor by tensor."""

    @property
    def peak(self) -> int:
        """Bytes of the fullest device."""
        return int(self.to_dict()["peak"])

    @property
    def capacity(self) -> int:
        """Bytes that a device has."""
        return int(self.to_dict()["capacity"])

    @property
    def fits(self) -> bool:
        """Whether the peak is within the capacity."""
        data = self.to_dict()
        return bool(data["peak"] <= data["capacity"])

    @property
    def stages(self) -> Table:
        """Bytes by stage and kind."""
        return Table(
            ["stage", "kind", "bytes"],
            [
                {"stage": number, "kind": kind, "bytes": size}
                for number, stage in enumerate(self.to_dict()["stages"])
                for kind, size in stage["kinds"].items()
            ],
        )

    @property
    def tensors(self) -> Table:
        """Tensors that live at the peak of each stage, the largest together first."""
        return Table(
            ["stage", "name", "kind", "bytes", "count"],
            [
                {"stage": number, **{key: tensor[key] for key in ("name", "kind", "bytes", "count")}}
                for number, stage in enumerate(self.to_dict()["stages"])
                for tensor in stage.get("tensors", [])
            ],
        )

    def to_pandas(self) -> Any:
        """:attr:`stages` as a DataFrame."""
        return self.stages.to_pandas()


def memory(
    scenario: ScenarioLike,
    *,
    steps: int = 2,
    lengths: Union[str, Sequence[int], None] = None,
    expandable_segments: bool = False,
    max_split_size: Optional[str] = None,
    progress: Progress = None,
) -> Memory:
    """What fills a device; nothing is run.

    ``steps``: that the allocator lives through. ``lengths``: tokens per sequence of the
    micro-batches in turn, or ``"uniform:LEAST:MOST:SEED"``. ``max_split_size``: ``"128MiB"``.
    """
    if lengths is None:
        words = ""
    elif isinstance(lengths, str):
        words = lengths
    else:
        words = ",".join(str(whole("lengths", length, 1, 1_000_000_000)) for length in lengths)
    asked = scenario_of(scenario)
    with progress_of(progress) as call:
        return Memory(
            _core.memory(
                asked._core,
                whole("steps", steps, 1, 1000),
                words,
                bool(expandable_segments),
                text("max_split_size", max_split_size),
                call,
            )
        )


class Evaluated:
    """The figures of one of many scenarios."""

    __slots__ = ("_core", "scenario", "_parsed")

    def __init__(self, core: _core.Evaluated, scenario: Scenario) -> None:
        self._core = core
        self.scenario = scenario
        self._parsed: Optional[dict[str, Any]] = None

    @property
    def feasible(self) -> bool:
        """Whether it could be run; else ``problems`` says why not."""
        return self._core.feasible

    @property
    def step_time(self) -> float:
        """Seconds; NaN where it is not feasible."""
        return self._core.step_time if self.feasible else float("nan")

    @property
    def problems(self) -> list[Problem]:
        """What kept it from being run."""
        return problems_from(self._core.problems)

    @property
    def warnings(self) -> list[Problem]:
        """What is doubtful about it."""
        return problems_from(self._core.warnings)

    def to_dict(self) -> dict[str, Any]:
        """Its figures, by the keys of a result."""
        result: dict[str, Any] = json.loads(self._core.json())
        return result

    def __getitem__(self, key: str) -> Any:
        if self._parsed is None:
            self._parsed = self.to_dict()
        return self._parsed[key]

    def __repr__(self) -> str:
        if self.feasible:
            return f"<Evaluated {self.scenario!r}: {self.step_time:.6g} s>"
        return f"<Evaluated {self.scenario!r}: {self.problems[0].message}>"


class Evaluation(Sequence[Evaluated]):
    """What :func:`evaluate` found, in the order of what it was given."""

    def __init__(self, entries: Sequence[Evaluated]) -> None:
        self._entries = list(entries)

    def __len__(self) -> int:
        return len(self._entries)

    @overload
    def __getitem__(self, index: int) -> Evaluated: ...

    @overload
    def __getitem__(self, index: slice) -> Evaluation: ...

    def __getitem__(self, index: Union[int, slice]) -> Union[Evaluated, Evaluation]:
        if isinstance(index, slice):
            return Evaluation(self._entries[index])
        return self._entries[index]

    def __iter__(self) -> Iterator[Evaluated]:
        return iter(self._entries)

    @property
    def best(self) -> Optional[Evaluated]:
        """The least time per sample; None where none is feasible."""
        able = [entry for entry in self._entries if entry.feasible]
        return max(able, key=lambda entry: float(entry["samples_per_s"]), default=None)

    @property
    def table(self) -> Table:
        """A row of figures for each."""
        return Table.of([{"index": i, **e.to_dict()} for i, e in enumerate(self._entries)])

    def to_pandas(self) -> Any:
        """The same as a DataFrame."""
        return self.table.to_pandas()

    def __repr__(self) -> str:
        able = sum(entry.feasible for entry in self._entries)
        return f"<Evaluation: {able} of {len(self)} feasible, best {self.best!r}>"


def evaluate(
    scenarios: Iterable[ScenarioLike],
    *,
    threads: Optional[int] = None,
    unfit: str = "refuse",
    progress: Progress = None,
) -> Evaluation:
    """Simulates many scenarios on all cores; other threads of Python go on meanwhile.

    Scenarios that leave the network's fidelity open run in ``alpha-beta``, so that they may be held
    against one another. ``unfit``: what becomes of a job without the memory for it, ``"refuse"``
    (its entry says how much is missing) or ``"simulate"``.

    >>> import trainyard
    >>> s = trainyard.Scenario.load(trainyard.data_dir() / "scenarios/llama3-8b-h100-8.json")
    >>> found = trainyard.evaluate([s.replace({"strategy.zero": z}) for z in (2, 3)])
    >>> [e.feasible for e in found]
    [True, True]
    """
    if unfit not in ("refuse", "simulate"):
        raise ValueError(f'unfit must be "refuse" or "simulate", not {unfit!r}')
    if isinstance(scenarios, (str, Mapping, Scenario)):
        raise TypeError("evaluate takes several scenarios; simulate takes one")
    asked = [scenario_of(scenario).copy() for scenario in scenarios]
    with progress_of(progress) as call:
        cores = _core.evaluate(
            [scenario._core for scenario in asked], threads_of(threads), unfit == "simulate", call
        )
    return Evaluation([Evaluated(core, scenario) for core, scenario in zip(cores, asked)])


def compare(scenarios: Iterable[ScenarioLike], *, progress: Progress = None) -> Answer:
    """Scenarios side by side, differences first; the first is the baseline."""
    asked = [scenario_of(scenario)._core for scenario in scenarios]
    if len(asked) < 2:
        raise ValueError("at least two scenarios are compared")
    with progress_of(progress) as call:
        return Answer(_core.compare(asked, call))


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
    throughput-per-gpu, step-time or mfu.
    """
    if not isinstance(grid, Mapping):
        raise TypeError("grid must be a dict of fields and their values")
    if not grid:
        raise ValueError("a grid needs a field at least")
    asked = scenario_of(scenario)
    with progress_of(progress) as call:
        return Sweep(
            _core.sweep(
                asked._core,
                axis_texts(grid),
                bool(nearest_batch),
                text("best_by", best_by),
                share("headroom", headroom),
                whole("top", top, 1, 100_000),
                threads_of(threads),
                call,
            )
        )


class Plan(Answer):
    """Layouts, or clusters, with the best first."""

    @property
    def rows(self) -> Table:
        """A row for each layout, or for each size of a cluster."""
        data = self.to_dict()
        if "clusters" in data:
            return Table.of([size for kind in data["clusters"] for size in kind["sizes"]])
        return Table.of(data["best"])

    def to_pandas(self) -> Any:
        """The same as a DataFrame."""
        return self.rows.to_pandas()

    def plot(self, *, ax: Any = None) -> Any:
        """Step time against memory, with the front (matplotlib)."""
        from .plots import pareto

        return pareto(self.rows, ax=ax)

    def plot_scaling(self, *, ax: Any = None) -> Any:
        """Speedup over GPUs, of a plan that was asked for ``scaling``."""
        from .plots import scaling

        return scaling(self, ax=ax)


_sizes = ("on", "within", "budget", "scaling", "guide")


def plan(
    scenario: Optional[ScenarioLike] = None,
    *,
    grid: Optional[Mapping[str, Any]] = None,
    top: int = 10,
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
    progress: Progress = None,
) -> Plan:
    """The best layouts of a scenario's model on its cluster, proven; or, with a goal, the smallest
    cluster of each kind.

    Words of a goal are those of ``trainyard plan``: ``on=["h100", "gb200"]``, ``tokens="2T"``,
    ``within="30d"``, ``budget="5M"``, ``price="h100=2.5/h"``, ``mtbf="50000h/gpu"``,
    ``scaling="8..1024"``. ``grid`` takes values of fields in place of the usual ones.
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
    if sequence_length:
        words["sequence_length"] = whole("sequence_length", sequence_length, 1, 1_000_000_000)
    axes = axis_texts(grid or {})
    room = share("headroom", headroom)
    count = threads_of(threads)
    asked = scenario_of(scenario)._core if scenario is not None else None
    if asked is None and "model" not in words:
        raise TypeError("plan needs a scenario, or model=... with on=...")
    with progress_of(progress) as call:
        if asked is None or any(key in words for key in (*_sizes, "model")):
            return Plan(_core.plan_clusters(asked, words, axes, room, count, call))
        return Plan(
            _core.plan_layouts(
                asked, axes, whole("top", top, 1, 1000), bool(front), room, count, words, call
            )
        )


def validate(
    files: Union[PathLike, Sequence[PathLike]], *, only: str = "", progress: Progress = None
) -> Answer:
    """Predictions against measured runs: files of records. ``only``: of ids or sources that hold
    this text."""
    with progress_of(progress) as call:
        return Answer(_core.validate(path_list(files), text("only", only), call))


class Fit(Answer):
    """A profile made of measurements, and how well it fits them."""

    @property
    def profile(self) -> dict[str, Any]:
        """The profile, as its file says it."""
        result: dict[str, Any] = json.loads(self._core.profile)
        return result

    def save(self, path: PathLike) -> None:
        """Writes the profile; a scenario names it as its ``profile``."""
        import os
        import tempfile

        name = path_text(path)
        try:
            handle, aside = tempfile.mkstemp(dir=os.path.dirname(name) or ".")
            try:
                with os.fdopen(handle, "w", encoding="utf-8") as out:
                    out.write(self._core.profile)
                os.chmod(aside, 0o644)
                os.replace(aside, name)
            except BaseException:
                os.unlink(aside)
                raise
        except OSError as error:
            from .errors import WorldError

            raise WorldError(f"cannot write {name}: {error.strerror}") from None


def fit(
    files: Union[PathLike, Sequence[PathLike]],
    *,
    kind: str = "logs",
    name: str = "fitted",
    profile: str = "",
    scenario: Optional[PathLike] = None,
    device: str = "",
    network: str = "",
    progress: Progress = None,
) -> Fit:
    """A profile from measurements.

    ``kind``: ``"logs"`` of nccl-tests, ``"steps"`` (records of one to ten own steps), or ``"trace"``
    (a recorded step, one file of each rank; ``scenario`` names the file of the same job).
    ``profile``: whose rates are believed before, for steps and traces. ``device`` and ``network``:
    where logs do not say.
    """
    paths = path_list(files)
    target = path_text(scenario) if scenario is not None else ""
    with progress_of(progress) as call:
        if kind == "logs":
            return Fit(_core.fit_logs(paths, name, device, network, call))
        if kind == "steps":
            return Fit(_core.fit_steps(paths, profile, target, name, call))
        if kind == "trace":
            if not target:
                raise TypeError("a fit of a trace needs scenario=..., the file of the same job")
            return Fit(_core.fit_trace(paths, target, profile, name, call))
    raise ValueError(f'kind must be "logs", "steps" or "trace", not {kind!r}')


def check(file: PathLike) -> list[Problem]:
    """Every problem of a file: scenario, topology, model, profile, records. An empty list: it is
    right."""
    return problems_from(_core.check_file(path_text(file))[1])


def require(file: PathLike) -> None:
    """Raises InputError unless the file is right."""
    problems = _core.check_file(path_text(file))[1]
    if any(problem[0] == "error" for problem in problems):
        raise InputError(problems)
