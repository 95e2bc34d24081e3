"""One rank that times PyTorch's kernels while the others do the same; rank 0 prints the times.

ranks.py starts it. Sizes are none of networks.py. What is timed is what autograd calls: results are
allocated anew.
"""

import itertools
import json
import socket
import time

import rank_setup  # before torch: it sets the threads
import torch
import torch.distributed as dist
from networks_of_torch import Perceptron, masked_softmax
from rank_setup import middle, seconds_of, slowest
from torch import nn
from torch.nn import functional

ROWS = SIDES = (32, 128, 512, 2048)
MEMORY = 16 << 20  # elements: 64 MiB, beyond the caches
TOKENS, HIDDEN, VOCABULARY = 512, 512, 8192  # of a decoder, and a layer of a perceptron
SEQUENCES, HEADS, LENGTH = 4, 8, 128
MATRICES, SIDE = 16, 1024  # whose update is timed
BUCKETS, BUCKET = 6, 2 << 20  # elements: 8 MiB


def products():
    """Forward, input's and weights' gradient of a layer are three orders of one shape."""
    times = []
    for m, n, k in itertools.product(ROWS, SIDES, SIDES):
        left, right = torch.randn(m, k), torch.randn(k, n)
        by_columns, by_rows = torch.randn(k, m).t(), torch.randn(n, k).t()
        for a, b in ((left, by_rows), (left, right), (by_columns, right)):
            times.append({"m": m, "n": n, "k": k,
                          "seconds": seconds_of(lambda a=a, b=b: torch.mm(a, b), batches=7)})
    return times


def memory():
    """A sum in place, of 12 bytes per element."""
    x, y = torch.randn(MEMORY), torch.randn(MEMORY)
    return {"bytes": 12 * MEMORY, "seconds": seconds_of(lambda: y.add_(x))}


def both_ways(function, *inputs):
    """Forward, and backward to all inputs."""
    inputs = [x.detach().requires_grad_() for x in inputs]
    output = function(*inputs)
    changes = torch.randn_like(output) if output.dim() else torch.ones_like(output)
    forward = seconds_of(lambda: function(*inputs))
    backward = seconds_of(
        lambda: torch.autograd.grad(output, inputs, changes, retain_graph=True))
    return forward, backward


def added(*series):
    return [sum(times) for times in zip(*series)]


def spread_and_sum(width):
    """What biases cost: written under a product's result, and summed over its changes."""
    outputs, bias = torch.empty(TOKENS, width), torch.randn(width)
    return added(seconds_of(lambda: outputs.copy_(bias)), seconds_of(lambda: outputs.add_(bias)),
                 seconds_of(lambda: outputs.sum(0)))


def perceptron_layer():
    """Beside its products."""
    seconds = added(spread_and_sum(HIDDEN),
                    *both_ways(functional.relu, torch.randn(TOKENS, HIDDEN)))
    return {"elements": TOKENS * HIDDEN, "seconds": seconds}


