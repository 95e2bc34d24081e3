#!/usr/bin/env python3
"""Fits constants of calibrate/profiles to measured runs through the program itself.

    tests/validation/fit_constants.py --program build/release/bin/trainyard            # what would change
    tests/validation/fit_constants.py --program build/release/bin/trainyard --write    # change the profiles
    tests/validation/fit_constants.py --program build/release/bin/trainyard --leave-out

Each constant below is a factor on values in profile files, with a prior: what was believed before any of
these runs was looked at. The program is run once as shipped and once per constant with the factor raised by
5 % (TRAINYARD_DATA points it at a changed copy of the data). A few Gauss-Newton steps in the logarithms then
minimise, on that linear model,

    sum over records of w rho(log(predicted / measured) / 0.05)  +  sum over constants of (log(c / prior) / sigma)^2

with rho linear beyond 10 % and w such that a source of many near-repeats counts little more than a small one.
--leave-out repeats the fit without one source at a time and simulates that source with the constants found:
the error to expect from tables nobody has looked at. Needs numpy.
"""

import argparse
import concurrent.futures
import glob
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
PROFILES = "calibrate/profiles"
STEP = 1.05
ROBUST = 0.10

FAMILY = {
    "V100": ["v100"], "A100": ["a100"], "H100": ["h100", "h200", "h800", "h20-", "gh200"],
    "B200": ["b200"], "GB200": ["gb200"], "GB300": ["gb300", "b300"],
}
SOFTWARE = ["megatron-2021", "mcore-2024", "mcore-2025", "jax-xla", "torch-compile-fsdp", "fsdp-eager", "ddp-eager"]


def devices(family):
    return [f"devices/{prefix}*.json" for prefix in FAMILY[family]]


def every_device(path):
    return [("devices/*.json", path)]


def software(path, names=SOFTWARE):
    return [(f"software/{name}.json", path) for name in names]


