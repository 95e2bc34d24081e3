"""What goes wrong, as exceptions.

Input that is wrong raises :class:`InputError` with *every* problem; what the system refuses (a file
that is missing, a full disk) raises :class:`WorldError`; a job that ranks stop raises
:class:`StuckError`. Ctrl-C raises :class:`Interrupted` where something was found by then.
"""

from __future__ import annotations

from typing import Any, Iterable, NamedTuple


class Problem(NamedTuple):
    """One thing that is wrong, where it stands, and how to mend it."""

    severity: str
    """``"error"`` or ``"warning"``."""
    message: str
    file: str
    """As it was named; what a change in Python said; empty where it is not known."""
    line: int
    """Counted from 1; 0 where it is not known."""
    pointer: str
    """RFC 6901, e.g. ``/strategy/tp``; empty for the whole."""
    fix: str
    """How to mend it; may be empty."""

    def __str__(self) -> str:
        where = self.file + (f":{self.line}" if self.line else "")
        at = f" at {self.pointer}" if self.pointer else ""
        fix = f"\n      {self.fix}" if self.fix else ""
        return f"{where + ': ' if where else ''}{self.severity}: {self.message}{at}{fix}"


def problems_from(tuples: Iterable[tuple[str, str, str, int, str, str]]) -> list[Problem]:
    """Problems as the library tells them."""
    return [Problem(*fields) for fields in tuples]


class TrainyardError(Exception):
    """Whatever this package raises of its own."""


class InputError(TrainyardError, ValueError):
    """The input is wrong. ``problems`` has everything that is, warnings included."""

    problems: list[Problem]

    def __init__(self, problems: Iterable[tuple[str, str, str, int, str, str]]) -> None:
        self.problems = problems_from(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))

    def __reduce__(self) -> tuple[Any, ...]:
        return (InputError, ([tuple(problem) for problem in self.problems],))


class WorldError(TrainyardError, OSError):
    """The system refused: a file that is missing or cannot be written, a full disk."""

    def __init__(self, message: str) -> None:
        super().__init__(message)


class Interrupted(KeyboardInterrupt):
    """Ctrl-C ended a search. ``found`` is what it had found by then, of the type that the call
    returns: the best of what was looked at, proven or not."""

    def __init__(self, found: Any) -> None:
        super().__init__("Ctrl-C: what was found until then is the exception's `found`")
        self.found = found


class StuckError(TrainyardError):
    """The job never ends its step: ranks hang or die. ``str()`` says who waits for whom."""

    def __init__(self, json_text: str, text: str) -> None:
        super().__init__(text.rstrip())
        self._json = json_text

    def to_dict(self) -> dict[str, Any]:
        """What ``trainyard simulate --json`` prints of it."""
        import json

        result: dict[str, Any] = json.loads(self._json)
        return result

    def __reduce__(self) -> tuple[Any, ...]:
        return (StuckError, (self._json, str(self)))
