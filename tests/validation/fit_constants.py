#!/usr/bin/env python3
"""Fits constants of calibrate/profiles to measured runs through the program itself.

    tests/validation/fit_constants.py --program build/release/bin/trainyard            # what would change
    tests/validation/fit_constants.py --program build/release/bin/trainyard --write    # change the profiles
    tests/validation/fit_constants.py --program build/release/bin/trainyard --leave-out

Each constant below is a factor on values in profile files, with a prior: what was believed before any of
these runs was looked at. The program is run once as shipped and once per constant, on the records that can feel
it, with the factor raised by 5 % (TRAINYARD_DATA points it at a changed copy of the data). A few Gauss-Newton steps in the logarithms then
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
TIGHTER = 0.5  # of the widths below: 1 fits these records closer and predicts left-out sources worse

FAMILY = {
    "V100": ["v100"], "A100": ["a100"], "H100": ["h100", "h200", "h800", "h20-", "gh200"],
    "Blackwell": ["b200", "gb200", "gb300", "b300"],
}
SOFTWARE = ["megatron-2021", "mcore-2024", "mcore-2025", "jax-xla", "torch-compile-fsdp", "fsdp-eager", "ddp-eager"]


def devices(family):
    return [f"devices/{prefix}*.json" for prefix in FAMILY[family]]


def every_device(path):
    return [("devices/*.json", path)]


def software(path, names=SOFTWARE):
    return [(f"software/{name}.json", path) for name in names]


def is_class(*names):
    return lambda r: r["class"] in names


def in_use(dimension):
    return lambda r: dimension in r["strategy"].split("+")


def is_parallel(r):
    return r["strategy"] != "single"


def anything(_):
    return True


def table():
    """(name, places, prior of the value at the first place, sigma of its logarithm, records that can feel it).

    Only what these records narrow: they leave host times of late frameworks, SM shares and the like at their priors,
    and cannot tell the slowdown of overlapped compute (0.3 to 0.9 predict left-out dense runs alike) from GEMM rates.
    The three Blackwell parts share their factors.
    """
    out = []

    def add(name, places, prior, sigma, felt_by=anything):
        out.append((name, places, prior, sigma, felt_by))

    kernels = ("cudnn", "sdpa", "sdpa_cudnn", "flash1", "flash2", "triton")
    for family, prior in {"A100": .93, "H100": .77, "Blackwell": .75}.items():
        add(f"GEMM 16 bit, {family}", [(f, f"gemm_efficiency.{p}") for f in devices(family) for p in ("bf16", "fp16")],
            prior, .08)
    for family, prior in {"H100": .76, "Blackwell": .72}.items():
        add(f"GEMM fp8, {family}", [(f, "gemm_efficiency.fp8") for f in devices(family)], prior, .10)
    for family, prior in {"V100": .62, "A100": .60, "H100": .63, "Blackwell": .37}.items():
        add(f"HBM, {family}", [(f, "hbm_efficiency") for f in devices(family)], prior, .25)
    for family, prior in {"H100": .45, "Blackwell": .50}.items():
        add(f"attention, {family}", [(f, f"attention.{k}") for k in kernels for f in devices(family)], prior, .20)
    hopper = devices("H100")
    add("SDPA on Hopper", [(f, f"attention.{k}") for k in ("sdpa", "flash2") for f in hopper], .45 * .75, .20)
    add("Triton attention", [(f, "attention.triton") for f in hopper], .45 * .55, .20)
    add("GEMM tf32", every_device("gemm_efficiency.tf32"), .80, .15, is_class("encoder", "cnn"))
    add("launch gap, A100", [(f, "launch_gap") for f in devices("A100")], 4, .40)
    add("clock, H100 96 GB", [("devices/h100-sxm5-96.json", "sustained_clock")], .93, .07)
    add("convolution", every_device("convolution"), .85, .15, is_class("cnn"))
    add("NVLink in situ, A100", [("fabrics/nvlink3.json", "in_situ"), ("fabrics/nvlink2.json", "in_situ")], 1.34, .15,
        is_parallel)
    add("NVLink in situ, H100", [("fabrics/nvlink4.json", "in_situ")], 1.1, .12, is_parallel)
    add("NVLink in situ, Blackwell", [("fabrics/nvlink5.json", "in_situ")], 1.2, .15, is_parallel)
    add("network in situ", [("networks/*.json", "in_situ")], 1.1, .12, is_parallel)
    add("all-to-all in situ", [(f"{kind}/*.json", "in_situ_all_to_all") for kind in ("fabrics", "networks")], 1.3, .25,
        in_use("ep"))

    add("host, megatron-2021", software("host_per_kernel_forward", ["megatron-2021"]) +
        software("host_per_kernel_backward", ["megatron-2021"]), 46, .30)
    for name, prior in {"megatron-2021": 1, "mcore-2024": 1, "mcore-2025": 1, "fsdp-eager": 1.4, "ddp-eager": 1.2}.items():
        add(f"elementwise, {name}", software("elementwise_factor", [name]), prior, .20)
    core = ["mcore-2024", "mcore-2025"]
    add("TP exposed, Megatron-Core", software("tp_exposed_share", core), .47, .25, in_use("tp"))
    add("TP exposed, compiled FSDP", software("tp_exposed_share", ["torch-compile-fsdp"]), .6, .25, in_use("tp"))
    add("EP exposed", software("ep_exposed_share", core), .9, .20, in_use("ep"))
    add("attention across CP", software("attention_across_cp"), .9, .10, in_use("cp"))
    unfused = ["megatron-2021", "ddp-eager", "jax-xla"]
    add("square passes", software("kernels.square_passes_forward", unfused) +
        software("kernels.square_passes_backward", unfused), 9, .20)
    add("expert GEMM", software("expert_gemm_16") + software("expert_gemm_8"), .80, .15, is_class("moe-decoder"))
    add("MoE elementwise", software("moe_elementwise_factor"), 1.3, .30, is_class("moe-decoder"))
    add("normalisation", software("normalisation_factor"), 1.1, .15, is_class("cnn"))
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
        for name, patterns, prior, sigma, felt_by in table():
            places = [(file, path) for pattern, path in patterns
                      for file in sorted(self.documents)
                      if glob.fnmatch.fnmatch(file, pattern) and value_at(self.documents[file], path) not in (None, 0)]
            places = list(dict.fromkeys(places))
            if not places:
                sys.exit(f"no profile has the constant \"{name}\"")
            shipped = number_of(value_at(self.documents[places[0][0]], places[0][1]))
            self.entries.append({"name": name, "places": places, "shipped": shipped, "sigma": TIGHTER * sigma,
                                 "prior": math.log((prior if prior is not None else shipped) / shipped),
                                 "parts": {self.documents[file]["name"] for file, _ in places},
                                 "networks": any(file.startswith("networks/") for file, _ in places),
                                 "felt_by": felt_by})
        self.fabric_of = {d["name"]: d.get("fabric") for f, d in self.documents.items() if f.startswith("devices/")}

    def feels(self, record, entry):
        """Whether the record was predicted with files that hold the constant. Networks: any of several GPUs."""
        parts = {record["device"], record["software"], self.fabric_of.get(record["device"])}
        return entry["felt_by"](record) and (entry["networks"] or bool(parts & entry["parts"]))

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
        """Changes the values and their intervals in the shipped files, and nothing else of their text."""
        folder = os.path.join(ROOT, PROFILES)
        texts = {}
        for entry, factor in zip(self.entries, factors):
            for file, path in entry["places"]:
                text = texts.setdefault(file, open(os.path.join(folder, file)).read())
                begin = 0
                for key in path.split("."):
                    begin = text.index(f'"{key}":', begin)
                braces = re.compile(r'"[^"]+":\s*\{').match(text, begin)
                end = text.index("}" if braces else "\n", begin)
                keys = "value|low|high" if braces else "[^\"]+"
                number = re.compile(rf'("(?:{keys})":\s*"?)([-+0-9.eE]+)')
                texts[file] = text[:begin] + number.sub(
                    lambda m, by=factor: f"{m.group(1)}{float(m.group(2)) * by:.4g}", text[begin:end]) + text[end:]
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
        with open(records) as file:
            self.records = json.load(file)

    def __call__(self, factors, keep=None):
        """Verdicts by id of the records that were scored; of those in `keep`, if given."""
        records = [r for r in self.records if keep is None or r["id"] in keep]
        if not records:
            return {}
        with tempfile.TemporaryDirectory() as folder:
            self.constants.write(folder, factors)
            path = os.path.join(folder, "records.json")
            with open(path, "w") as file:
                json.dump(records, file)
            command = [self.program, "validate", path, "--json"]
            done = subprocess.run(command, env=dict(os.environ, TRAINYARD_DATA=folder), check=False,
                                  capture_output=True, text=True)
        if not done.stdout:
            sys.exit(f"{' '.join(command)} failed:\n{done.stderr}")
        return {r["id"]: r for r in json.loads(done.stdout)["records"] if r["skipped"] is None}


def sensitivities(runner, base, ids, workers):
    """d log(predicted) / d log(constant), records by constants."""
    count = len(runner.constants.entries)

    def column(index):
        entry = runner.constants.entries[index]
        felt = {i for i in ids if runner.constants.feels(base[i], entry)}
        factors = [STEP if i == index else 1.0 for i in range(count)]
        raised = runner(factors, felt)
        print(f"  {index + 1}/{count} {entry['name']}: {len(felt)} records", file=sys.stderr, flush=True)
        return [math.log(raised[i]["predicted_s"] / base[i]["predicted_s"]) / math.log(STEP) if i in raised else 0.0
                for i in ids]

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
            out.setdefault(r["source"], []).append(r)
    return dict(sorted(out.items()))


def is_dense_a(r):
    return r["class"] == "dense-decoder" and r["quality"] == "A"


KINDS = (("dense decoders, quality A", is_dense_a), ("mixtures of experts", is_class("moe-decoder")),
         ("encoders and CNNs", is_class("encoder", "cnn")))


def nine_in_ten(rows):
    """The error that nine in ten stay below, each source counting as much as any other."""
    count = {}
    for r in rows:
        count[r["source"]] = count.get(r["source"], 0) + 1
    total, reached = len(count), 0.0
    for r in sorted(rows, key=lambda r: abs(r["error"])):
        reached += 1 / count[r["source"]]
        if reached >= .9 * total:
            return abs(r["error"])
    return math.nan


def covered(r):
    return r["interval_s"][0] <= r["measured_s"] <= r["interval_s"][1]


def report(title, verdicts):
    """Tables in Markdown: mean error of each source, and how many rows lie in the intervals that are printed."""
    print(f"\n{title}\n\n| source | rows | mean error | bias | in the interval |\n|---|---|---|---|---|")
    for label, keep in KINDS:
        sources = by_source(verdicts, keep)
        if not sources:
            continue
        means, shares, count = [], [], 0
        for source, rows in sources.items():
            mean = sum(abs(r["error"]) for r in rows) / len(rows)
            bias = sum(r["error"] for r in rows) / len(rows)
            share = sum(map(covered, rows)) / len(rows)
            means.append(mean)
            shares.append(share)
            count += len(rows)
            print(f"| {source} | {len(rows)} | {100 * mean:.1f} % | {100 * bias:+.1f} % | {100 * share:.0f} % |")
        print(f"| **{label}**, mean of sources | {count} | **{100 * sum(means) / len(means):.1f} %** | | "
              f"{100 * sum(shares) / len(shares):.0f} % |")
        print(f"| nine in ten | | below {100 * nine_in_ten([r for v in sources.values() for r in v]):.1f} % | | |")


def leave_out(runner, records, jacobian, errors):
    """Verdicts of each source with the constants fitted to the others."""
    out = []
    for source in sorted({r["source"] for r in records}):
        keep = np.array([r["source"] != source for r in records])
        step = fit(runner.constants.entries, jacobian[keep], errors[keep], weights([r for r in records if r["source"] != source]))
        out += runner(np.exp(step), {r["id"] for r in records if r["source"] == source}).values()
        print(f"  without {source}", file=sys.stderr, flush=True)
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("records", nargs="*", default=[
        os.path.join(ROOT, "tests/validation/records", name)
        for name in ("training_dev.json", "a100_megatron_single_node.json")])
    parser.add_argument("--program", required=True, help="the built trainyard")
    parser.add_argument("--leave-out", action="store_true", help="fit without each source, predict it")
    parser.add_argument("--write", action="store_true", help="change the shipped profiles")
    parser.add_argument("--sample", type=int, default=16, help="records of one source that are used at most")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--cache", help="file that keeps the sensitivities from one call to the next")
    options = parser.parse_args()

    constants = Constants()
    scratch = tempfile.TemporaryDirectory()
    runner = Runner(options.program, constants, sampled(options.records, options.sample, scratch.name))
    base = runner([1.0] * len(constants.entries))
    ids = sorted(base)
    cached = {}
    if options.cache and os.path.exists(options.cache):
        with open(options.cache) as file:
            cached = json.load(file)
    columns = [e["name"] for e in constants.entries]
    if cached.get("records") == ids and cached.get("constants") == columns:
        jacobian = np.array(cached["sensitivities"])
    else:
        jacobian = sensitivities(runner, base, ids, options.workers)
        if options.cache:
            with open(options.cache, "w") as file:
                json.dump({"records": ids, "constants": columns, "sensitivities": jacobian.tolist()}, file)
    records = [base[i] for i in ids]
    errors = np.array([math.log1p(r["error"]) for r in records])
    report("As shipped", records)

    x = fit(constants.entries, jacobian, errors, weights(records))
    print("\nconstant                              shipped   fitted    prior")
    for entry, step in zip(constants.entries, x):
        print(f"{entry['name']:<36} {entry['shipped']:9.4g} {entry['shipped'] * math.exp(step):8.4g} "
              f"{entry['shipped'] * math.exp(entry['prior']):8.4g}")
    report("Fitted", list(runner(np.exp(x)).values()))
    if options.leave_out:
        report("Each source predicted with the constants fitted to the others",
               leave_out(runner, records, jacobian, errors))
    if options.write:
        constants.write_back(np.exp(x))
        print(f"\nchanged the profiles in {PROFILES}")


if __name__ == "__main__":
    main()
