"""The profile files with the constants to fit: read, copied with factors, written back."""

import glob
import json
import math
import os
import re
import sys

from fitted_constants import table

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
PROFILES = "calibrate/profiles"
TIGHTER = 0.5  # of the priors' widths: 1 fits these records closer and predicts left-out sources worse


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
        for shared in ("topologies", "scenarios", "calibrate/accuracy"):
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
