"""Trainyard: how long a training step takes, where the time goes, and whether it fits.

>>> import trainyard
>>> s = trainyard.Scenario.load(trainyard.data_dir() / "scenarios/llama3-8b-h100-8.json")
>>> s.strategy.zero = 2
>>> result = trainyard.simulate(s)
>>> print(result)  # doctest: +ELLIPSIS
Llama-3.1-8B on 8 x H100-SXM5-80GB
...
>>> result.to_dict()["fits"]
True

Input that is wrong raises :class:`InputError`, whose ``problems`` lists all of it.
"""

import atexit as _atexit
import os as _os

from . import _core

_data = _os.path.join(_os.path.dirname(__file__), "data")
if _os.path.isdir(_data):
    _core.set_data_dir(_data)
_os.register_at_fork(after_in_child=_core.after_fork)
_atexit.register(_core.end_calls)

from .catalogue import (  # noqa: E402
    Topology,
    data_dir,
    devices,
    model,
    models,
    profile,
    profiles,
    schema,
    software,
    topologies,
    topology,
)
from .errors import (  # noqa: E402
    InputError,
    Interrupted,
    Problem,
    StuckError,
    TrainyardError,
    WorldError,
)
from .evaluation import Evaluated, Evaluation, evaluate  # noqa: E402
from .fits import Fit, fit  # noqa: E402
from .imports import (  # noqa: E402
    FirstScenario,
    ImportedJob,
    first_scenario,
    import_job,
    import_trace,
)
from .plans import Plan, Sweep, plan, sweep  # noqa: E402
from .results import Answer, Result  # noqa: E402
from .scenario import Scenario  # noqa: E402
from .section import Section  # noqa: E402
from .studies import Memory, check, compare, memory, simulate, validate  # noqa: E402
from .table import Table  # noqa: E402
from .timeline import Timeline  # noqa: E402

__version__ = _core.version()


def __getattr__(name: str) -> object:
    if name == "plots":
        from importlib import import_module

        return import_module(".plots", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "Answer",
    "Evaluated",
    "Evaluation",
    "FirstScenario",
    "Fit",
    "ImportedJob",
    "InputError",
    "Interrupted",
    "Memory",
    "Plan",
    "Problem",
    "Result",
    "Scenario",
    "Section",
    "StuckError",
    "Sweep",
    "Table",
    "Timeline",
    "Topology",
    "TrainyardError",
    "WorldError",
    "check",
    "compare",
    "data_dir",
    "devices",
    "evaluate",
    "first_scenario",
    "fit",
    "import_job",
    "import_trace",
    "memory",
    "model",
    "models",
    "plan",
    "profile",
    "profiles",
    "schema",
    "simulate",
    "software",
    "sweep",
    "topologies",
    "topology",
    "validate",
]
