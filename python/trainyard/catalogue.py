"""What comes along: models, clusters, profiles, devices; and what files may say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from . import _core
from ._convert import PathLike, path_text, text, whole


def version() -> str:
    """The version of the library."""
    return _core.version()


def data_dir() -> Path:
    """The folder of the shipped scenarios, topologies and profiles."""
    return Path(_core.data_dir())


def models() -> list[str]:
    """Names of shipped models, as scenarios may name them."""
    return _core.shipped("models")


def topologies() -> list[str]:
    """Names of shipped clusters."""
    return _core.shipped("topologies")


def profiles() -> list[str]:
    """Names of shipped profiles."""
    return _core.shipped("profiles")


def devices() -> list[str]:
    """Names of devices whose constants come along."""
    return _core.shipped("devices")


def software() -> list[str]:
    """Names of software classes."""
    return _core.shipped("software")


def model(name: PathLike, *, sequence_length: int = 4096) -> dict[str, Any]:
    """Facts of a model (a shipped one, or a file): layers by kind, parameters, operations."""
    length = whole("sequence_length", sequence_length, 1, 1 << 24)
    result: dict[str, Any] = json.loads(_core.model_facts(path_text(name), length))
    return result


class Topology:
    """A cluster, counted: ``print`` tells, :meth:`to_dict` has the figures."""

    def __init__(self, json_text: str, report: str) -> None:
        self._json = json_text
        self._report = report

    def to_dict(self) -> dict[str, Any]:
        """Devices, nodes, domains, links, bisection bandwidth."""
        result: dict[str, Any] = json.loads(self._json)
        return result

    def __repr__(self) -> str:
        return self._report.rstrip("\n")


def topology(name: PathLike) -> Topology:
    """A cluster (a shipped one, or a file)."""
    return Topology(*_core.topology_facts(path_text(name)))


def profile(name: PathLike) -> dict[str, Any]:
    """The constants of a profile, by name or file."""
    result: dict[str, Any] = json.loads(_core.profile_constants(path_text(name)))
    return result


def schema(kind: str = "scenario") -> dict[str, Any]:
    """The JSON Schema of a kind of file: scenario, topology, model, profile, ..."""
    result: dict[str, Any] = json.loads(_core.schema(text("kind", kind)))
    return result
