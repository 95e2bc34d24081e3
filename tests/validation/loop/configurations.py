"""What is trained, as arguments of the loop and as scenarios of the simulator."""

import json

MEBI = 1 << 20


def _configuration(name, widths, batch, bucket=0, first=MEBI):
    return {"name": name, "widths": widths, "batch": batch, "bucket": bucket, "first": first}


_EVEN = [1536] * 5
_UNEVEN = [1152, 1920, 1920, 1536, 960]
_WIDE = [3072, 768, 3072, 768]
_DEEP = [896] * 11

# Widths, batches and sizes of all-reduces are none that calibration times. Parameters, gradients and
# momentum are larger than the caches, as are the memories that calibration works on. `bucket`:
# bytes, beside backward; 0: one all-reduce after it.
CONFIGURATIONS = [
    _configuration("4 x 1536, batch 96", _EVEN, 96),
    _configuration("4 x 1536, batch 96, buckets of 8 MiB", _EVEN, 96, 8 * MEBI),
    _configuration("4 x 1536, batch 96, buckets of 25 MiB", _EVEN, 96, 25 * MEBI),
    _configuration("1152-1920-1920-1536-960, batch 160", _UNEVEN, 160),
    _configuration("1152-1920-1920-1536-960, batch 160, 4 MiB", _UNEVEN, 160, 4 * MEBI),
    _configuration("3072-768-3072-768, batch 48", _WIDE, 48),
    _configuration("3072-768-3072-768, batch 48, 6 MiB", _WIDE, 48, 6 * MEBI),
    _configuration("10 x 896, batch 320", _DEEP, 320),
    _configuration("10 x 896, batch 320, 5 MiB", _DEEP, 320, 5 * MEBI),
]


def loop_arguments(configuration):
    arguments = ["--widths", ",".join(str(width) for width in configuration["widths"]),
                 "--batch", configuration["batch"]]
    if configuration["bucket"]:
        arguments += ["--overlap", "--bucket", configuration["bucket"],
                      "--first-bucket", configuration["first"]]
    return arguments


# The layers as the loop computes them (perceptron.h).
DENSE = {"memory_passes": 2,  # outputs are read, biased, clipped, written
         "memory_passes_backward": 3,  # outputs and changes are read, changes written
         "kernels": 2, "kernels_backward": 3}
LOSS = {"memory_passes": 3,  # outputs and targets are read, changes written
        "memory_passes_backward": 0, "kernels": 1, "kernels_backward": 0}


def model(configuration, dense=None, loss=None):
    """As a list of layers; `dense` and `loss`: passes and kernels other than the loop's."""
    widths = configuration["widths"]
    layers = [{"name": f"dense {i + 1}", "parameters": inputs * outputs + outputs,
               "rows": 1, "columns": outputs, "inner": inputs,
               "output_elements": outputs, "activation_elements": outputs} | (dense or DENSE)
              for i, (inputs, outputs) in enumerate(zip(widths, widths[1:]))]
    layers.append({"name": "loss", "output_elements": widths[-1], "activation_elements": 0}
                  | (loss or LOSS))
    return {"format": "trainyard.model/1", "name": configuration["name"],
            "layer_list": {"sample_elements": widths[0], "layers": layers}}


def topology(ranks, link_bits=0):
    """One host, or one for each rank where links between them are shaped."""
    node = {"device": "cpu", "gpus": ranks, "pcie": "64 GB/s", "nics": 0}
    out = {"format": "trainyard.topology/1", "name": f"one host, {ranks} ranks",
           "generator": "cluster", "nodes": 1, "node": node}
    if link_bits:
        node |= {"gpus": 1, "nics": 1}
        out |= {"name": f"{ranks} hosts of one rank", "nodes": ranks,
                "fabric": {"kind": "leaf-spine",
                           "network": {"preset": "tcp", "port_rate": f"{link_bits / 1e9:g} Gb/s"}}}
    return out


def write_scenario(folder, configuration, backend, options, profile):
    """Into `folder`, with its model and topology; returns its path."""
    ranks = options.ranks
    stem = "".join(c if c.isalnum() else "-" for c in f"{backend}-{configuration['name']}")
    model_file = folder / f"{stem}-model.json"
    model_file.write_text(json.dumps(model(configuration), indent=1) + "\n")
    topology_file = folder / f"host-{ranks}.json"
    topology_file.write_text(json.dumps(topology(ranks, options.shaped), indent=1) + "\n")
    strategy = {"dp": ranks, "backend": backend,
                "overlap": {"dp": bool(configuration["bucket"])}}
    if configuration["bucket"]:
        strategy |= {"bucket_cap": f"{configuration['bucket']} B",
                     "first_bucket": f"{configuration['first']} B"}
    scenario = folder / f"{stem}.json"
    scenario.write_text(json.dumps(
        {"format": "trainyard.scenario/1", "model": {"file": model_file.name},
         "training": {"global_batch": configuration["batch"] * ranks,
                      "micro_batch": configuration["batch"], "precision": "fp32",
                      "optimizer": "sgd"},
         "strategy": strategy, "topology": topology_file.name, "profile": str(profile),
         "software": {"framework": "host-loop"},
         # Profiles remember these.
         "environment": options.network.variables if options.network else {}}, indent=1) + "\n")
    return scenario