def table():
    """(name, places, prior of the value at the first place, sigma of its logarithm)."""
    out = []

    def add(name, places, prior, sigma):
        out.append((name, places, prior, sigma))

    gemm = {"V100": .75, "A100": .93, "H100": .77, "B200": .78, "GB200": .74, "GB300": .80}
    gemm8 = {"H100": .76, "B200": .76, "GB200": .74, "GB300": .80}
    hbm = {"V100": .62, "A100": .60, "H100": .63, "B200": .45, "GB200": .45, "GB300": .50}
    flash = {"A100": .45, "H100": .45, "B200": .42, "GB200": .42, "GB300": .45}
    k_half = {"A100": 150, "H100": 200, "B200": 300}
    gap = {"A100": 4, "H100": 2}
    for family in FAMILY:
        d = devices(family)
        add(f"gemm 16 bit, {family}", [(f, f"gemm_efficiency.{p}") for f in d for p in ("bf16", "fp16")], gemm[family], .08)
        add(f"HBM, {family}", [(f, "hbm_efficiency") for f in d], hbm[family], .25)
        if family in gemm8:
            add(f"gemm fp8, {family}", [(f, "gemm_efficiency.fp8") for f in d], gemm8[family], .10)
        if family in flash:
            kernels = ("cudnn", "sdpa", "sdpa_cudnn", "flash1", "flash2", "triton")
            add(f"attention, {family}", [(f, f"attention.{k}") for k in kernels for f in d], flash[family], .20)
        if family in k_half:
            add(f"GEMM k at half, {family}", [(f, "gemm_k_half") for f in d], k_half[family], .40)
        if family in gap:
            add(f"launch gap, {family}", [(f, "launch_gap") for f in d], gap[family], .40)
    hopper = devices("H100")
    add("SDPA on Hopper", [(f, f"attention.{k}") for k in ("sdpa", "flash2") for f in hopper], .45 * .75, .20)
    add("SDPA through cuDNN", [(f, "attention.sdpa_cudnn") for f in hopper], .45 * .90, .15)
    add("Triton attention", [(f, "attention.triton") for f in hopper], .45 * .55, .20)
    add("attention backward", every_device("attention_backward"), .80, .12)
    add("gemm tf32", every_device("gemm_efficiency.tf32"), .80, .15)
    add("clock, H100 96 GB", [("devices/h100-sxm5-96.json", "sustained_clock")], .93, .07)
    add("head GEMM", every_device("head_gemm"), .95, .10)
    add("square GEMM", every_device("square_gemm"), .70, .20)
    add("convolution", every_device("convolution"), .45, .20)
    add("SM loss", every_device("sm_loss"), .50, .30)
    add("NVLink in situ, A100", [("fabrics/nvlink3.json", "in_situ"), ("fabrics/nvlink2.json", "in_situ")], 1.34, .15)
    add("NVLink in situ, H100", [("fabrics/nvlink4.json", "in_situ")], 1.1, .12)
    add("NVLink in situ, Blackwell", [("fabrics/nvlink5.json", "in_situ")], 1.2, .15)
    add("network in situ", [("networks/*.json", "in_situ")], 1.1, .12)
    add("all-to-all in situ", [(f"{kind}/*.json", "in_situ_all_to_all") for kind in ("fabrics", "networks")], 1.3, .25)

    host = {"megatron-2021": 46, "mcore-2024": 18, "mcore-2025": 12, "fsdp-eager": 15, "torch-compile-fsdp": 14, "ddp-eager": 15}
    for name, prior in host.items():
        add(f"host, {name}", [(f"software/{name}.json", f"host_per_kernel_{d}") for d in ("forward", "backward")], prior, .30)
    add("host backward", software("host_per_kernel_backward"), None, .15)
    elementwise = {"megatron-2021": 1, "mcore-2024": 1, "mcore-2025": 1, "jax-xla": 1, "torch-compile-fsdp": 1.1,
                   "fsdp-eager": 1.4, "ddp-eager": 1.2}
    for name, prior in elementwise.items():
        add(f"elementwise, {name}", [(f"software/{name}.json", "elementwise_factor")], prior, .20)
    for name in ("mcore-2024", "mcore-2025", "jax-xla", "torch-compile-fsdp", "fsdp-eager"):
        add(f"overlap slowdown, {name}", [(f"software/{name}.json", "overlap_slowdown")], .9, .30)
    for name, prior in {"mcore-2024": .47, "mcore-2025": .47, "torch-compile-fsdp": .6}.items():
        add(f"TP exposed, {name}", [(f"software/{name}.json", "tp_exposed_share")], prior, .25)
    for name, prior in {"mcore-2024": .9, "mcore-2025": .7}.items():
        add(f"EP exposed, {name}", [(f"software/{name}.json", "ep_exposed_share")], prior, .20)
    add("gather repeated in backward", software("regather_exposed_share"), .3, .50)
    add("CP exposed", software("cp_exposed_share"), .3, .40)
    add("attention across CP", software("attention_across_cp"), .9, .10)
    add("blocking p2p", [("software/megatron-2021.json", "blocking_p2p_time")], 500, .30)
    add("square passes forward", software("kernels.square_passes_forward", ["megatron-2021", "ddp-eager", "jax-xla"]), 9, .20)
    add("square passes backward", software("kernels.square_passes_backward", ["megatron-2021", "ddp-eager", "jax-xla"]), 11, .20)
    add("expert GEMM 16 bit", software("expert_gemm_16"), .80, .15)
    add("expert GEMM fp8", software("expert_gemm_8"), .65, .15)
    add("MoE elementwise", software("moe_elementwise_factor"), 1.3, .30)
    add("normalisation", software("normalisation_factor"), 1.2, .20)
    add("optimizer bytes", software("optimizer_bytes_per_parameter"), 34, .20)
    return out


# ------------------------------------------------------------------------------------------------ profile files

def number_of(value):
    """The leading number of "39.9 us" or of a bare number."""
    return float(re.match(r"[-+0-9.eE]+", str(value)).group(0))


def scaled(value, factor):
    if isinstance(value, (int, float)):
        return value * factor
    digits = re.match(r"[-+0-9.eE]+", value).group(0)
    return f"{float(digits) * factor:.6g}{value[len(digits):]}"


def leaf(document, path):
    """The object or bare value at a dotted path as (parent, key), or None."""
    keys = path.split(".")
    for key in keys[:-1]:
        if not isinstance(document, dict) or key not in document:
            return None
        document = document[key]
    return (document, keys[-1]) if isinstance(document, dict) and keys[-1] in document else None


def value_at(document, path):
    found = leaf(document, path)
    if found is None:
        return None
    value = found[0][found[1]]
    return value["value"] if isinstance(value, dict) else value


