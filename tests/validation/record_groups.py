"""What records have in common: the groups that are left out of a fit, or scored, together."""


def of_source(record):
    return record["source"]["key"]


def of_model(record):
    """Models of one publication, by sizes."""
    model = record["model"]
    return f"{of_source(record)}, {model.get('layers')} layers of {model.get('hidden')}"


def of_release(record):
    """A release with its patch releases: 26.02 and 26.02.01."""
    release = record["source"].get("release") or "no release"
    return f"{of_source(record)} {'.'.join(release.split('.')[:2])}"


GROUPS = {"source": of_source, "model": of_model, "release": of_release}


def run_as_configured(record):
    """What two measurements of one run share: model, devices, lengths, batch, format and layout."""
    model, layout = record["model"], record["parallel"]
    sizes = [model.get(key) for key in ("hidden", "layers", "heads", "ffn", "vocab", "experts")]
    return (*sizes, record["hardware"]["gpu"], record["n_gpus"], record.get("seq_len"), record.get("global_batch"),
            record.get("micro_batch"), record.get("precision"), *(layout.get(key) or 1 for key in ("tp", "pp", "vpp", "cp", "ep")))
