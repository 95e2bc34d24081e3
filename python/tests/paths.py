"""Where tests find what they need."""

from __future__ import annotations

import os
from pathlib import Path

root = Path(__file__).resolve().parents[2]
scenarios = root / "scenarios"
golden = root / "tests" / "golden" / "data"
program = os.environ.get("TRAINYARD_PROGRAM", str(root / "build/release/bin/trainyard"))
small = scenarios / "mlp-2-cpu-gloo.json"
main = scenarios / "llama3-8b-h100-8.json"
