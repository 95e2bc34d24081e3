"""Fields of a scenario: what they are called, mean and hold."""

from __future__ import annotations

import copy
import json
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Iterator, Mapping, Optional

from . import _core

if TYPE_CHECKING:
    from .scenario import Scenario


@lru_cache(maxsize=None)
def schema() -> dict[str, Any]:
    result: dict[str, Any] = json.loads(_core.schema("scenario"))
    return result


def frozen(value: Any) -> Any:
    # A copy that may be changed would look as if it changed the scenario.
    if isinstance(value, dict):
        return MappingProxyType({key: frozen(item) for key, item in value.items()})
    if isinstance(value, list):
        return tuple(frozen(item) for item in value)
    return value


def thawed(value: Any) -> Any:
    if isinstance(value, Section):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {key: thawed(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [thawed(item) for item in value]
    return value


def is_section(schema: Mapping[str, Any]) -> bool:
    return "properties" in schema or "additionalProperties" in schema


class Section:
    """Fields of a scenario that belong together, e.g. ``scenario.strategy``.

    Reading gives what the scenario says, else the default; quantities are text with a unit
    (``"25 MiB"``). Setting changes the scenario at once, or raises :class:`InputError`; ``None``
    takes a field out. ``dir()`` lists the fields, :meth:`describe` says what one means.
    """

    __slots__ = ("_owner", "_path", "_node")

    def __init__(self, owner: Scenario, path: str, node: Mapping[str, Any]) -> None:
        object.__setattr__(self, "_owner", owner)
        object.__setattr__(self, "_path", path)
        object.__setattr__(self, "_node", node)

    def _field(self, name: str) -> str:
        return f"{self._path}.{name}" if self._path else name

    def _value(self) -> dict[str, Any]:
        value: Any = self._owner._data()
        for key in self._path.split("."):
            value = value.get(key, {}) if isinstance(value, dict) else {}
        return value if isinstance(value, dict) else {}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        properties = self._node.get("properties", {})
        if name not in properties:
            raise AttributeError(self._unknown(name))
        return self._owner[self._field(name)]

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._node.get("properties", {}):
            raise AttributeError(self._unknown(name))
        self._owner.set(self._field(name), value)

    def _unknown(self, name: str) -> str:
        from difflib import get_close_matches

        known = list(self._node.get("properties", {}))
        if not known:
            return f'{self._path}.{name} is written {self._path}["{name}"]'
        near = get_close_matches(name, known, 1)
        hint = f'did you mean "{near[0]}"?' if near else f"one of: {', '.join(known)}"
        return f'{self._path} has no field "{name}"; {hint}'

    def __getitem__(self, name: str) -> Any:
        if not isinstance(name, str):
            raise TypeError("fields are named by text")
        return self._owner[self._field(name)]

    def __setitem__(self, name: str, value: Any) -> None:
        if not isinstance(name, str):
            raise TypeError("fields are named by text")
        self._owner.set(self._field(name), value)

    def keys(self) -> list[str]:
        """The fields' names: ``dict(section)`` has them all, defaults included."""
        return list(self)

    # A copy is a dict: a section is part of its scenario.
    def __copy__(self) -> dict[str, Any]:
        return self.to_dict()

    def __deepcopy__(self, memo: dict[int, Any]) -> dict[str, Any]:
        return self.to_dict()

    def __reduce__(self) -> tuple[Any, ...]:
        return (dict, (self.to_dict(),))

    def __iter__(self) -> Iterator[str]:
        return iter(self._value() if "properties" not in self._node else self._node["properties"])

    def __contains__(self, name: object) -> bool:
        return name in self._value() or name in self._node.get("properties", {})

    def __dir__(self) -> list[str]:
        return [*self._node.get("properties", {}), "to_dict", "describe"]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (Section, Mapping)):
            return bool(self.to_dict() == thawed(other))
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def to_dict(self) -> dict[str, Any]:
        """What the scenario says here; defaults are left out."""
        return copy.deepcopy(self._value())

    def describe(self, name: Optional[str] = None) -> str:
        """What a field means, or all of them: type, default, range."""
        properties: Mapping[str, Any] = self._node.get("properties", {})
        if name is not None:
            if name not in properties:
                raise AttributeError(self._unknown(name))
            return _described(name, properties[name])
        return "\n".join(_described(key, node) for key, node in properties.items())

    def __repr__(self) -> str:
        return f"<{self._path}: {json.dumps(self._value())}>"


def _described(name: str, node: Mapping[str, Any]) -> str:
    facts = []
    if "enum" in node:
        facts.append("one of " + ", ".join(map(str, node["enum"])))
    elif "type" in node:
        facts.append(str(node["type"]))
    if node.get("examples"):
        facts.append(f"such as {json.dumps(node['examples'][0])}")
    if node.get("default") not in (None, {}, ""):
        facts.append(f"default {json.dumps(node['default'])}")
    return f"{name}: {node.get('description', '')} ({'; '.join(facts)})"
