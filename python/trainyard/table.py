"""Tables: rows of named columns, for pandas, for the eye and for loops."""

from __future__ import annotations

from typing import Any, Iterator, Sequence


class Table(Sequence[dict[str, Any]]):
    """Rows as dicts, all with the same columns. Units stand in the names: ``time_s``, ``bytes``."""

    def __init__(self, columns: Sequence[str], rows: Sequence[dict[str, Any]]) -> None:
        self.columns = list(columns)
        self._rows = list(rows)

    @classmethod
    def of(cls, rows: Sequence[dict[str, Any]]) -> Table:
        """Of rows whose keys become columns, in the order in which they first occur."""
        columns = list(dict.fromkeys(key for row in rows for key in row))
        return cls(columns, [{column: row.get(column) for column in columns} for row in rows])

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, str):
            return self.column(index)
        if isinstance(index, slice):
            return Table(self.columns, self._rows[index])
        return self._rows[index]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self._rows)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Table):
            return NotImplemented
        return self.columns == other.columns and self._rows == other._rows

    __hash__ = None  # type: ignore[assignment]

    def column(self, name: str) -> list[Any]:
        """The values of one column."""
        if name not in self.columns:
            raise KeyError(name)
        return [row[name] for row in self._rows]

    def to_pandas(self) -> Any:
        """A ``pandas.DataFrame``. Needs pandas."""
        import pandas

        return pandas.DataFrame(self._rows, columns=self.columns)

    def _texts(self) -> list[list[str]]:
        return [[_text(row[column]) for column in self.columns] for row in self._rows]

    def __repr__(self) -> str:
        texts = self._texts()
        widths = [
            max([len(column), *(len(row[i]) for row in texts)])
            for i, column in enumerate(self.columns)
        ]
        lines = [self.columns, *texts]
        return "\n".join(
            "  ".join(cell.rjust(width) for cell, width in zip(line, widths)) for line in lines
        )

    def _repr_html_(self) -> str:
        from html import escape

        def line(cells: Sequence[str], tag: str) -> str:
            return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"

        rows = "".join(line(row, "td") for row in self._texts())
        return f"<table><thead>{line(self.columns, 'th')}</thead><tbody>{rows}</tbody></table>"


def _text(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)
