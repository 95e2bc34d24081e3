"""Rows of scenarios/COMPARED.md: figures that guides quote and what the program says instead.

Each returns topic, what guides quote, ours, the command's arguments behind it, why they differ.
"""

import sys

from runs import gigabytes, gigabytes_per_s, per_cent, run, simulate, step


def states(result):
    """Parameters, gradients and optimizer states of the fullest stage, in bytes."""
    kinds = result["memory_bytes"]["stages"][result["memory_bytes"]["fullest_stage"]]["kinds"]
    return {kind: kinds.get(kind, 0) for kind in ("parameters", "gradients", "optimizer")}


def cluster_rate(result, collective):
    for row in result["cluster_collectives"]:
        if row["collective"] == collective:
            return row["bus_bandwidth_bytes_per_s"]
    sys.exit(f"no {collective} among the cluster's collectives")


def collective(result, group):
    return next(row for row in result["collectives"] if row["group"] == group)


def data_share(result):
    return result["breakdown_s"]["mean"]["data"] / result["step_time_s"]


def overlap():
    beside = step("scenarios/ddp-overlap.json")
    after = step("scenarios/ddp-no-overlap.json")
    small = [step("scenarios/ddp-nccl.json", f"strategy.overlap.dp={on}") for on in ("true", "false")]
    return (
        "gradients reduced beside the backward pass, against after it",
        "20 to 50 % faster iterations; elsewhere 10 to 20 %",
        f"{per_cent(after / beside - 1)} faster over 100 Gb/s, {per_cent(small[1] / small[0] - 1)} inside an NVLink node",
        "compare scenarios/ddp-overlap.json scenarios/ddp-no-overlap.json",
        "Overlap is not free: transfers take SMs and memory bandwidth from the compute beside them, so the step is "
        "longer than the longer of the two; and where gradients take little time there is little to hide.",
    )


def single_process():
    separate = step("scenarios/bert-large-ddp-8.json")
    one = step("scenarios/bert-large-dataparallel-8.json")
    return (
        "DDP against single-process DataParallel, 8 GPUs",
        "3 to 5 times",
        f"{one / separate:.1f} times",
        "compare scenarios/bert-large-ddp-8.json scenarios/bert-large-dataparallel-8.json",
        "One process launches the kernels of all GPUs, sends them the parameters in every step and gathers on the first; how "
        "much that costs depends on how long a GPU works between launches.",
    )


def gloo():
    nccl, slow = simulate("scenarios/ddp-nccl.json"), simulate("scenarios/ddp-gloo.json")
    ucx = simulate("scenarios/ddp-nccl.json", "strategy.backends.dp=ucx")
    rates = [collective(r, "dp")["algorithm_bandwidth_bytes_per_s"] for r in (nccl, slow, ucx)]
    return (
        "NCCL against Gloo and UCX",
        "5 to 20 times; NCCL about 100 GB/s, Gloo 1 to 10 GB/s over TCP; in one table 95.2, 2.1 and, with UCX, 89.7 GB/s",
        f"step {slow['step_time_s'] / nccl['step_time_s']:.0f} times, all-reduce {rates[0] / rates[1]:.0f} times: "
        f"{gigabytes_per_s(rates[0])} against {gigabytes_per_s(rates[1])}; UCX {gigabytes_per_s(rates[2])}",
        "compare scenarios/ddp-nccl.json scenarios/ddp-gloo.json",
        "Eight processes of one node share the host's socket path, and buckets of 25 MiB stay short of NCCL's best; "
        "what the step loses depends on how much of it is communication. Our UCX rests on data sheets, no measured all-reduce: "
        "that it comes out ahead of NCCL here is not to be relied on.",
    )


def communicators():
    every, once = simulate("scenarios/communicators-every-iteration.json"), simulate("scenarios/ddp-nccl.json")
    return (
        "communicators made anew in every iteration",
        "1 to 10 s each time",
        f"{every['step_time_s'] - once['step_time_s']:.1f} s for one of 8 ranks",
        "compare scenarios/communicators-every-iteration.json scenarios/ddp-nccl.json",
        "The quoted times are for more ranks, groups and nodes as well.",
    )


