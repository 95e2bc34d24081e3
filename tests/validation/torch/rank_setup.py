"""One rank of PyTorch: its threads, its clock, its group (from the variables of torchrun)."""

import os
import statistics
import sys
import time

# A core per rank. Libraries read these when they are loaded.
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"

try:
    import torch
    import torch.distributed as dist
except ImportError as error:
    sys.exit(f"PyTorch cannot be loaded ({error}): pip install torch, or Debian's python3-torch")
if not dist.is_available() or not dist.is_gloo_available():
    sys.exit(f"this PyTorch ({torch.__version__}) was built without Gloo: install one with it, as "
             "those of PyPI and Debian are")

torch.set_num_threads(1)


def versions():
    """Of PyTorch, and which library multiplies matrices for it."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        files = {os.path.basename(os.path.realpath(line.split()[-1]))
                 for line in maps if "/" in line and ".so" in line}
    blas = sorted(name for name in files
                  if any(word in name for word in ("openblas", "mkl_core", "blis", "libblas")))
    return {"torch": torch.__version__, "blas": ", ".join(blas) or "in PyTorch itself"}


def meet():
    """This rank's number, once all ranks are there."""
    dist.init_process_group("gloo", init_method="env://")
    return dist.get_rank()


def slowest(seconds):
    """Of each of these times, the slowest rank's."""
    times = torch.tensor(seconds, dtype=torch.float64)
    dist.all_reduce(times, op=dist.ReduceOp.MAX)
    return times.tolist()


def seconds_of(work, shortest=0.01, batches=9):
    """Times of one call of `work` on all ranks at once: a batch each, the slowest rank's."""
    work()
    began = time.perf_counter()
    work()
    once = slowest([time.perf_counter() - began])[0]
    calls = max(1, round(shortest / once))
    times = []
    for _ in range(batches):
        dist.barrier()
        began = time.perf_counter()
        for _ in range(calls):
            work()
        times.append((time.perf_counter() - began) / calls)
    return slowest(times)


def middle(seconds):
    """Median and quarters."""
    low, median, high = statistics.quantiles(seconds, n=4, method="inclusive")
    return {"low": low, "median": median, "high": high}
