#!/usr/bin/env python3
"""Writes scenarios/COMPARED.md: figures that public guides quote, beside what the program says.

  compared.py PROGRAM PAGE [--update]

Every number of ours comes from a run of the program on a scenario that the page names. Without
--update the page must already be what would be written. Run in the root of the source tree.
"""

import difflib
import sys

import runs
from decision_table import decision_table
from guide_rows import ROWS


def page():
    lines = [
        "# Figures that public guides quote, beside ours",
        "",
        "Guides on distributed training quote figures and rules that users expect to see again. Each is printed here beside what",
        "this program says, with a sentence where they differ; nothing is fitted to them. `tests/pages/compared.py` writes this page",
        "from runs of the program, and a test holds it to them.",
        "",
        "| topic | guides | here | why they differ |",
        "|---|---|---|---|",
    ]
    behind = []
    for row in ROWS:
        topic, quoted, ours, command, why = row()
        lines.append(f"| {topic} | {quoted} | {ours} | {why} |")
        behind.append((topic, command))
    lines += ["", "The runs behind the rows:", ""]
    lines += [f"* {topic}: `./trainyard {command}`" for topic, command in behind]
    lines += [
        "",
        "## Which strategy fits",
        "",
        "Guides choose by a rule: what fits in one GPU gets DDP, else transformers are sharded (FSDP, ZeRO-3), else cut by tensor or",
        "pipeline parallelism, the largest by all three. Whether a case needs sharding depends on the GPU's memory, so here it is",
        "stated: 16 GB (V100), 24 GB (RTX 4090), 40 and 80 GB (A100). Cells hold the peak of the fullest device; \"no\" where that is",
        "more than the driver reports. Scenarios are in `decision/`; `topology.node` changes the device:",
        "",
        "    ./trainyard compare scenarios/decision/llama-7b/*.json --set topology.node=dgx-a100-40gb",
    ]
    lines += decision_table()
    return "\n".join(lines) + "\n"


def main():
    if len(sys.argv) not in (3, 4) or sys.argv[3:] not in ([], ["--update"]):
        sys.exit(__doc__)
    runs.PROGRAM = sys.argv[1]
    written = page()
    if sys.argv[3:]:
        with open(sys.argv[2], "w", encoding="utf-8") as file:
            file.write(written)
        return
    with open(sys.argv[2], encoding="utf-8") as file:
        shown = file.read()
    if shown != written:
        sys.stdout.writelines(difflib.unified_diff(
            shown.splitlines(True), written.splitlines(True), sys.argv[2], "what the program prints"))
        sys.exit(f"{sys.argv[2]} shows other figures; compared.py PROGRAM PAGE --update mends it")


if __name__ == "__main__":
    main()
