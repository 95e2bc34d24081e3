"""Between Python's values and the text that the library reads."""

from __future__ import annotations

import json
import os
from typing import Any, Callable, Mapping, Optional, Sequence, Union

from .errors import InputError

PathLike = Union[str, "os.PathLike[str]"]
ProgressCall = Callable[[str, float, float], object]
Progress = Union[bool, ProgressCall, None]

most_threads = 1024


def path_text(path: PathLike) -> str:
    """A path as UTF-8 text."""
    text = os.fspath(path)
    if not isinstance(text, str):
        raise TypeError(f"a path must be a str or os.PathLike, not {type(path).__name__}")
    if "\0" in text:
        raise ValueError("a path must not hold a null character")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("a path must be UTF-8") from None
    return text


def path_list(paths: Union[PathLike, Sequence[PathLike]]) -> list[str]:
    """One path, or several."""
    if isinstance(paths, (str, os.PathLike)):
        paths = [paths]
    out = [path_text(path) for path in paths]
    if not out:
        raise ValueError("at least one file is needed")
    return out


def json_text(value: Any) -> str:
    """The value as JSON. NaN and infinities are refused, as is what JSON has no form for."""
    if type(value).__module__ == "numpy" and hasattr(value, "tolist"):
        value = value.tolist()
    try:
        written = json.dumps(value, allow_nan=False, ensure_ascii=False, default=_json_default)
        written.encode("utf-8")
        return written
    except UnicodeEncodeError:
        raise InputError([("error", "text that is no UTF-8", "", 0, "", "")]) from None
    except ValueError as error:
        raise InputError([("error", f"{error}: no value of a field", "", 0, "", "")]) from None
    except RecursionError:
        raise InputError([("error", "nested too deeply", "", 0, "", "")]) from None


def _json_default(value: Any) -> Any:
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Mapping):
        return dict(value)
    if type(value).__module__ == "numpy" and hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is no value of a field")


def axis_texts(axes: Mapping[str, Any]) -> list[str]:
    """``{"strategy.tp": [1, 2]}`` as grids of the command line: ``strategy.tp=1,2``. Text is taken
    as it is (``"1..8"``, ``"auto"``)."""
    out = []
    for field, values in axes.items():
        if not isinstance(field, str):
            raise TypeError("the fields of a grid are named by text")
        if isinstance(values, str):
            out.append(f"{field}={values}")
            continue
        if isinstance(values, (int, float, bytes, bytearray, Mapping)) or values is None:
            raise TypeError(f"{field}: a list of values, or text such as '1..8'")
        out.append(f"{field}={','.join(_axis_value(value) for value in values)}")
    return out


def _axis_value(value: Any) -> str:
    # Words stand bare, as people type them; whatever else is JSON.
    import re

    words = value not in ("null", "true", "false")
    if isinstance(value, str) and words and re.fullmatch(r"[0-9]*[A-Za-z_][\w.:+-]*", value):
        return value
    return json_text(value)


def threads_of(threads: Optional[int]) -> int:
    """0: as many as the machine runs at once."""
    if threads is None:
        return 0
    count = whole("threads", threads, 1, most_threads)
    return count


def whole(name: str, value: int, least: int, most: int) -> int:
    """A whole number in that range, both ends included."""
    if isinstance(value, bool):
        raise TypeError(f"{name} must be a whole number")
    import operator

    number = operator.index(value)
    if not least <= number <= most:
        raise ValueError(f"{name} must be from {least} to {most}, not {number}")
    return number


def share(name: str, value: float) -> float:
    """From 0 up to 1."""
    if isinstance(value, (str, bytes, bytearray)):
        raise TypeError(f"{name} must be a number, not {type(value).__name__}")
    number = float(value)
    if not 0 <= number < 1:
        raise ValueError(f"{name} must be a share from 0 up to 1, not {value}")
    return number


def text(name: str, value: Optional[str]) -> str:
    """Text; None is none."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise TypeError(f"{name} must be text, not {type(value).__name__}")
    return value


def flag(name: str, value: bool) -> bool:
    """True or False, and nothing that only looks like one."""
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
        return bool(value)
    raise TypeError(f"{name} must be True or False, not {value!r}")


def field_name(field: str) -> str:
    """The name of a field, as changes give it."""
    if not isinstance(field, str):
        raise TypeError("fields are named by text, e.g. \"strategy.tp\"")
    if "=" in field or not field:
        raise ValueError(f"no field is called {field!r}")
    return field