def crossover(pair):
    """Largest size at which symmetric memory is the faster, in bytes; None: at every size."""
    sizes = run("compare", f"scenarios/{pair}-nccl.json", f"scenarios/{pair}-nvshmem.json")
    faster = sizes["crossovers"][0]["faster"]
    later = [entry["from_bytes"] for entry in faster if entry["backend"] == "nccl"]
    return later[0] if later else None


def pairs():
    rate = collective(simulate("scenarios/handoff-nccl.json", "training.sequence_length=8192"), "pp")
    return (
        "a pair of GPUs in a node, one way",
        "250 GB/s over NVLink (245 and 240 in other tables), P2P 250 GB/s per link; below 230 GB/s replace cables",
        f"H100: {gigabytes_per_s(rate['algorithm_bandwidth_bytes_per_s'])} for messages of 64 MiB between pipeline stages",
        "simulate scenarios/handoff-nccl.json --set training.sequence_length=8192 --json",
        "No difference worth a sentence; but it is what NCCL's send and receive reach, not the 450 GB/s of the links, and a node "
        "with NVSwitch has no cables to replace.",
    )


def p2p_off():
    on, off = (simulate("scenarios/ddp-nccl.json", f"environment.NCCL_P2P_DISABLE=\"{value}\"") for value in (0, 1))
    rates = [collective(r, "dp")["algorithm_bandwidth_bytes_per_s"] for r in (on, off)]
    return (
        "P2P disabled (NCCL_P2P_DISABLE=1)",
        "falls back to PCIe, 10 times slower",
        f"all-reduce {rates[0] / rates[1]:.0f} times slower ({gigabytes_per_s(rates[1])}), step {off['step_time_s'] / on['step_time_s']:.1f} times",
        "simulate scenarios/ddp-nccl.json --set environment.NCCL_P2P_DISABLE=1",
        "Eight A100 lose NVLink of 300 GB/s each and copy into host memory and out of it over PCIe 4 (25 GB/s a slot); "
        "the step loses as much as it has communication to wait for.",
    )


def messages():
    def time(backend, tokens):
        changes = [f"training.sequence_length={tokens}"]
        return 1e6 * collective(simulate(f"scenarios/handoff-{backend}.json", *changes), "pp")["mean_time_s"]
    sizes = [(1, "8 KiB"), (16, "128 KiB")]
    ours = "; ".join(f"{name} {time('nvshmem', n):.1f} / {time('nccl', n):.1f} us" for n, name in sizes)
    return (
        "one message, NVSHMEM / NCCL",
        "put of 1 KB below 1 us / 12 us; 100 KB 45 / 60 us; pipeline hand-off below 5 us / 50 us",
        f"{ours} (between pipeline stages of H100)",
        "simulate scenarios/handoff-nvshmem.json --set training.sequence_length=1 --json",
        "The small ones agree. 100 KB in 45 us are 2 GB/s, less than a hundredth of what NVLink carries: such a time is that of the software "
        "around the message.",
    )


def patterns():
    sums = [simulate(f"scenarios/tp-sums-{name}.json")["communication_exposed_fraction"] for name in ("nvshmem", "nccl")]
    gradients = [1e6 * collective(simulate(f"scenarios/gradients-{name}.json"), "dp")["mean_time_s"] for name in ("nvshmem", "nccl")]
    bubbles = [simulate(f"scenarios/handoff-{name}.json")["bubble_share"] for name in ("nvshmem", "nccl")]
    return (
        "what NVSHMEM makes of a step, against NCCL",
        "TP overhead below 5 % / about 15 %; small gradient sync below 100 us / 500 us; bubble below 10 % / 20 %",
        f"TP overhead {per_cent(sums[0])} / {per_cent(sums[1])}; gradient buckets from 1 MiB on {gradients[0]:.0f} / {gradients[1]:.0f} us each; "
        f"bubble {per_cent(bubbles[0])} / {per_cent(bubbles[1])}",
        "compare scenarios/handoff-nccl.json scenarios/handoff-nvshmem.json",
        "Sums weigh more here because sequences are short (128 tokens over 8 GPUs). A bubble is the time other stages compute: "
        "quicker messages hardly shorten it; more micro-batches or even stages do.",
    )


