#!/usr/bin/env python3
"""Writes calibrate/profiles/kernels/*.json from the surfaces that fit_kernels.py fitted; what it did not fit stays as it is.

    tests/validation/fit_kernels.py FOLDER_OF_TABLES --json surfaces.json
    tests/validation/kernel_files.py surfaces.json

What a step launches apart is left out: the fixed time of a launch and the quantisation of operands. Latent attention is left out whole: the
kernel that was timed is not the one that trains (sim/cost/README.md).
"""

import argparse
import json
import os
import re

from profile_files import PROFILES, ROOT

# Table -> file, compute capability, what it was measured on, and which kernel of attention.
FILES = {
    "a100_sxm": ("a100", 80, 108, "312 TFLOP/s", "2039 GB/s", "40 MB", "flash2"),
    "h100_sxm": ("h100", 90, 132, "989.4 TFLOP/s", "3350 GB/s", "50 MB", "cudnn"),
    "h200_sxm": ("h200", 90, 132, "989.4 TFLOP/s", "4800 GB/s", "50 MB", "cudnn"),
    "l40s": ("l40s", 89, 142, "362 TFLOP/s", "864 GB/s", "96 MB", "flash2"),
    "b200_sxm": ("b200", 100, 148, "2250 TFLOP/s", "8000 GB/s", "126 MB", "cudnn"),
    "b300_sxm": ("b300", 103, 148, "2250 TFLOP/s", "8000 GB/s", "126 MB", "cudnn"),
    "gb200": ("gb200", 100, 152, "2500 TFLOP/s", "8000 GB/s", "126 MB", "cudnn"),
    "gb300": ("gb300", 103, 152, "2500 TFLOP/s", "8000 GB/s", "126 MB", "cudnn"),
}
PRECISIONS = {"bfloat16": "bf16", "fp8": "fp8", "fp8_block": "fp8_block", "nvfp4": "nvfp4"}
LIBRARIES = {"fp8_block": "DeepGEMM"}
SOURCE = ("ai-dynamo/aiconfigurator (Apache-2.0), commit 095f58a51c4c, 2026-08-21: times of single kernels in short runs; "
          "fitted by tests/validation/fit_kernels.py")


def quantity(value, unit, scale):
    return f"{value / scale:.4g} {unit}"


def corrections(surface, *grids):
    """The grids of its correction; the first is `correction`."""
    return {name if name == "correction" else f"by_{name}": {key: surface[name][key] for key in ("knots", "per_mille")}
            for name in ("correction", *grids)}


def errors(surface):
    median, p90 = surface["residuals"]["left_out"]
    return {"rows": surface["rows"], "median": median / 1000, "p90": p90 / 1000}


def gemm(number_format, surface):
    c = surface["constants"]
    return {"precision": PRECISIONS[number_format], "kernel": LIBRARIES.get(number_format, "cuBLAS, TensorRT-LLM"),
            "rate": quantity(c["rate"], "TFLOP/s", 1e12), "ramp": quantity(c["ramp_s"], "us", 1e-6),
            "memory": quantity(c["memory"], "GB/s", 1e9), "split_ramps": round(c["split_ramps"], 3),
            "penalties": [round(c[f"penalty_{i}"], 4) for i in range(1, 5)], "waves": round(c["waves"], 4),
            "errors": errors(surface)} | corrections(surface, "waves", "padding")


def attention(name, surface, kernel):
    head, window = re.fullmatch(r"head (\d+)(?:, window (\d+))?", name).groups()
    return blocks(int(head), int(window or 0), surface, kernel)


def blocks(head, window, surface, kernel):
    c = surface["constants"]
    return {"head_dim": head, "window": window, "rate": quantity(c["rate"], "TFLOP/s", 1e12),
            "edge": round(c["edge"], 2), "memory": quantity(c["memory"], "GB/s", 1e9), "waves": round(c["waves"], 4),
            "block": int(c["block"]), "packed": kernel != "flash2",
            "errors": errors(surface)} | corrections(surface, *(g for g in ("waves", "key_heads", "groups", "tokens") if g in surface))


def scan(kernel, surface):
    c = surface["constants"]
    return {"kernel": kernel, "memory": quantity(c["memory"], "GB/s", 1e9), "step": quantity(c["step_s"], "us", 1e-6),
            "heads_per_sm": round(c["slots"], 4), "cached": round(c["cached"], 3), "errors": errors(surface)} | corrections(surface)


def convolution(kernel, surface):
    c = surface["constants"]
    return {"kernel": kernel, "memory": quantity(c["memory"], "GB/s", 1e9), "token": quantity(c["token_s"], "ns", 1e-9),
            "cached": round(c["cached"], 3), "footprint": round(c["footprint"], 3), "errors": errors(surface)} | corrections(surface)


LINEAR = {"gated_delta_net_forward": ("gated_delta_rule", "fused_convolution"),
          "kimi_delta_attention_forward": ("kimi_delta_rule", "split_convolutions"), "mamba2_forward": (None, "cuda_convolution")}


def entries(surfaces, table, attention_kernel):
    """Key of a document -> what was fitted for it. Keys of kinds that were not fitted are missing."""
    found = {}
    of = lambda kind: surfaces.get(kind, {}).get(table, {}).items()
    if "gemm" in surfaces:
        found["gemm"] = [gemm(f, s) for f, s in of("gemm")]
    if "attention_forward" in surfaces:
        found["attention"] = [attention(n, s, attention_kernel) for n, s in of("attention_forward")]
    if "encoder_attention_forward" in surfaces:
        found["encoder"] = [blocks(int(n.split()[1]), 0, s, attention_kernel) for n, s in of("encoder_attention_forward")]
    if all(kind in surfaces for kind in LINEAR):
        found["scans"] = [scan(LINEAR[kind][0], s) for kind in LINEAR for n, s in of(kind) if n != "convolution"]
        found["convolutions"] = [convolution(LINEAR[kind][1], s) for kind in LINEAR for n, s in of(kind) if n == "convolution"]
    return found


def text(document):
    """JSON with one list of numbers to a line."""
    lists = []

    def keep(match):
        lists.append(re.sub(r"\s+", " ", match.group(0)).replace("[ ", "[").replace(" ]", "]"))
        return lists[-1]
    return re.sub(r"\[[-\d\s,.]+\]", keep, json.dumps(document, indent=1)) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("surfaces", help="file of fit_kernels.py --json")
    options = parser.parse_args()
    with open(options.surfaces) as file:
        surfaces = json.load(file)
    folder = os.path.join(ROOT, PROFILES, "kernels")
    os.makedirs(folder, exist_ok=True)
    for table, (name, capability, sms, peak, hbm, cache, kernel) in FILES.items():
        path = os.path.join(folder, name + ".json")
        before = {}
        if os.path.exists(path):
            with open(path) as file:
                before = json.load(file)
        document = {
            "format": "trainyard.kernels/1", "name": name, "attention_kernel": kernel, "compute_capability": capability,
            "sms": {"value": sms, "grade": "measured", "source": SOURCE}, "peak": peak, "hbm_bandwidth": hbm, "cache": cache}
        fitted = entries(surfaces, table, kernel)
        for key in ("gemm", "attention", "encoder", "scans", "convolutions"):
            document[key] = fitted.get(key, before.get(key, []))
        with open(path, "w") as file:
            file.write(text(document))


if __name__ == "__main__":
    main()