class Constants:
    """The profile files, and the factors to apply to them."""

    def __init__(self):
        self.documents = {}
        folder = os.path.join(ROOT, PROFILES)
        for path in glob.glob(os.path.join(folder, "**", "*.json"), recursive=True):
            with open(path) as file:
                self.documents[os.path.relpath(path, folder)] = json.load(file)
        self.entries = []
        for name, patterns, prior, sigma in table():
            places = [(file, path) for pattern, path in patterns
                      for file in sorted(self.documents)
                      if glob.fnmatch.fnmatch(file, pattern) and value_at(self.documents[file], path) not in (None, 0)]
            places = list(dict.fromkeys(places))
            if not places:
                sys.exit(f"no profile has the constant \"{name}\"")
            shipped = number_of(value_at(self.documents[places[0][0]], places[0][1]))
            self.entries.append({"name": name, "places": places, "shipped": shipped, "sigma": sigma,
                                 "prior": math.log((prior if prior is not None else shipped) / shipped)})

    def write(self, folder, factors):
        """A copy of the profiles with each constant multiplied by its factor."""
        documents = json.loads(json.dumps(self.documents))
        for entry, factor in zip(self.entries, factors):
            for file, path in entry["places"] if factor != 1 else []:
                parent, key = leaf(documents[file], path)
                if isinstance(parent[key], dict):
                    parent[key]["value"] = scaled(parent[key]["value"], factor)
                    parent[key].pop("low", None)
                    parent[key].pop("high", None)
                else:
                    parent[key] = scaled(parent[key], factor)
        for file, document in documents.items():
            path = os.path.join(folder, PROFILES, file)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as out:
                json.dump(document, out)
        for shared in ("topologies", "scenarios"):
            os.symlink(os.path.join(ROOT, shared), os.path.join(folder, shared))

    def write_back(self, factors):
        """Changes the numbers in the shipped files, and nothing else of their text."""
        folder = os.path.join(ROOT, PROFILES)
        texts = {}
        for entry, factor in zip(self.entries, factors):
            for file, path in entry["places"]:
                text = texts.setdefault(file, open(os.path.join(folder, file)).read())
                at = 0
                for key in path.split("."):
                    at = text.index(f'"{key}":', at)
                pattern = re.compile(r'("[^"]+":\s*(?:\{\s*"value":\s*)?"?)([-+0-9.eE]+)')
                match = pattern.match(text, at)
                texts[file] = text[:match.start(2)] + f"{float(match.group(2)) * factor:.4g}" + text[match.end(2):]
        for file, text in texts.items():
            with open(os.path.join(folder, file), "w") as out:
                out.write(text)


# ------------------------------------------------------------------------------------------------ running

def sampled(files, most, folder):
    """The records of the files in one file, at most so many of a source, evenly spread."""
    by_key = {}
    for path in files:
        with open(path) as file:
            for record in json.load(file):
                by_key.setdefault(record["source"]["key"], []).append(record)
    chosen = []
    for records in by_key.values():
        step = max(1.0, len(records) / most)
        chosen += [records[int(i * step)] for i in range(min(most, len(records)))]
    path = os.path.join(folder, "records.json")
    with open(path, "w") as out:
        json.dump(chosen, out)
    return path


class Runner:
    def __init__(self, program, constants, records):
        self.program = program
        self.constants = constants
        self.records = records

    def __call__(self, factors, only=""):
        """Verdicts by id of the records that were scored."""
        with tempfile.TemporaryDirectory() as folder:
            self.constants.write(folder, factors)
            command = [self.program, "validate", self.records, "--json"] + (["--only", only] if only else [])
            done = subprocess.run(command, env=dict(os.environ, TRAINYARD_DATA=folder), check=False,
                                  capture_output=True, text=True)
        if not done.stdout:
            sys.exit(f"{' '.join(command)} failed:\n{done.stderr}")
        return {r["id"]: r for r in json.loads(done.stdout)["records"] if r["skipped"] is None}


def sensitivities(runner, base, ids, workers):
    """d log(predicted) / d log(constant), records by constants."""
    count = len(runner.constants.entries)

    def column(index):
        factors = [STEP if i == index else 1.0 for i in range(count)]
        raised = runner(factors)
        print(f"  {index + 1}/{count} {runner.constants.entries[index]['name']}", file=sys.stderr)
        return [math.log(raised[i]["predicted_s"] / base[i]["predicted_s"]) / math.log(STEP) for i in ids]

    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        return np.array(list(pool.map(column, range(count)))).T


# ------------------------------------------------------------------------------------------------ fitting

def weights(records):
    """Of each record: its source's rows together weigh (6 + 0.15 n), other classes than dense decoders 0.4^2."""
    count = {}
    for r in records:
        count[r["source"]] = count.get(r["source"], 0) + 1
    per_class = [1.0 if r["class"] == "dense-decoder" else 0.4 for r in records]
    per_quality = [1.0 if r["quality"] == "A" else 0.6 for r in records]
    per_source = [math.sqrt((6 + .15 * count[r["source"]]) / count[r["source"]]) for r in records]
    return np.array(per_class) * np.array(per_quality) * np.array(per_source)


