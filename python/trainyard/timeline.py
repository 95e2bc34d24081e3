"""The ops of a step as columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable

from . import _core

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

columns = (
    "rank",
    "stage",
    "stream",
    "name",
    "kind",
    "micro_batch",
    "layer",
    "issued_ps",
    "start_ps",
    "transfer_start_ps",
    "end_ps",
    "bytes",
    "last_arriver",
)


class Timeline:
    """One entry for each op, by rank, stream and start.

    Columns are NumPy arrays that show the library's own memory: nothing is copied, and they cannot
    be written. Times are picoseconds from the step's begin. ``stream``, ``name`` and ``kind`` are
    places in ``streams``, ``names`` and ``kinds``; -1 in ``micro_batch``, ``layer`` and
    ``last_arriver`` is none.
    """

    def __init__(
        self,
        core: _core.Timeline,
        curves: Callable[[], list[tuple[int, list[int], list[int]]]],
    ) -> None:
        self._core = core
        self._curves = curves

    def __len__(self) -> int:
        return len(self._core)

    @property
    def rank(self) -> npt.NDArray[np.int32]:
        """The rank that each op is of."""
        return self._core.rank

    @property
    def stage(self) -> npt.NDArray[np.int32]:
        """Its pipeline stage, or kind of rank."""
        return self._core.stage

    @property
    def stream(self) -> npt.NDArray[np.int32]:
        """Where it runs: a place in ``streams``."""
        return self._core.stream

    @property
    def name(self) -> npt.NDArray[np.int32]:
        """What it is: a place in ``names``."""
        return self._core.name

    @property
    def kind(self) -> npt.NDArray[np.int32]:
        """What its time counts as: a place in ``kinds``."""
        return self._core.kind

    @property
    def micro_batch(self) -> npt.NDArray[np.int32]:
        """Counted from 0."""
        return self._core.micro_batch

    @property
    def layer(self) -> npt.NDArray[np.int32]:
        """Of the model; the embedding is 0."""
        return self._core.layer

    @property
    def issued_ps(self) -> npt.NDArray[np.int64]:
        """When the host issued it."""
        return self._core.issued_ps

    @property
    def start_ps(self) -> npt.NDArray[np.int64]:
        """When its kernel began."""
        return self._core.start_ps

    @property
    def transfer_start_ps(self) -> npt.NDArray[np.int64]:
        """When data began to move: all had arrived; of other ops the start."""
        return self._core.transfer_start_ps

    @property
    def end_ps(self) -> npt.NDArray[np.int64]:
        """When it ended."""
        return self._core.end_ps

    @property
    def bytes(self) -> npt.NDArray[np.uint64]:
        """That it moves."""
        return self._core.bytes

    @property
    def last_arriver(self) -> npt.NDArray[np.int32]:
        """The rank that a collective waited for."""
        return self._core.last_arriver

    @property
    def streams(self) -> list[str]:
        """Names of streams."""
        return self._core.streams

    @property
    def names(self) -> list[str]:
        """Names of ops."""
        return self._core.names

    @property
    def kinds(self) -> list[str]:
        """Kinds of time."""
        return self._core.kinds

    @property
    def step_ps(self) -> int:
        """Length of the step."""
        return self._core.step_ps

    def memory(self) -> dict[int, tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
        """By rank: times (ps from when recording began) and the bytes that its device holds from
        then on."""
        import numpy as np

        return {
            rank: (np.array(times, dtype=np.int64), np.array(held, dtype=np.int64))
            for rank, times, held in self._curves()
        }

    def to_pandas(self) -> Any:
        """A ``pandas.DataFrame``: streams, names and kinds as categories."""
        import pandas

        words = {"stream": self.streams, "name": self.names, "kind": self.kinds}
        return pandas.DataFrame(
            {
                column: (
                    pandas.Categorical.from_codes(*_unique(getattr(self, column), words[column]))
                    if column in words
                    else getattr(self, column)
                )
                for column in columns
            }
        )

    def __repr__(self) -> str:
        ranks = len(set(self.rank.tolist()))
        return f"<Timeline: {len(self)} ops of {ranks} ranks in {self.step_ps / 1e9:.6g} ms>"


def _unique(codes: Any, names: list[str]) -> tuple[Any, list[str]]:
    # Two labels may be called alike; categories may not.
    import numpy as np

    categories = list(dict.fromkeys(names))
    place = {name: number for number, name in enumerate(categories)}
    return np.array([place[name] for name in names], dtype=np.int32)[codes], categories