def decoder_layer():
    """Beside its products and the square of attention."""
    x, y = torch.randn(TOKENS, HIDDEN), torch.randn(TOKENS, HIDDEN)
    parted = torch.randn(TOKENS // LENGTH, HEADS, LENGTH, HIDDEN // HEADS)
    norm = both_ways(lambda x: functional.layer_norm(x, (HIDDEN,)), x)
    add = seconds_of(lambda: x + y)
    copy = seconds_of(lambda: parted.transpose(1, 2).contiguous())
    seconds = added(*norm * 2, *[add] * 4,  # residuals, and backward the sums where they part
                    *both_ways(functional.gelu, torch.randn(TOKENS, 4 * HIDDEN)),
                    *[copy] * 8,  # queries, keys, values and results, and their changes
                    *[spread_and_sum(width * HIDDEN) for width in (3, 1, 4, 1)])
    return {"elements": TOKENS * HIDDEN, "seconds": seconds}


def attention():
    width = HIDDEN // HEADS
    mask = torch.ones(LENGTH, LENGTH, dtype=torch.bool).triu(1)
    scores = torch.randn(SEQUENCES, HEADS, LENGTH, LENGTH)
    forward, backward = both_ways(lambda x: masked_softmax(x, width, mask), scores)
    q, k = (torch.randn(SEQUENCES, HEADS, LENGTH, width) for _ in range(2))
    batched = added(seconds_of(lambda: q @ k.transpose(-2, -1)), seconds_of(lambda: scores @ k))
    rows = SEQUENCES * HEADS * LENGTH
    q, k, scores = (torch.randn(rows, width), torch.randn(LENGTH, width),
                    torch.randn(rows, LENGTH))
    flat = added(seconds_of(lambda: q @ k.t()), seconds_of(lambda: scores @ k))
    return {"elements": rows * LENGTH, "forward": forward, "backward": backward,
            "products": batched, "products_as_one": flat}


def loss():
    targets = torch.randint(VOCABULARY, (TOKENS,))
    forward, backward = both_ways(lambda x: functional.cross_entropy(x, targets),
                                  torch.randn(TOKENS, VOCABULARY))
    return {"elements": TOKENS * VOCABULARY, "forward": forward, "backward": backward}


def update():
    """With the gradients' memory: backward takes it from the system, which zeroes it, and hands it
    back after the update, in every step. What fills it is part of the products."""
    parameters = [nn.Parameter(torch.randn(SIDE, SIDE)) for _ in range(MATRICES)]
    optimizer = torch.optim.SGD(parameters, lr=0.01, momentum=0.9)
    made = torch.randn(MATRICES, SIDE, SIDE)

    def step():
        for parameter in parameters:
            parameter.grad = torch.empty(SIDE, SIDE).fill_(0.1)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    filling = middle(seconds_of(lambda: made.fill_(0.1)))["median"]
    return {"parameters": MATRICES * SIDE * SIDE,
            "seconds": [seconds - filling for seconds in seconds_of(step)]}


def beside(batches=9):
    """Products beside sums of gradients, each without pause: the share of their rate that products
    lose, and the sums' time by that alone."""
    left, right = torch.randn(SIDE, SIDE), torch.randn(SIDE, SIDE)
    buckets = [torch.zeros(BUCKET) for _ in range(BUCKETS)]

    def start():
        return [dist.all_reduce(bucket, async_op=True) for bucket in buckets]

    def wait(sums):
        for one in sums:
            one.wait()

    product = middle(seconds_of(lambda: torch.mm(left, right)))["median"]
    alone = middle(seconds_of(lambda: wait(start())))["median"]
    lost, longer = [], []
    for _ in range(batches):
        dist.barrier()
        began, count = time.perf_counter(), 0
        sums = start()
        while not all(one.is_completed() for one in sums):
            torch.mm(left, right)
            count += 1
        taken = time.perf_counter() - began
        wait(sums)
        lost.append(1 - count * product / taken)
        longer.append(taken / alone)
    return {"lost": [max(0.0, share) for share in slowest(lost)],
            "longer": [max(1.0, times) for times in slowest(longer)]}


def calls():
    """Host time of a layer whose work is nothing: a step of few layers against one of many."""
    out = {}
    for layers in (2, 42):
        network = Perceptron([4] * (layers + 1))
        optimizer = torch.optim.SGD(network.parameters(), lr=0.01, momentum=0.9)
        samples, targets = torch.randn(2, 4), torch.rand(2, 4)

        def forward(network=network, samples=samples, targets=targets):
            return network.loss(network(samples), targets)

        def step(forward=forward, optimizer=optimizer):
            forward().backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)

        lost, parameters = forward(), list(network.parameters())
        backward = seconds_of(lambda lost=lost, parameters=parameters: torch.autograd.grad(
            lost, parameters, retain_graph=True))
        out[layers] = {"forward": seconds_of(forward), "backward": backward,
                       "step": seconds_of(step)}
    return out


def main():
    rank = rank_setup.meet()
    began = time.gmtime()
    result = {**rank_setup.versions(), "host": socket.gethostname(),
              "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", began), "products": products(),
              "memory": memory(), "perceptron_layer": perceptron_layer(),
              "decoder_layer": decoder_layer(), "attention": attention(), "loss": loss(),
              "update": update(), "beside": beside(), "calls": calls()}
    if rank == 0:
        print(json.dumps(result))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
