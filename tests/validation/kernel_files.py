#!/usr/bin/env python3
"""Writes calibrate/profiles/kernels/*.json from the surfaces that fit_kernels.py fitted.

    tests/validation/fit_kernels.py FOLDER_OF_TABLES --json surfaces.json
    tests/validation/kernel_files.py surfaces.json

What a step launches apart is left out: the fixed time of a launch and the quantisation of operands.
"""

import argparse
import json
import os
import re

from profile_files import PROFILES, ROOT

# Table -> file, what it was measured on, and which kernel of attention.
FILES = {
    "a100_sxm": ("a100", "A100-SXM4-80GB", 108, "312 TFLOP/s", "2039 GB/s", "flash2"),
    "h100_sxm": ("h100", "H100-SXM5-80GB", 132, "989.4 TFLOP/s", "3350 GB/s", "cudnn"),
    "h200_sxm": ("h200", "H200-SXM-141GB", 132, "989.4 TFLOP/s", "4800 GB/s", "cudnn"),
    "l40s": ("l40s", "L40S", 142, "362 TFLOP/s", "864 GB/s", "flash2"),
    "b200_sxm": ("b200", "B200-SXM-180GB", 148, "2250 TFLOP/s", "8000 GB/s", "cudnn"),
    "b300_sxm": ("b300", "B300-SXM-288GB", 148, "2250 TFLOP/s", "8000 GB/s", "cudnn"),
    "gb200": ("gb200", "GB200", 152, "2500 TFLOP/s", "8000 GB/s", "cudnn"),
    "gb300": ("gb300", "GB300", 152, "2500 TFLOP/s", "8000 GB/s", "cudnn"),
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
    c = surface["constants"]
    head, window = re.fullmatch(r"head (\d+)(?:, window (\d+))?", name).groups()
    return {"head_dim": int(head), "window": int(window or 0), "rate": quantity(c["rate"], "TFLOP/s", 1e12),
            "edge": round(c["edge"], 2), "memory": quantity(c["memory"], "GB/s", 1e9), "waves": round(c["waves"], 4),
            "block": int(c["block"]), "packed": kernel != "flash2",
            "errors": errors(surface)} | corrections(surface, "waves", "key_heads", "groups", "tokens")


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
    for table, (name, device, sms, peak, hbm, kernel) in FILES.items():
        document = {
            "format": "trainyard.kernels/1", "name": name, "attention_kernel": kernel,
            "sms": {"value": sms, "grade": "measured", "source": SOURCE}, "peak": peak, "hbm_bandwidth": hbm,
            "gemm": [gemm(f, s) for f, s in surfaces["gemm"].get(table, {}).items()],
            "attention": [attention(n, s, kernel) for n, s in surfaces.get("attention_forward", {}).get(table, {}).items()]}
        with open(os.path.join(folder, name + ".json"), "w") as file:
            file.write(text(document))


if __name__ == "__main__":
    main()
