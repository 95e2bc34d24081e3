#!/usr/bin/env python3
"""Reads a folder of Hugging Face configs with `trainyard model show` and compares with golden lines.

    check_configs.py TRAINYARD FOLDER              compare with expected.tsv: parameters, active, layers by kind
    check_configs.py TRAINYARD FOLDER --renamed    the same configs with their family's name taken away
    check_configs.py TRAINYARD FOLDER --update     write expected.tsv

The configs are published files and are not kept here; expected.tsv holds one line for each: its name, parameters in
all and of one token, those of the input's embedding, layers by kind.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

GOLDEN = pathlib.Path(__file__).with_name("expected.tsv")


def shown(program, path):
    run = subprocess.run([program, "model", "show", str(path), "--json"], capture_output=True, text=True)
    if run.returncode != 0:
        return None, run.stderr.splitlines()[0].split("error: ")[-1]
    return json.loads(run.stdout), None


def line_of(model):
    kinds = [f"{g['layers']} {g['kind']}" for g in model["layers_by_kind"] if not g["ends"]]
    return [f"{model['parameters']:.0f}", f"{model['active_parameters']:.0f}",
            f"{model['embedding_parameters']:.0f}", ", ".join(kinds)]


def nameless(config):
    out = {k: v for k, v in config.items() if k not in ("architectures", "auto_map")}
    out["model_type"] = "zorglub"
    for part in ("text_config", "vision_config", "audio_config"):
        if isinstance(out.get(part), dict):
            out[part] = nameless(out[part])
    return out


def stated_sizes(name):
    """Billions that a name states, in all and of a token, and half a unit of its last digit: "235B-A22B"."""
    found = re.search(r"(?<![\w.])(\d+(?:\.\d+)?)[bB](?:-[aA](\d+(?:\.\d+)?)[bB])?", name)
    if not found:
        return []
    half = lambda text: 0.5 * 10.0 ** -(len(text.split(".")[1]) if "." in text else 0)
    return [(float(t), half(t)) for t in found.groups() if t]


def off_the_name(value, size, half):
    """Relative distance from the interval that the name's rounding leaves."""
    low, high = size - half, size + half
    return 0.0 if low <= value <= high else (value - high) / high if value > high else (value - low) / low


def read_all(program, folder, renamed):
    out = {}
    with tempfile.TemporaryDirectory() as scratch:
        for path in sorted(pathlib.Path(folder).glob("*.json")):
            source = path
            if renamed:
                source = pathlib.Path(scratch) / path.name
                source.write_text(json.dumps(nameless(json.loads(path.read_text()))))
            out[path.name] = shown(program, source)
    return out


def golden_lines():
    if not GOLDEN.exists():
        return {}
    rows = [row.split("\t") for row in GOLDEN.read_text().splitlines()[1:]]
    return {row[0]: row[1:] for row in rows}


def main():
    program, folder = os.path.abspath(sys.argv[1]), sys.argv[2]
    renamed = "--renamed" in sys.argv
    models = read_all(program, folder, renamed)
    read = {name: model for name, (model, _) in models.items() if model}
    print(f"{len(read)} of {len(models)} read")
    for name, (model, why) in models.items():
        if not model:
            print(f"refused  {name}: {why}")
    if "--update" in sys.argv:
        rows = ["config\tparameters\tof a token\tof the input's embedding\tlayers"]
        rows += ["\t".join([name, *line_of(model)]) for name, model in read.items()]
        GOLDEN.write_text("\n".join(rows) + "\n")
        return 0
    golden, wrong, far = golden_lines(), 0, 0
    for name, model in read.items():
        expected = golden.get(name)
        if expected is None:
            continue
        line = line_of(model)
        if renamed:
            off = [float(line[i]) / float(expected[i]) - 1 for i in (0, 1)]
            if max(map(abs, off)) > 0.01 or line[3] != expected[3]:
                far += 1
                print(f"differs  {name}: parameters {off[0]:+.1%}, of a token {off[1]:+.1%}"
                      + ("" if line[3] == expected[3] else f"; {line[3]}"))
        elif line != expected:
            wrong += 1
            print(f"WRONG    {name}: {line}, expected {expected}")
    if renamed:
        print(f"{len(read) - far} within 1 % of what the family's reader says")
        return 0
    for name, model in read.items():
        sizes = stated_sizes(name)
        values = [model["parameters"] / 1e9, model["active_parameters"] / 1e9]
        for (size, half), value, bar, what in zip(sizes, values, (0.03, 0.05), ("in all", "of a token")):
            off = off_the_name(value, size, half)
            if len(sizes) == 2 and abs(off) > bar:
                inner = value - model["embedding_parameters"] / 1e9
                print(f"off      {name}: {value:.2f} B {what}, the name says {size:g} ({off:+.1%}); "
                      f"without the input's embedding {inner:.2f} B ({off_the_name(inner, size, half):+.1%})")
    print(f"{wrong} differ from expected.tsv")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
