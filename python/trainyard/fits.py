"""Profiles made of measurements."""

from __future__ import annotations

import json
from typing import Any, Optional, Sequence, Union

from . import _core
from ._convert import PathLike, Progress, path_list, path_text
from ._progress import progress_of
from .results import Answer


class Fit(Answer):
    """A profile made of measurements, and how well it fits them."""

    @property
    def profile(self) -> dict[str, Any]:
        """The profile, as its file says it."""
        result: dict[str, Any] = json.loads(self._core.profile)
        return result

    @property
    def notes(self) -> dict[str, list[str]]:
        """Lists: understood, assumed, ignored, flagged (what is doubtful), found."""
        result: dict[str, list[str]] = json.loads(self._core.notes() or "{}")
        return result

    def _noted(self) -> str:
        shown = (
            "\n".join([title, *(f"  {note}" for note in notes)])
            for title, notes in self.notes.items()
            if notes
        )
        return "\n".join(shown)

    def __repr__(self) -> str:
        return "\n\n".join(filter(None, [super().__repr__(), self._noted()]))

    def _repr_html_(self) -> str:
        from html import escape

        noted = self._noted()
        return super()._repr_html_() + (f"<pre>{escape(noted)}</pre>" if noted else "")

    def plot(self, *, ax: Any = None) -> Any:
        """How far a fit to logs is off at sizes left out of it (matplotlib)."""
        from .plots import residuals

        return residuals(self, ax=ax)

    def save(self, path: PathLike) -> None:
        """Writes the profile, whole or not at all; a scenario names it as its ``profile``."""
        _core.write_file(path_text(path), self._core.profile)


_arguments = {
    "logs": ("device", "network"),
    "steps": ("profile", "scenario"),
    "trace": ("profile", "scenario"),
}


def _refuse_others(kind: str, **given: str) -> None:
    for name, value in given.items():
        if value and name not in _arguments.get(kind, given):
            kinds = [f'kind="{one}"' for one, names in _arguments.items() if name in names]
            raise TypeError(f"{name}=... is for {' and '.join(kinds)}")


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
    where logs do not say. TypeError where an argument is of another kind. What was assumed and what
    is doubtful is in the result's ``notes``.
    """
    paths = path_list(files)
    target = path_text(scenario) if scenario is not None else ""
    _refuse_others(kind, profile=profile, scenario=target, device=device, network=network)
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