def fit(entries, jacobian, errors, record_weights):
    """Logarithms of the factors that minimise the penalised robust error of the linear model."""
    prior = np.array([e["prior"] for e in entries])
    sigma = np.array([e["sigma"] for e in entries])
    x = np.zeros(len(entries))
    for _ in range(50):
        r = errors + jacobian @ x
        robust = 1 / np.sqrt(1 + (r / ROBUST) ** 2)  # of the pseudo-Huber loss
        scale = record_weights * np.sqrt(robust) / .05
        left = np.vstack([jacobian * scale[:, None], np.diag(1 / sigma)])
        right = np.concatenate([-errors * scale, prior / sigma])
        new, *_ = np.linalg.lstsq(left, right, rcond=None)
        moved, x = np.abs(new - x).max(), new
        if moved < 1e-6:
            break
    return x


def by_source(verdicts, keep):
    out = {}
    for r in verdicts:
        if keep(r):
            out.setdefault(r["source"], []).append(abs(r["error"]))
    return {source: sum(v) / len(v) for source, v in sorted(out.items())}


def is_dense_a(r):
    return r["class"] == "dense-decoder" and r["quality"] == "A"


def report(title, verdicts):
    print(title)
    for label, keep in (("dense decoders, quality A", is_dense_a),
                        ("mixtures of experts", lambda r: r["class"] == "moe-decoder"),
                        ("encoders and CNNs", lambda r: r["class"] in ("encoder", "cnn"))):
        means = by_source(verdicts, keep)
        if means:
            print(f"  {label}: mean of the sources' mean errors {100 * sum(means.values()) / len(means):.1f} %")
        for source, mean in means.items():
            print(f"    {source:<28} {100 * mean:5.1f} %")
        errors = sorted(abs(math.log1p(r["error"])) for r in verdicts if keep(r))
        if errors:
            print(f"    nine in ten within a factor of {math.exp(errors[int(.9 * (len(errors) - 1))]):.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("records", nargs="*", default=[
        os.path.join(ROOT, "tests/validation/records", name)
        for name in ("training_dev.json", "a100_megatron_single_node.json")])
    parser.add_argument("--program", required=True, help="the built trainyard")
    parser.add_argument("--leave-out", action="store_true", help="fit without each source, predict it")
    parser.add_argument("--write", action="store_true", help="change the shipped profiles")
    parser.add_argument("--sample", type=int, default=120, help="records of one source that are used at most")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--cache", help="file that keeps the sensitivities from one call to the next")
    options = parser.parse_args()

    constants = Constants()
    scratch = tempfile.TemporaryDirectory()
    runner = Runner(options.program, constants, sampled(options.records, options.sample, scratch.name))
    count = len(constants.entries)
    base = runner([1.0] * count)
    ids = sorted(base)
    if options.cache and os.path.exists(options.cache):
        with open(options.cache) as file:
            jacobian = np.array(json.load(file))
    else:
        jacobian = sensitivities(runner, base, ids, options.workers)
        if options.cache:
            with open(options.cache, "w") as file:
                json.dump(jacobian.tolist(), file)
    records = [base[i] for i in ids]
    errors = np.array([math.log1p(r["error"]) for r in records])
    report("as shipped", records)

    x = fit(constants.entries, jacobian, errors, weights(records))
    fitted = runner(np.exp(x))
    print("\nconstant                              shipped   fitted    prior")
    for entry, step in zip(constants.entries, x):
        print(f"{entry['name']:<36} {entry['shipped']:9.4g} {entry['shipped'] * math.exp(step):8.4g} "
              f"{entry['shipped'] * math.exp(entry['prior']):8.4g}")
    report("\nfitted", list(fitted.values()))

    if options.leave_out:
        left_out = []
        for source in sorted({r["source"] for r in records}):
            keep = np.array([r["source"] != source for r in records])
            kept = [r for r in records if r["source"] != source]
            step = fit(constants.entries, jacobian[keep], errors[keep], weights(kept))
            predicted = runner(np.exp(step), only=source)
            left_out += [r for r in predicted.values() if r["source"] == source]
        report("\neach source predicted by a fit to the others", left_out)
    if options.write:
        constants.write_back(np.exp(x))
        print(f"\nchanged the profiles in {PROFILES}")


if __name__ == "__main__":
    main()
