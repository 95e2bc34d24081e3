"""One rank that trains a configuration of networks.py with DistributedDataParallel; rank 0 prints
what steps took. ranks.py starts it.
"""

import argparse
import contextlib
import json
import time
import warnings

import rank_setup  # before torch: it sets the threads
import torch
import torch.distributed as dist
from networks_of_torch import build, draw_samples
from torch.nn.parallel import DistributedDataParallel


class Replica:
    """Buckets beside backward, as DDP has them; or gradients copied into one buffer after it."""

    def __init__(self, configuration, rank):
        torch.manual_seed(1)
        self.network = build(configuration["network"])
        self.parameters = list(self.network.parameters())
        self.optimizer = torch.optim.SGD(self.parameters, lr=0.01, momentum=0.9)
        self.accumulate = configuration["accumulate"]
        torch.manual_seed(1000 + rank)
        self.batches = [draw_samples(configuration["network"], configuration["batch"])
                        for _ in range(self.accumulate)]
        self.distributed = None
        if configuration["bucket"]:
            self.distributed = DistributedDataParallel(self.network,
                                                       bucket_cap_mb=configuration["bucket"])
        else:
            self.buffer = torch.empty(sum(p.numel() for p in self.parameters))
            self.parts = [part.view_as(p) for part, p in
                          zip(self.buffer.split([p.numel() for p in self.parameters]),
                              self.parameters)]

    def step(self):
        """Seconds of its parts. Backward holds what DDP does beside it and waits for."""
        times = {"forward": 0.0, "backward": 0.0, "waiting": 0.0, "update": 0.0}
        clock = time.perf_counter()

        def lap(part):
            nonlocal clock
            now = time.perf_counter()
            times[part] += now - clock
            clock = now

        for number, (samples, targets) in enumerate(self.batches, start=1):
            with self.exchange(number == self.accumulate):
                outputs = (self.distributed or self.network)(samples)
                loss = self.network.loss(outputs, targets)
                lap("forward")
                loss.backward()
                lap("backward")
        if not self.distributed:
            self.reduce()
        lap("waiting")
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.loss = loss.item()
        lap("update")
        return times

    def exchange(self, last):
        if last or not self.distributed:
            return contextlib.nullcontext()
        return self.distributed.no_sync()

    def reduce(self):
        for part, parameter in zip(self.parts, self.parameters):
            torch.mul(parameter.grad, 1 / dist.get_world_size(), out=part)
        dist.all_reduce(self.buffer)
        for part, parameter in zip(self.parts, self.parameters):
            parameter.grad.copy_(part)

    def parameters_agree(self):
        """On all ranks, bit by bit."""
        bits = torch.cat([p.detach().flatten() for p in self.parameters]).view(torch.int32)
        ends = torch.stack([bits, -bits]).to(torch.int64)
        dist.all_reduce(ends, op=dist.ReduceOp.MAX)
        return bool((ends[0] == -ends[1]).all())


def record(replica, count, file):
    """The steps under PyTorch's profiler; their trace goes to the file."""
    from torch.profiler import ProfilerActivity, profile, schedule
    steps = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with profile(activities=[ProfilerActivity.CPU], record_shapes=True,
                     schedule=schedule(wait=0, warmup=1, active=count),
                     on_trace_ready=lambda done: done.export_chrome_trace(file)) as profiler:
            for _ in range(count + 1):
                steps.append(replica.step())
                profiler.step()
    return steps[1:]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("configuration", type=json.loads)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--warm-up", type=int, default=3, help="steps before them")
    parser.add_argument("--trace", metavar="STEM",
                        help="record the steps with PyTorch's profiler, as STEM-RANK.json")
    options = parser.parse_args()
    rank = rank_setup.meet()
    replica = Replica(options.configuration, rank)
    losses = []
    for _ in range(options.warm_up):
        replica.step()
        losses.append(replica.loss)
    steps = (record(replica, options.steps, f"{options.trace}-{rank}.json") if options.trace
             else [replica.step() for _ in range(options.steps)])
    parts = {f"{part}_s": rank_setup.middle(rank_setup.slowest([step[part] for step in steps]))
             ["median"] for part in steps[0]}
    result = {"steps_s": rank_setup.slowest([sum(step.values()) for step in steps]), **parts,
              **rank_setup.versions(), "parameters": sum(p.numel() for p in replica.parameters),
              "first_loss": losses[0], "last_loss": replica.loss,
              "ranks_agree": replica.parameters_agree()}
    if rank == 0:
        print(json.dumps(result))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
