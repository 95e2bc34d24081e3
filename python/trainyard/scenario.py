"""Scenarios: a job on a cluster, with fields that are read and checked as files are."""

from __future__ import annotations

import copy
import json
import os
import threading
from typing import Any, Mapping, Optional, Union

from . import _core
from ._convert import PathLike, Progress, json_text, path_text
from ._core import Scenario as _CoreScenario
from ._progress import progress_of
from .errors import Problem, problems_from
from .section import Section, frozen, is_section, schema, thawed


class Scenario:
    """A job on a cluster: model, training, strategy, topology, software.

    >>> import trainyard
    >>> s = trainyard.Scenario.load(trainyard.data_dir() / "scenarios/llama3-8b-h100-8.json")
    >>> s.strategy.zero
    3
    >>> s.strategy.zero = 2
    >>> s["training.micro_batch"]
    1
    >>> s.strategy.tp = 3.5
    Traceback (most recent call last):
    ...
    trainyard.errors.InputError: ...

    A scenario belongs to whoever changes it: threads that set fields of one scenario see one change
    after the other, and what is running goes on with what it was given.
    """

    __slots__ = ("_core", "_cached", "_lock")
    _core: _CoreScenario
    _lock: threading.RLock
    _cached: Optional[tuple[_CoreScenario, dict[str, Any]]]

    def __init__(self, core: _CoreScenario) -> None:
        if not isinstance(core, _CoreScenario):
            raise TypeError(
                "a scenario is made by Scenario.load(path), .from_dict(...) or .from_hf(...)"
            )
        object.__setattr__(self, "_core", core)
        object.__setattr__(self, "_cached", None)
        object.__setattr__(self, "_lock", threading.RLock())

    # Made from something

    @classmethod
    def load(cls, path: PathLike) -> Scenario:
        """The scenario in a file. Paths in it are relative to its folder."""
        return cls(_core.load(path_text(path)))

    @classmethod
    def from_json(cls, text: str, *, folder: PathLike = "", name: str = "scenario") -> Scenario:
        """The scenario that a JSON text says; ``folder`` is where paths in it begin, ``name`` what
        problems call it."""
        if isinstance(text, bytes):
            text = text.decode("utf-8")
        return cls(_core.parse(text, os.path.join(path_text(folder), name)))

    @classmethod
    def from_dict(
        cls, values: Mapping[str, Any], *, folder: PathLike = "", name: str = "scenario"
    ) -> Scenario:
        """The scenario that a dict says, in the form of a file."""
        if not isinstance(values, Mapping):
            raise TypeError(f"a scenario is made of a dict, not of {type(values).__name__}")
        return cls.from_json(json_text(thawed(values)), folder=folder, name=name)

    @classmethod
    def from_hf(
        cls,
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
    ) -> Scenario:
        """A first scenario of a model: the quickest of the usual layouts that fits.

        ``config``: a Hugging Face ``config.json`` (path or dict), a ``PretrainedConfig``, or the
        name of a shipped model. The machines are ``gpus`` of ``gpu`` (``"h100"``), or ``topology``.
        """
        from .imports import first_scenario

        return first_scenario(
            config,
            gpu=gpu,
            gpus=gpus,
            nodes=nodes,
            gpus_per_node=gpus_per_node,
            topology=topology,
            sequence_length=sequence_length,
            global_batch=global_batch,
            progress=progress,
        ).scenario

    @classmethod
    def from_megatron(cls, path: PathLike, **options: Any) -> Scenario:
        """From a launch script, arguments or a test's YAML of Megatron-LM. Options as of
        :func:`import_job`, which also tells what was understood and assumed."""
        return cls._imported(path, "megatron", options)

    @classmethod
    def from_deepspeed(cls, path: PathLike, **options: Any) -> Scenario:
        """From DeepSpeed's JSON; ``model`` and ``gpu`` say what it leaves out."""
        return cls._imported(path, "deepspeed", options)

    @classmethod
    def from_torchtitan(cls, path: PathLike, **options: Any) -> Scenario:
        """From a configuration of torchtitan."""
        return cls._imported(path, "torchtitan", options)

    @classmethod
    def from_torchrun(cls, path: PathLike, **options: Any) -> Scenario:
        """From a script that calls torchrun."""
        return cls._imported(path, "torchrun", options)

    @classmethod
    def _imported(cls, path: PathLike, kind: str, options: dict[str, Any]) -> Scenario:
        from .imports import import_job

        return import_job(path, kind=kind, **options).scenario

    # Fields

    def _data(self) -> dict[str, Any]:
        cached = self._cached
        if cached is None or cached[0] is not self._core:
            cached = (self._core, json.loads(self._core.json()))
            object.__setattr__(self, "_cached", cached)
        return cached[1]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in schema()["properties"]:
            raise AttributeError(Section(self, "a scenario", schema())._unknown(name))
        return self[name]

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in schema()["properties"]:
            raise AttributeError(Section(self, "a scenario", schema())._unknown(name))
        self.set(name, value)

    def __dir__(self) -> list[str]:
        return [*object.__dir__(self), *schema()["properties"]]

    def __getitem__(self, field: str) -> Any:
        """``s["strategy.tp"]``: what the scenario says of a field, else its default, else None.
        KeyError where there is no such field."""
        if not isinstance(field, str):
            raise TypeError("fields are named by text, e.g. \"strategy.tp\"")
        node: Optional[Mapping[str, Any]] = schema()
        value: Any = self._data()
        for key in field.split("."):
            if node is not None and "properties" in node:
                if key not in node["properties"]:
                    raise KeyError(field)
                node = node["properties"][key]
            elif node is not None and isinstance(node.get("additionalProperties"), dict):
                node = node["additionalProperties"]
            elif node is not None and node.get("type") in ("string", "integer", "number", "boolean"):
                raise KeyError(field)
            else:
                node = None  # of a part that is taken as it is: what stands there decides
            value = _member(value, key)
            if value is _absent and node is None:
                raise KeyError(field)
        if node is not None and is_section(node):
            return Section(self, field, node) if value is not _absent or "default" in node else None
        if value is _absent:
            value = node.get("default") if node is not None else None
        return frozen(value)

    def __setitem__(self, field: str, value: Any) -> None:
        self.set(field, value)

    def __delitem__(self, field: str) -> None:
        self.set(field, None)

    def set(self, field: str, value: Any) -> None:
        """Sets one field, as ``--set field=value`` does; None takes it out. Raises InputError and
        changes nothing where the value is none of the field."""
        self.update({field: value})

    def update(self, fields: Mapping[str, Any]) -> None:
        """Sets several fields, or none of them."""
        changes = []
        for field, value in fields.items():
            if not isinstance(field, str):
                raise TypeError("fields are named by text, e.g. \"strategy.tp\"")
            written = json_text(thawed(value))
            said = f"{field} = {written if len(written) <= 60 else written[:60] + ' ...'}"
            changes.append((field, (written, said)))
        with self._lock:
            object.__setattr__(self, "_core", self._core.changed(changes))

    def replace(self, fields: Mapping[str, Any] = {}, **sections: Any) -> Scenario:
        """A copy with other fields: ``s.replace({"strategy.tp": 8})``."""
        out = self.copy()
        out.update({**fields, **sections})
        return out

    # As a whole

    def to_dict(self) -> dict[str, Any]:
        """As a file says it; defaults are left out."""
        return copy.deepcopy(self._data())

    def to_json(self) -> str:
        """The same as text."""
        return self._core.json() + "\n"

    def save(self, path: PathLike) -> None:
        """Writes it, whole or not at all; paths in it lead from there to the same files."""
        self._core.save(path_text(path))

    def check(self, *, progress: Progress = None) -> list[Problem]:
        """Where settings disagree with each other, the model or the cluster: all problems and
        warnings; nothing is run. An empty list: all is well."""
        with progress_of(progress) as call:
            return problems_from(self._core.check(call))

    @property
    def warnings(self) -> list[Problem]:
        """What is doubtful in its form."""
        return problems_from(self._core.warnings())

    @property
    def file(self) -> str:
        """The file it came from, or its name."""
        return self._core.file()

    def copy(self) -> Scenario:
        """One of its own."""
        return Scenario(self._core)

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Scenario:
        return self.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        folder = os.path.abspath(self._core.folder())
        return (_restored, (self._core.json(), self._core.file(), folder))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Scenario):
            return NotImplemented
        return self._core.equals(other._core)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        data = self._data()
        strategy = " ".join(
            f"{key}={data['strategy'][key]}"
            for key in ("tp", "cp", "pp", "ep", "dp", "zero")
            if key in data.get("strategy", {})
        )
        return f"<Scenario {self.file}{': ' + strategy if strategy else ''}>"


def _restored(text: str, name: str, folder: str) -> Scenario:
    return Scenario(_core.restored(text, name, folder))


_absent = object()


def _member(value: Any, key: str) -> Any:
    if isinstance(value, dict):
        return value.get(key, _absent)
    if isinstance(value, list) and key.isdigit() and int(key) < len(value):
        return value[int(key)]
    return _absent


ScenarioLike = Union[Scenario, PathLike, Mapping[str, Any]]


def scenario_of(value: ScenarioLike) -> Scenario:
    """A scenario as it is, of a file, or of a dict."""
    if isinstance(value, Scenario):
        return value
    if isinstance(value, Mapping):
        return Scenario.from_dict(value)
    if isinstance(value, (str, os.PathLike)):
        return Scenario.load(value)
    raise TypeError(f"a Scenario, a path or a dict is needed, not {type(value).__name__}")


