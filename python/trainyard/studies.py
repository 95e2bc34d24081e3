"""Questions about scenarios: one step, memory, several side by side, predictions against runs."""

from __future__ import annotations

from typing import Any, Iterable, Optional, Sequence, Union

from . import _core
from ._convert import PathLike, Progress, flag, path_list, path_text, text, whole
from ._progress import progress_of
from .errors import Problem, StuckError, problems_from
from .results import Answer, Result
from .scenario import ScenarioLike, scenario_of
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
        core = _core.simulate(
            asked._core, flag("scaling", scaling), advice, flag("what_if", what_if), samples, call
        )
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
        if not words:
            raise ValueError("lengths must hold a length at least")
    asked = scenario_of(scenario)
    with progress_of(progress) as call:
        return Memory(
            _core.memory(
                asked._core,
                whole("steps", steps, 1, 1000),
                words,
                flag("expandable_segments", expandable_segments),
                text("max_split_size", max_split_size),
                call,
            )
        )


def compare(scenarios: Iterable[ScenarioLike], *, progress: Progress = None) -> Answer:
    """Scenarios side by side, differences first; the first is the baseline."""
    asked = [scenario_of(scenario)._core for scenario in scenarios]
    if len(asked) < 2:
        raise ValueError("at least two scenarios are compared")
    with progress_of(progress) as call:
        return Answer(_core.compare(asked, call))


def validate(
    files: Union[PathLike, Sequence[PathLike]], *, only: str = "", progress: Progress = None
) -> Answer:
    """Predictions against measured runs: files of records. ``only``: of ids or sources that hold
    this text."""
    with progress_of(progress) as call:
        return Answer(_core.validate(path_list(files), text("only", only), call))


def check(file: PathLike) -> list[Problem]:
    """Every problem of a file: scenario, topology, model, profile, records. An empty list: it is
    right."""
    return problems_from(_core.check_file(path_text(file))[1])