def nvshmem():
    sums = crossover("tp-sums")
    changes = []
    for pair in ("gradients", "tp-sums", "handoff"):
        nccl, shared = (step(f"scenarios/{pair}-{name}.json") for name in ("nccl", "nvshmem"))
        changes.append(per_cent(nccl / shared - 1))
    return (
        "NVSHMEM against NCCL",
        "all-reduce 1 KB 5 / 15 us, 1 MB 200 / 150 us, 100 MB 830 / 715 us: below 1 KB one-sided, below 1 MB consider it",
        f"faster up to {sums / 1e6:.0f} MB of an all-reduce over 8 GPUs; steps with small gradients, tensor-parallel sums and "
        "hand-offs {}, {} and {} faster".format(*changes),
        "compare scenarios/tp-sums-nccl.json scenarios/tp-sums-nvshmem.json",
        "A switch that adds up what GPUs read from each other keeps its lead to larger sizes than quoted; but a step gains only "
        "what it waits for, which is little where launches or bubbles set the pace.",
    )


def scaling():
    rates = {}
    for gpus in (1, 2, 4, 8):
        rates[gpus] = simulate(
            "scenarios/bert-large-ddp-8.json", f"strategy.dp={gpus}", f"training.global_batch={8 * gpus}"
        )["samples_per_s"]
    mixed = simulate(
        "scenarios/bert-large-ddp-8.json", "strategy.dp=2", "strategy.tp=2", "strategy.pp=2",
        "training.global_batch=64", "software.framework=megatron-core",
    )["samples_per_s"]
    text = ", ".join(f"{rate:.0f}" for rate in rates.values())
    efficiency = ", ".join(per_cent(rates[n] / n / rates[1]) for n in (2, 4, 8))
    return (
        "scaling on 1, 2, 4, 8 GPUs of a node, samples/s",
        "120, 230, 440, 840 (96, 92, 87.5 %); TP 2 x PP 2 x DP 2 780 (81 %)",
        f"{text} ({efficiency}); TP 2 x PP 2 x DP 2 {mixed:.0f} ({per_cent(mixed / 8 / rates[1])})",
        "simulate scenarios/bert-large-ddp-8.json --set strategy.dp=4 --set training.global_batch=32",
        "The model behind the quoted rates is not named; ours is BERT-large with 8 sequences per GPU. Inside an NVLink "
        "node gradients hide better than quoted, while a small model cut by TP and PP loses more.",
    )


def node_collectives():
    result = simulate("scenarios/llama3-8b-h100-8.json")
    names = ("all_gather", "reduce_scatter", "broadcast", "all_to_all", "all_reduce")
    rates = {name: cluster_rate(result, name) for name in names}
    ours = ", ".join(f"{name.replace('_', '-')} {rate / 1e9:.0f}" for name, rate in rates.items())
    return (
        "collectives of 1 GB in a node of 8 GPUs, GB/s",
        "all-gather 285, reduce-scatter 270, broadcast 310, all-to-all 185 per GPU, all-reduce \"1400+\"",
        f"H100: {ours} (bus bandwidth, 1 GiB)",
        "simulate scenarios/llama3-8b-h100-8.json --json",
        "1400 GB/s is more than eight GPUs' links carry for one all-reduce (450 GB/s each): such a figure adds up GPUs. "
        "The others are those of published sweeps of H100 nodes, to which ours are fitted.",
    )


