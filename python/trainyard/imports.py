"""Scenarios from what starts a job elsewhere, and traces of jobs that ran."""

from __future__ import annotations

import os
from typing import Any, Mapping, Optional, Sequence, Union

from . import _core
from ._convert import PathLike, Progress, field_name, json_text, path_list, path_text, text, whole
from ._progress import progress_of
from .errors import Problem, problems_from
from .results import Answer
from .scenario import Scenario

_most = 1_000_000


class ImportedJob(Answer):
    """A scenario, with what was understood, assumed and ignored on the way (``print`` tells);
    ``to_dict()`` has these notes alone."""

    @property
    def scenario(self) -> Scenario:
        """The scenario."""
        return Scenario(self._core.scenarios[0])

    @property
    def notes(self) -> dict[str, list[str]]:
        """Lists: understood, assumed, ignored, flagged."""
        result: dict[str, list[str]] = self.to_dict()
        return result

    @property
    def warnings(self) -> list[Problem]:
        """What is doubtful."""
        return problems_from(self._core.warnings())


class FirstScenario(Answer):
    """A scenario with the reasons for what was chosen in it; ``to_dict()`` has these alone."""

    @property
    def scenario(self) -> Scenario:
        """The scenario."""
        return Scenario(self._core.scenarios[0])

    @property
    def reasons(self) -> list[str]:
        """A sentence for each value that was chosen."""
        result: list[str] = self.to_dict()
        return result


def _changes(changes: Optional[Mapping[str, Any]]) -> list[str]:
    return [f"{field_name(field)}={json_text(value)}" for field, value in (changes or {}).items()]


def import_job(
    file: PathLike,
    *,
    kind: Optional[str] = None,
    model: Optional[PathLike] = None,
    topology: Optional[PathLike] = None,
    gpu: Optional[str] = None,
    gpus_per_node: int = 0,
    nodes: int = 0,
    define: Optional[Mapping[str, Any]] = None,
    changes: Optional[Mapping[str, Any]] = None,
    progress: Progress = None,
) -> ImportedJob:
    """A scenario from a launch script or configuration: megatron, deepspeed, torchtitan, torchrun,
    or a recipe that is recognised.

    ``kind``: what it is; None: what it looks most like. ``define``: variables of the script that are
    set elsewhere. ``changes``: fields of the scenario, set last.
    """
    defined = [f"{name}={value}" for name, value in (define or {}).items()]
    with progress_of(progress) as call:
        return ImportedJob(
            _core.import_job(
                path_text(file),
                text("kind", kind),
                path_text(model) if model is not None else "",
                path_text(topology) if topology is not None else "",
                text("gpu", gpu),
                whole("gpus_per_node", gpus_per_node, 0, 1024),
                whole("nodes", nodes, 0, _most),
                defined,
                _changes(changes),
                call,
            )
        )


def first_scenario(
    config: Any,
    *,
    gpu: Optional[str] = None,
    gpus: int = 0,
    nodes: int = 0,
    gpus_per_node: int = 0,
    topology: Optional[PathLike] = None,
    sequence_length: int = 0,
    global_batch: int = 0,
    progress: Progress = None,
) -> FirstScenario:
    """The quickest usual layout of a model on a cluster that fits, with reasons. Arguments as of
    :meth:`Scenario.from_hf`."""
    if gpu is None and topology is None:
        raise TypeError("the machines are missing: gpu=... with gpus=..., or topology=...")
    if topology is not None and (gpu is not None or gpus or nodes or gpus_per_node):
        raise TypeError("a topology says what the machines are: without gpu, gpus and nodes")
    if hasattr(config, "to_dict") and not isinstance(config, Mapping):
        config = config.to_dict()
    named = ""
    written = ""
    if isinstance(config, Mapping):
        written = json_text(dict(config))
    elif isinstance(config, (str, os.PathLike)):
        named = path_text(config)
        if not named:
            raise ValueError("no model is named")
    else:
        raise TypeError(f"config must be a path, a name or a dict, not {type(config).__name__}")
    with progress_of(progress) as call:
        return FirstScenario(
            _core.first_scenario(
                named,
                written,
                path_text(topology) if topology is not None else "",
                text("gpu", gpu),
                whole("gpus", gpus, 0, _most),
                whole("nodes", nodes, 0, _most),
                whole("gpus_per_node", gpus_per_node, 0, 1024),
                whole("sequence_length", sequence_length, 0, 1_000_000_000),
                whole("global_batch", global_batch, 0, 1_000_000_000),
                call,
            )
        )


def import_trace(
    files: Union[PathLike, Sequence[PathLike]],
    *,
    topology: Optional[PathLike] = None,
    gpu: Optional[str] = None,
    gpus_per_node: int = 0,
    scale_to: int = 0,
    against: Optional[PathLike] = None,
    changes: Optional[Mapping[str, Any]] = None,
    progress: Progress = None,
) -> Answer:
    """Where the time of a recorded step goes: traces of PyTorch's profiler or of Nsight Systems, one
    file of each rank.

    ``scale_to``: what the step would take on so many ranks. ``against``: the file of a scenario of
    the same job, to be shown beside, with ``changes``.
    """
    if changes and against is None:
        raise TypeError("changes=... are of the scenario that against=... names")
    with progress_of(progress) as call:
        return Answer(
            _core.import_trace(
                path_list(files),
                path_text(topology) if topology is not None else "",
                text("gpu", gpu),
                whole("gpus_per_node", gpus_per_node, 0, 1024),
                whole("scale_to", scale_to, 0, 10_000_000),
                path_text(against) if against is not None else "",
                _changes(changes),
                call,
            )
        )
