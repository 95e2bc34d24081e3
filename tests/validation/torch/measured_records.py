"""Measured steps as records, in the form of tests/validation/records."""

import datetime
import json
import os
import shutil

SOURCE = "torch_ddp_gloo"


def _name(configuration):
    return "".join(c if c.isalnum() else "-" for c in configuration["name"]).replace("--", "-")


def _model(network):
    if network["kind"] == "perceptron":
        return {"name": "-".join(map(str, network["widths"])), "arch": "perceptron on CPU"}
    return {"name": f"{network['layers']} x {network['hidden']}", "arch": "decoder on CPU",
            "hidden": network["hidden"], "layers": network["layers"], "heads": network["heads"],
            "ffn": 4 * network["hidden"], "vocab": network["vocabulary"], "gated_mlp": False}


def record(row, scenario, profile, ranks):
    """Of a configuration, its undisturbed runs, and the scenario that predicted it."""
    configuration, run = row["configuration"], row["runs"][0]
    network, bucket = configuration["network"], configuration["bucket"]
    steps = [step for run in row["runs"] for step in run["steps_s"]]
    device = profile["hardware"]["device"]["name"]
    gibibytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / (1 << 30)
    return {
        "id": f"torch-ddp-gloo-{_name(configuration)}",
        "quality": "A",
        "source": {"key": SOURCE,
                   "title": "PyTorch DistributedDataParallel over Gloo on the CPUs of one host",
                   "release": f"PyTorch {run['torch']}, {run['blas']}",
                   "date": datetime.date.today().isoformat(),
                   "table": "tests/validation/torch/ddp_check"},
        "task": "pretrain",
        "hardware": {"gpu": device, "gpu_family": "CPU", "gpus_per_node": ranks,
                     "network": "Gloo over TCP on the loopback", "cores": os.cpu_count(),
                     "memory_GiB": round(gibibytes, 1), "provenance": "measured there"},
        "n_gpus": ranks,
        "model": _model(network) | {"params_total": run["parameters"]},
        "seq_len": network.get("sequence"),
        "global_batch": scenario["training"]["global_batch"],
        "micro_batch": configuration["batch"],
        "grad_accum": configuration["accumulate"],
        "precision": "fp32",
        "parallel": {"tp": 1, "pp": 1, "dp": ranks, "zero_stage": 0,
                     "dp_kind": f"DDP, buckets of {bucket} MiB" if bucket
                     else "one all-reduce after backward"},
        "recompute": "none",
        "overlap": {"dp": bucket > 0},
        "framework": f"PyTorch {run['torch']} DistributedDataParallel",
        "measured": {"steps_ms": [round(1e3 * step, 3) for step in steps],
                     "others_share": round(max(run["others"] for run in row["runs"]), 4)},
        "derived": {"step_time_s": row["measured_s"],
                    "basis": f"median of {len(steps)} steps of {len(row['runs'])} runs after "
                             "warm-up, the slowest rank's"},
        "scenario": scenario,
    }


def write(folder, profile_file, records):
    """`records.json` beside a copy of the profile. What the file has of other ids stays, if it was
    measured with the same profile."""
    folder.mkdir(parents=True, exist_ok=True)
    kept, copy, target = [], folder / "profile.json", folder / "records.json"
    if target.exists() and copy.exists() and copy.read_bytes() == profile_file.read_bytes():
        ids = {record["id"] for record in records}
        kept = [old for old in json.loads(target.read_text()) if old["id"] not in ids]
    if not (copy.exists() and copy.samefile(profile_file)):
        shutil.copyfile(profile_file, copy)
    lines = ",\n".join(json.dumps(record) for record in kept + records)
    target.write_text(f"[\n{lines}\n]\n")
