"""What DistributedDataParallel trains, and the same as scenarios of the simulator."""

import configurations as loop  # tests/validation/loop

MEBI = 1 << 20


def perceptron(widths):
    return {"kind": "perceptron", "widths": widths}


def decoder(hidden, layers, heads, sequence, vocabulary):
    return {"kind": "decoder", "hidden": hidden, "layers": layers, "heads": heads,
            "sequence": sequence, "vocabulary": vocabulary}


def _configuration(name, network, batch, bucket, accumulate=1):
    return {"name": name, "network": network, "batch": batch, "bucket": bucket,
            "accumulate": accumulate}


_EVEN = perceptron([1536] * 5)
_UNEVEN = perceptron([1152, 1920, 1920, 1536, 960])
_WIDE = perceptron([3072, 768, 3072, 768])
_DEEP = perceptron([896] * 11)
_SMALL = decoder(hidden=384, layers=6, heads=6, sequence=192, vocabulary=5000)
_BROAD = decoder(hidden=768, layers=2, heads=12, sequence=96, vocabulary=3000)

# Widths, batches and lengths are none that is timed for the profile (time_kernels.py). `batch`: of
# a rank at a time; `bucket`: MiB beside backward, 0: one all-reduce after it; `accumulate`:
# batches of a step, of which only the last exchanges gradients.
CONFIGURATIONS = [
    _configuration("4 x 1536, batch 96, 25 MiB", _EVEN, 96, 25),
    _configuration("4 x 1536, batch 96, 5 MiB", _EVEN, 96, 5),
    _configuration("4 x 1536, batch 96, 1 MiB", _EVEN, 96, 1),
    _configuration("4 x 1536, batch 96, after", _EVEN, 96, 0),
    _configuration("1152-1920-1920-1536-960, batch 160, 25 MiB", _UNEVEN, 160, 25),
    _configuration("1152-1920-1920-1536-960, batch 160, after", _UNEVEN, 160, 0),
    _configuration("3072-768-3072-768, batch 48, 5 MiB", _WIDE, 48, 5),
    _configuration("10 x 896, batch 320, 25 MiB", _DEEP, 320, 25),
    _configuration("10 x 896, batch 320, after", _DEEP, 320, 0),
    _configuration("10 x 896, 3 x batch 192, 5 MiB", _DEEP, 192, 5, accumulate=3),
    _configuration("decoder 6 x 384, batch 2, 25 MiB", _SMALL, 2, 25),
    _configuration("decoder 6 x 384, batch 2, after", _SMALL, 2, 0),
    _configuration("decoder 6 x 384, 2 x batch 2, 5 MiB", _SMALL, 2, 5, accumulate=2),
    _configuration("decoder 2 x 768, batch 3, 25 MiB", _BROAD, 3, 25),
    _configuration("decoder 2 x 768, batch 3, 1 MiB", _BROAD, 3, 1),
]

# What PyTorch's kernels read and write per element of a layer's output.
DENSE = {"memory_passes": 4,  # biases are spread, read by the product; clipping reads and writes
         "memory_passes_backward": 4,  # outputs and changes are read, changes written; biases' sum
         "kernels": 2, "kernels_backward": 4}
LOSS = {"memory_passes": 4,  # outputs and targets are read, squares written and summed
        "memory_passes_backward": 3, "kernels": 2, "kernels_backward": 1}


def model(configuration):
    network = configuration["network"]
    if network["kind"] == "perceptron":
        return loop.model({"name": "perceptron"} | network, DENSE, LOSS)
    return {"format": "trainyard.model/1", "name": "decoder",
            "transformer": {"hidden": network["hidden"], "layers": network["layers"],
                            "heads": network["heads"], "vocabulary": network["vocabulary"],
                            "max_positions": network["sequence"], "gated_mlp": False,
                            "norm": "layer_norm", "activation": "gelu", "position": "learned",
                            "linear_bias": True, "tied_embeddings": True}}


def samples_of_step(configuration, ranks):
    return configuration["batch"] * configuration["accumulate"] * ranks


def scenario(configuration, ranks, profile=None):
    """Everything in one object but the profile, whose path is written down as it is; without one
    the shipped constants of a core and of PyTorch's DDP."""
    network = configuration["network"]
    training = {"global_batch": samples_of_step(configuration, ranks),
                "micro_batch": configuration["batch"], "precision": "fp32", "optimizer": "sgd"}
    if network["kind"] == "decoder":
        training["sequence_length"] = network["sequence"]
    strategy = {"dp": ranks, "backend": "gloo", "overlap": {"dp": configuration["bucket"] > 0}}
    if configuration["bucket"]:
        strategy["bucket_cap"] = f"{configuration['bucket']} MiB"
    constants = {"profile": profile} if profile else {"software": {"framework": "pytorch-ddp"}}
    return {"format": "trainyard.scenario/1", "description": configuration["name"],
            "model": model(configuration), "training": training, "strategy": strategy,
            "topology": loop.topology(ranks)} | constants
