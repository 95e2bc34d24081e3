"""mypy, strictly, over the package and its stub:   types_hold.py CACHE

Ends with 77 where mypy is not installed.
"""

import importlib.util
import subprocess
import sys

if importlib.util.find_spec("mypy") is None or importlib.util.find_spec("numpy") is None:
    print("mypy or NumPy is not installed")
    sys.exit(77)
sys.exit(subprocess.run([sys.executable, "-m", "mypy", "--cache-dir", sys.argv[1]]).returncode)
