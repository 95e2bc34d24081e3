#!/usr/bin/env python3
"""Fits constants of calibrate/profiles to measured runs through the program itself.

    tests/validation/fit_constants.py --program build/release/bin/trainyard            # what would change
    tests/validation/fit_constants.py --program build/release/bin/trainyard --write    # change the profiles
    tests/validation/fit_constants.py --program build/release/bin/trainyard --leave-out

Each constant of fitted_constants.py is a factor on values in profile files, with a prior: what was believed before any of
these runs was looked at. The program is run once as shipped and once per constant, on the records that can feel
it, with the factor raised by 5 % (TRAINYARD_DATA points it at a changed copy of the data). A few Gauss-Newton steps in the logarithms then
minimise, on that linear model,

    sum over records of w rho(log(predicted / measured) / 0.05)  +  sum over constants of (log(c / prior) / sigma)^2

with rho linear beyond 10 % and w such that a source of many near-repeats counts little more than a small one.
--leave-out repeats the fit without one source at a time and simulates that source with the constants found:
the error to expect from tables nobody has looked at. `--leave-out model` leaves out the runs of one model at a time,
`--leave-out release` those of one release and its patches; --of SOURCE does so for groups of one source only. Needs numpy.
"""

import argparse
import concurrent.futures
import json
import math
import os
import subprocess
import sys
import tempfile

import numpy as np

from error_tables import report
from profile_files import PROFILES, ROOT, Constants
from record_groups import GROUPS

STEP = 1.05
ROBUST = 0.10


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


def leave_out(runner, records, jacobian, errors, groups):
    """Verdicts of each group with the constants fitted to the others; `groups`: by id of the records to leave out."""
    out = []
    group_of = [groups.get(r["id"]) for r in records]
    for group in sorted(set(groups.values())):
        keep = np.array([g != group for g in group_of])
        step = fit(runner.constants.entries, jacobian[keep], errors[keep], weights([r for r, k in zip(records, keep) if k]))
        left = runner(np.exp(step), {i for i, g in groups.items() if g == group}).values()
        out += [dict(r, group=group) for r in left]
        print(f"  without {group}", file=sys.stderr, flush=True)
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("records", nargs="*", default=[
        os.path.join(ROOT, "tests/validation/records", name)
        for name in ("training_dev.json", "a100_megatron_single_node.json")])
    parser.add_argument("--program", required=True, help="the built trainyard")
    parser.add_argument("--leave-out", nargs="?", const="source", choices=GROUPS,
                        help="fit without each source, model or release, predict it")
    parser.add_argument("--of", metavar="SOURCE", help="leave out groups of this source only")
    parser.add_argument("--verdicts", metavar="FILE", help="write what --leave-out predicts, as `validate --json` does: "
                        "calibrate_intervals.py --left-out takes it")
    parser.add_argument("--write", action="store_true", help="change the shipped profiles")
    parser.add_argument("--sample", type=int, default=48, help="records of one source that are used at most")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--cache", help="file that keeps the sensitivities from one call to the next")
    options = parser.parse_args()
    if options.verdicts and not options.leave_out:
        parser.error("--verdicts: of runs that were left out; --leave-out is missing")
    if options.of and not options.leave_out:
        parser.error("--of: groups that are left out; --leave-out is missing")

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
        group_of = GROUPS[options.leave_out]
        groups = {r["id"]: group_of(r) for r in runner.records if r["id"] in base and options.of in (None, r["source"]["key"])}
        if not groups:
            parser.error(f"--of {options.of}: no record of that source was scored")
        left_out = leave_out(runner, records, jacobian, errors, groups)
        report(f"Each {options.leave_out} predicted with the constants fitted to the others", left_out, "group")
        if options.verdicts:
            with open(options.verdicts, "w") as file:
                json.dump({"records": left_out}, file)
    if options.write:
        constants.write_back(np.exp(x))
        print(f"\nchanged the profiles in {PROFILES}")


if __name__ == "__main__":
    main()
