"""The decision table of scenarios/COMPARED.md: which strategy fits which device."""

from concurrent.futures import ThreadPoolExecutor

from runs import per_cent, simulate, step

# Memory of the device; case, what guides recommend, strategies.
DEVICES = [("16 GB", "dgx1-v100-16gb"), ("24 GB", "pcie-rtx4090-8"), ("40 GB", "dgx-a100-40gb"), ("80 GB", "dgx-a100")]
CASES = [
    ("resnet50", "ResNet-50, 8 GPUs", "DDP: it fits, and is simple",
     ["ddp", "zero1", "zero2", "zero3"]),
    ("gpt2-xl", "GPT-2 1.5B, 4 GPUs", "FSDP: moderate, needs sharding",
     ["ddp", "zero1", "zero2", "zero3", "pp4"]),
    ("llama-7b", "LLaMA 7B, 8 GPUs", "ZeRO-3, perhaps with offload: large for the memory",
     ["ddp", "zero1", "zero2", "zero3", "zero3-offload", "tp8", "pp8", "3d"]),
    ("llama-70b", "LLaMA 70B, 64 GPUs", "tensor, pipeline and data parallel: needs all",
     ["ddp", "zero1", "zero2", "zero3", "zero3-offload", "tp8", "pp8", "3d"]),
    ("llama-7b-lora", "fine-tuning LLaMA 7B, 8 GPUs", "FSDP with LoRA: memory",
     ["full-ddp", "full-zero3", "lora-ddp", "lora-zero3"]),
]
TITLES = {
    "ddp": "DDP", "zero1": "ZeRO-1", "zero2": "ZeRO-2", "zero3": "ZeRO-3 / FSDP",
    "zero3-offload": "ZeRO-3, optimizer in host memory", "pp4": "pipeline of 4",
    "tp8": "tensor parallel 8", "pp8": "pipeline of 8", "3d": "3-D", "full-ddp": "all parameters, DDP",
    "full-zero3": "all parameters, ZeRO-3", "lora-ddp": "LoRA, DDP", "lora-zero3": "LoRA, ZeRO-3",
}


def cell(case, strategy, node):
    result = simulate(f"scenarios/decision/{case}/{strategy}.json", f"topology.node={node}")
    peak = result["memory_bytes"]["peak"] / 1e9
    return result["fits"], f"{peak:.1f} GB" + ("" if result["fits"] else ", no")


def verdict(fits):
    """A sentence on what the rule says and what fits, per device memory."""
    sentences = []
    for memory, names in fits.items():
        simplest = TITLES[names[0]] if names else None
        sentences.append(f"{memory}: {simplest or 'nothing here fits'}")
    return "The first of these to fit: " + "; ".join(sentences) + "."


def decision_table():
    cells_of = [(case, strategy, node) for case, _, _, strategies in CASES for strategy in strategies
                for _, node in DEVICES]
    with ThreadPoolExecutor() as pool:
        known = dict(zip(cells_of, pool.map(lambda of: cell(*of), cells_of)))
    lines = []
    for case, title, advice, strategies in CASES:
        fits = {memory: [] for memory, _ in DEVICES}
        lines += ["", f"### {title}", "", f"Guides: {advice}.", ""]
        lines += ["| | " + " | ".join(memory for memory, _ in DEVICES) + " |", "|---|" + "---|" * len(DEVICES)]
        for strategy in strategies:
            cells = []
            for memory, node in DEVICES:
                good, text = known[case, strategy, node]
                cells.append(text)
                if good:
                    fits[memory].append(strategy)
            lines.append(f"| {TITLES[strategy]} | " + " | ".join(cells) + " |")
        lines += ["", verdict(fits), REASONS[case]()]
    return lines


def speed_of_seventy_billion():
    three, cut = (step(f"scenarios/decision/llama-70b/{name}.json") for name in ("zero3", "3d"))
    return (
        f"ZeRO-3 fits as well where its gathered layers do: states are 1/64 each. The three together take {three / cut:.1f} times "
        "less time for a step on A100 and InfiniBand (ZeRO-3 gathers all parameters over the network in every pass): they are "
        "chosen for speed and the smallest memory, not because nothing else fits."
        if three > cut else
        f"ZeRO-3 fits as well where its gathered layers do: states are 1/64 each; and its step takes {per_cent(1 - three / cut)} less "
        "time than that of the three together here: they are chosen for their smaller memory and for larger clusters."
    )


# By case: a sentence where our answer differs, or why it does not.
REASONS = {
    "resnet50": lambda: "As the guides say: 25 million parameters need no sharding on any of these.",
    "gpt2-xl": lambda: "The guides' advice is for 24 GB. With 40 GB cutting optimizer states is enough, and with 80 GB DDP, which "
                       "is simpler, fits; with 16 GB even shards leave too little room for a micro-batch of 4. Its 25 heads leave "
                       "no tensor parallel size for 2 or 4 GPUs.",
    "llama-7b": lambda: "As the guides say: sharding alone is enough from 40 GB on, with offload 16 GB are. DDP fits nowhere.",
    "llama-70b": speed_of_seventy_billion,
    "llama-7b-lora": lambda: "As the guides say for small devices. Frozen parameters need neither gradients nor optimizer states, "
                             "so with 40 GB LoRA fits under plain DDP, and ZeRO-3 trains all parameters.",
}
