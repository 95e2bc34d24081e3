"""A profile of PyTorch's ranks: what trainyard-measure timed over Gloo, with PyTorch's kernels."""

import json
import statistics

# What the simulator lists for a layer beside its products, in passes over its output: of a decoder
# two norms (2 forward, 3 backward), two residuals (3, 3), an activation four times as wide (4, 5).
PERCEPTRON_PASSES = 8  # networks.DENSE
DECODER_PASSES = 2 * (2 + 3) + 2 * (3 + 3) + 4 * (4 + 5)
WIDTH = 4  # bytes of an element
UPDATES = 28 / 20  # bytes that Adam moves / SGD with momentum (sim/strategy/optimizers.cpp)
KERNELS = {"forward": 2, "backward": 4}  # of a perceptron's layer


def with_kernels(samples, kernels):
    """Lines of a file of samples, the host's products and sums exchanged for PyTorch's."""
    kept = [line for line in samples.splitlines() if not _is_replaced(json.loads(line))]
    group = next(json.loads(line)["point"]["point"]["group"] for line in kept if '"point"' in line)
    works = [({"m": p["m"], "n": p["n"], "k": p["k"]}, p["seconds"]) for p in kernels["products"]]
    memory = kernels["memory"]
    works.append(({"kind": "memory_add", "size": f"{memory['bytes'] // 3} B"}, memory["seconds"]))
    for work, seconds in works:
        kept.append(json.dumps({"point": {"point": {"group": group, "work": {"local": work}},
                                          "batches [s/op]": seconds}}))
    return "\n".join(kept) + "\n"


def _is_replaced(line):
    local = line.get("point", {}).get("point", {}).get("work", {}).get("local")
    return local is not None and local.get("kind", "gemm") in ("gemm", "memory_add")


def complete(profile, kernels):
    """Adds what the kernels say of PyTorch: constants of the software, none of a network's."""
    source = f"PyTorch {kernels['torch']}, {kernels['host']}, {kernels['started']}"
    device = profile["hardware"]["device"]
    for measured in (device["peak"]["fp32"], device["gemm_efficiency"]["fp32"],
                     device["gemm_surface"]["fp32"], device["hbm_bandwidth"]):
        measured["source"] = source
    bandwidth = kernels["memory"]["bytes"] / statistics.median(kernels["memory"]["seconds"])

    def constant(seconds, scale=1.0, unit=None):
        """Of a series of times."""
        low, middle, high = (scale * value for value in
                             statistics.quantiles(seconds, n=4, method="inclusive"))
        written = [f"{value:.6g} {unit}" if unit else float(f"{value:.6g}")
                   for value in (middle, low, high)]
        return dict(zip(("value", "low", "high"), written)) | {"grade": "measured",
                                                               "source": source}

    def passes(times, listed_bytes, way="seconds"):
        """Bytes at the device's bandwidth for those listed."""
        return constant(times[way], bandwidth / (times["elements"] * listed_bytes))

    attention, update, beside = (kernels[part] for part in ("attention", "update", "beside"))
    profile["hardware"]["interference"] = {
        "gloo": {"compute_moving": constant(beside["lost"]),
                 "transfer_slowdown": constant(beside["longer"])}}
    device["square_gemm"] = constant(
        [one / several for one, several in
         zip(attention["products_as_one"], attention["products"])])
    few, many = (kernels["calls"][layers] for layers in sorted(kernels["calls"], key=int))
    layers = [int(count) for count in kernels["calls"]]
    between = max(layers) - min(layers)
    per_kernel = {way: constant([(b - a) / between / KERNELS[way]
                                 for a, b in zip(few[way], many[way])], 1e6, "us")
                  for way in KERNELS}
    outside = [step - forward - backward for step, forward, backward in
               zip(few["step"], few["forward"], few["backward"])]
    profile["software"] = {
        "base": "ddp-eager",
        "host_per_kernel_forward": per_kernel["forward"],
        "host_per_kernel_backward": per_kernel["backward"],
        "normalisation_factor": passes(kernels["perceptron_layer"], PERCEPTRON_PASSES * WIDTH),
        "elementwise_factor": passes(kernels["decoder_layer"], DECODER_PASSES * WIDTH),
        "kernels": {
            "square_passes_forward": passes(attention, WIDTH, "forward"),
            "square_passes_backward": passes(attention, WIDTH, "backward"),
            "loss_bytes_per_logit_forward": passes(kernels["loss"], 1, "forward"),
            "loss_bytes_per_logit_backward": passes(kernels["loss"], 1, "backward"),
        },
        "optimizer_bytes_per_parameter": constant(update["seconds"],
                                                  UPDATES * bandwidth / update["parameters"]),
        "optimizer_time": {"value": "0 s", "grade": "measured", "source": source},
        "step_overhead": constant(outside, 1e6, "us"),
    }
    return profile
