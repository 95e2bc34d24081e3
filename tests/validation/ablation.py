#!/usr/bin/env python3
"""What each cause that is simulated buys: mean errors of measured runs with it and without, all other constants as shipped.

    tests/validation/ablation.py --program build/release/bin/trainyard

A cause is left out by forgetting what records say of it, or by setting its constants to where it has no effect; nothing is
fitted again. Development records and later ones stand apart, since constants were fitted to the first only.
"""

import argparse
import copy
import json
import os
import subprocess
import sys
import tempfile

from profile_files import ROOT, Constants, leaf

FILES = ("training_dev.json", "training_dev_2026.json", "b200_megatron_single_node.json")
CLASSES = (("dense", ("dense-decoder",)), ("mixtures", ("moe-decoder",)), ("hybrids", ("hybrid",)))


def forget(*fields):
    """Records without what their recipes say in these fields."""
    def change(record):
        for field in fields:
            record.get("recipe", {}).pop(field, None)
    return change


def forget_name(record):
    record["model"]["name"] = "unnamed"


def software(**values):
    """Constants of what a framework runs for a layer, in all classes that state them."""
    def change(documents):
        for file, document in documents.items():
            for key, value in values.items() if file.startswith("software/") else []:
                if found := leaf(document, f"kernels.{key}"):
                    found[0][found[1]] = value
    return change


def without_kernels(documents):
    for file, document in documents.items():
        if file.startswith("devices/"):
            document.pop("kernels", None)
            document.pop("under_load", None)


# Name, change to a record, change to the profiles.
CAUSES = (
    ("as shipped", None, None),
    ("dispatcher of the recipe", forget("moe_dispatcher"), None),
    ("exchanges beside another micro-batch", forget("expert_overlap"), None),
    ("CUDA graphs", forget("cuda_graphs", "cuda_graph_scope"), None),
    ("fused grouped MLP", forget("fused_grouped_mlp"), None),
    ("a launch for each expert", None, software(expert_launches=0)),
    ("choosing a kernel for new rows", None, software(expert_choice_launches=0)),
    ("the host's wait for counts", None, software(counts_on_host=False)),
    ("biases and clamps apart", None, software(expert_bias_apart=False)),
    ("modules that are recomputed", forget("recompute_modules"), None),
    ("offloaded activations", forget("activation_offload_layers"), None),
    ("all of the recipe", lambda record: record.pop("recipe", None), None),
    ("details of published models", forget_name, None),
    ("measured kernels", None, without_kernels),
)


def verdicts(program, records, change_record, change_profiles):
    records = copy.deepcopy(records)
    for record in records if change_record else []:
        change_record(record)
    constants = Constants()
    if change_profiles:
        change_profiles(constants.documents)
    with tempfile.TemporaryDirectory() as folder:
        constants.write(folder, [1.0] * len(constants.entries))
        path = os.path.join(folder, "records.json")
        with open(path, "w") as file:
            json.dump(records, file)
        done = subprocess.run([program, "validate", path, "--json"], env=dict(os.environ, TRAINYARD_DATA=folder),
                              check=False, capture_output=True, text=True)
    if not done.stdout:
        sys.exit(done.stderr)
    return [r for r in json.loads(done.stdout)["records"] if r["skipped"] is None]


def errors(rows):
    """Mean absolute error and bias in percent, of each class."""
    out = []
    for _, kinds in CLASSES:
        found = [r["error"] for r in rows if r["class"].startswith(kinds)]
        out.append(f"{100 * sum(map(abs, found)) / len(found):4.1f} ({100 * sum(found) / len(found):+.1f})" if found else "")
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", required=True, help="the built trainyard")
    options = parser.parse_args()
    files = {}
    for name in FILES:
        with open(os.path.join(ROOT, "tests/validation/records", name)) as file:
            files[name] = json.load(file)
    heads = [f"{name.split('.')[0]}: {kind}" for name in FILES for kind, _ in CLASSES]
    table = [[cause] + [cell for name in FILES for cell in errors(verdicts(options.program, files[name], *changes))]
             for cause, *changes in CAUSES]
    used = [i for i in range(len(heads)) if any(row[i + 1] for row in table)]
    print("| without | " + " | ".join(heads[i] for i in used) + " |\n" + "|---" * (len(used) + 1) + "|")
    for row in table:
        print(f"| {row[0]} | " + " | ".join(row[i + 1] for i in used) + " |")


if __name__ == "__main__":
    main()