def across_nodes():
    rates = []
    for name in ("hdr", "roce"):
        rates.append(simulate(f"scenarios/two-nodes-{name}.json")["node_to_node"]["bandwidth_bytes_per_s"])
    rack = simulate("scenarios/llama3-405b-gb200-nvl72.json", "topology=../topologies/gb300-nvl72-8racks.json")["links"]
    nic = next(row["capacity_bytes_per_s"] for row in rack if row["name"].startswith("NIC"))
    return (
        "across nodes, per NIC",
        "HDR 200 Gb/s about 23 GB/s, RoCE 100 Gb/s about 11 GB/s; 800 Gb/s InfiniBand for GB200 (\"800 GB/s\" in one place)",
        f"{gigabytes_per_s(rates[0])} and {gigabytes_per_s(rates[1])} per GPU; 800 Gb/s: {gigabytes_per_s(nic)} line rate",
        "simulate scenarios/two-nodes-hdr.json",
        "Line rates are 25 and 12.5 GB/s. The quoted rates are those of one pair of NICs (92 and 88 % of the line); ours are what "
        "a collective library keeps up with all GPUs sending at once, each with its NIC. 800 Gb/s are 100 GB/s: the other figure "
        "mixes bits and bytes.",
    )


def nvlink():
    rates = []
    for node in ("v100", "a100", "h100", "b200"):
        links = simulate("scenarios/llama3-8b-h100-8.json", f"topology=../topologies/{node}-1x8.json")["links"]
        rates.append(2 * next(row["capacity_bytes_per_s"] for row in links if row["name"].startswith("NVLink")))
    return (
        "NVLink per GPU, both directions",
        "160 GB/s (1.0) to 900 GB/s (4.0) and 1.8 TB/s (5.0: 18 x 100 GB/s); domains of up to 72 GPUs",
        "V100 {}, A100 {}, H100 {}, B200 {}; 72 GPUs in GB200 NVL72".format(*map(gigabytes_per_s, rates)),
        "simulate scenarios/llama3-8b-h100-8.json --set topology=../topologies/b200-1x8.json --json",
        "No difference; devices with NVLink 1.0 are not known here.",
    )


def memory_of_states():
    base = "scenarios/decision/llama-7b/"
    ddp, three = simulate(base + "ddp.json"), simulate(base + "zero3.json")
    parts = [sum(states(simulate(base + f"{name}.json")).values()) for name in ("ddp", "zero1", "zero2", "zero3")]
    return (
        "states of 7 B parameters, mixed-precision Adam",
        "112 GB in DDP; ZeRO-1 to 3 divide optimizer, gradients, parameters in turn",
        "DDP {}, ZeRO-1 {}, ZeRO-2 {}, ZeRO-3 {} on 8 GPUs".format(*map(gigabytes, parts)),
        "compare " + " ".join(base + f"{name}.json" for name in ("ddp", "zero1", "zero2", "zero3")),
        f"The quoted 112 GB are 16 bytes for each of 7.0 B parameters; this model has 6.74 B "
        f"({gigabytes(states(ddp)['parameters'])} of 16-bit parameters). DeepSpeed, which the ZeRO runs are, sums gradients in "
        f"fp32 here: 18 bytes in all, of which ZeRO-3 keeps an eighth, {gigabytes(sum(states(three).values()))}, and gathers layers on top.",
    )


def data_loading():
    naive = simulate("scenarios/resnet50-naive-loader.json")
    augmented = simulate("scenarios/resnet50-naive-loader.json", "data.decode_rate=150")
    good = simulate("scenarios/resnet50-loader.json")
    return (
        "data loading, images, naive loader",
        "up to 94 % of the epoch in data processing",
        f"{per_cent(data_share(naive))} when a process decodes its own JPEGs, {per_cent(data_share(augmented))} with "
        f"augmentation at 150 images/s; {per_cent(data_share(good))} with raw images read ahead",
        "compare scenarios/resnet50-naive-loader.json scenarios/resnet50-loader.json",
        "The share is whatever the GPU leaves: a slower GPU or a larger model waits less for the same loader.",
    )


ROWS = [overlap, single_process, gloo, communicators, nvshmem, messages, patterns, scaling, node_collectives, pairs, p2p_off,
        across_nodes, nvlink, memory_of_states, data_loading]
