"""Tables of errors by source, in Markdown."""

import math

from fitted_constants import is_class


def grouped(verdicts, key, keep):
    out = {}
    for r in verdicts:
        if keep(r):
            out.setdefault(r[key], []).append(r)
    return dict(sorted(out.items()))


def is_dense_a(r):
    return r["class"] == "dense-decoder" and r["quality"] == "A"


KINDS = (("dense decoders, quality A", is_dense_a), ("mixtures of experts", is_class("moe-decoder")),
         ("encoders and CNNs", is_class("encoder", "cnn")))


def nine_in_ten(rows, key):
    """The error that nine in ten stay below, each group counting as much as any other."""
    count = {}
    for r in rows:
        count[r[key]] = count.get(r[key], 0) + 1
    total, reached = len(count), 0.0
    for r in sorted(rows, key=lambda r: abs(r["error"])):
        reached += 1 / count[r[key]]
        if reached >= .9 * total:
            return abs(r["error"])
    return math.nan


def covered(r):
    return r["interval_s"][0] <= r["measured_s"] <= r["interval_s"][1]


def report(title, verdicts, key="source"):
    """Tables in Markdown: mean error of each source or other group, and how many rows lie in the intervals that are printed."""
    print(f"\n{title}\n\n| {key} | rows | mean error | bias | in the interval |\n|---|---|---|---|---|")
    for label, keep in KINDS:
        sources = grouped(verdicts, key, keep)
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
        print(f"| **{label}**, mean of {key}s | {count} | **{100 * sum(means) / len(means):.1f} %** | | "
              f"{100 * sum(shares) / len(shares):.0f} % |")
        print(f"| nine in ten | | below {100 * nine_in_ten([r for v in sources.values() for r in v], key):.1f} % | | |")
