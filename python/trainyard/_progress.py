"""Progress: a callable, or True for a bar in tqdm's manner."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any, Optional

from ._convert import Progress, ProgressCall


class Bar:
    """A bar of tqdm where that is installed (in notebooks its widget), else a line on stderr."""

    def __init__(self) -> None:
        self._bar: Any = None
        self._stage = ""
        self._lines = False

    def __call__(self, stage: str, done: float, total: float) -> None:
        stage = stage.split(",")[0]
        if stage != self._stage:
            self.close()
            self._stage = stage
            self._open(stage, total)
        if self._bar is not None:
            self._bar.total = total if total > 0 else None
            self._bar.update(done - self._bar.n)
        elif self._lines:
            share = f"{100 * done / total:3.0f} %" if total > 0 else "..."
            print(f"\r{stage} {share}", end="", file=sys.stderr, flush=True)

    def _open(self, stage: str, total: float) -> None:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            self._lines = sys.stderr is not None and sys.stderr.isatty()
            return
        self._bar = tqdm(total=total if total > 0 else None, desc=stage, unit="")

    def close(self) -> None:
        """Ends the line."""
        if self._bar is not None:
            self._bar.close()
        elif self._lines:
            print(file=sys.stderr)
        self._bar = None
        self._lines = False


class progress_of:
    """``with progress_of(asked) as call:`` the callable to hand over, or None."""

    def __init__(self, asked: Progress) -> None:
        self._asked = asked
        self._bar: Optional[Bar] = None

    def __enter__(self) -> Optional[ProgressCall]:
        if self._asked is None or self._asked is False:
            return None
        if self._asked is True:
            self._bar = Bar()
            return self._bar
        if not callable(self._asked):
            raise TypeError("progress must be True, False or a callable of (stage, done, total)")
        return self._asked

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        if self._bar is not None:
            self._bar.close()
