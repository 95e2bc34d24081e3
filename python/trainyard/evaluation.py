"""Many scenarios at once."""

from __future__ import annotations

import json
from typing import Any, Iterable, Iterator, Mapping, Optional, Sequence, Union, overload

from . import _core
from ._convert import Progress, threads_of
from ._progress import progress_of
from .errors import Interrupted, Problem, problems_from
from .scenario import Scenario, ScenarioLike, scenario_of
from .table import Table


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
    (its entry says how much is missing) or ``"simulate"``. Ctrl-C raises :class:`Interrupted` with
    those that were done.

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
        cores, interrupted = _core.evaluate(
            [scenario._core for scenario in asked], threads_of(threads), unfit == "simulate", call
        )
    done = [(core, scenario) for core, scenario in zip(cores, asked) if not core.cut_short]
    found = Evaluation([Evaluated(core, scenario) for core, scenario in done])
    if interrupted:
        raise Interrupted(found)
    return found
