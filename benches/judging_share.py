"""Share of a step that judging takes, in instructions, for the rows of the bench `step_cost`.

    cargo bench -p stickslip --bench step_cost --no-run      # prints the program
    python3 benches/judging_share.py PROGRAM

Instructions do not depend on what else a machine does. Judging is what a run does beyond its steps, records and account to
be believed: residual and certificate, uniqueness, positions, passages. The mark is a tenth. Needs valgrind.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROWS = [
    "bouncing ball, moreau-jean",
    "bouncing ball, moreau",
    "rod with friction, moreau-jean, coulomb",
    "rod with friction, moreau, argmin",
    "block on two feet, moreau-jean, coulomb",
]
JUDGES = [
    "ContactStage::certify",
    "UniquenessWatch::is_settled",
    "Simulation::examine_uniqueness",
    "Simulation::watch_passages",
    "PositionWatch::observe",
    "FrameWatch::look",
    "JumpWatch::look",
]
STEP = "Simulation::step_towards"
MARK = 10.0


def instructions(program: str, row: str) -> dict[str, int]:
    """Inclusive instructions of the functions that judge and, under "all", of every step of a row."""
    with tempfile.TemporaryDirectory() as folder:
        counts = str(Path(folder) / "counts")
        subprocess.run(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={counts}", f"--toggle-collect=*{STEP}*", program, f"{row}, step"],
            env=dict(os.environ, STEP_COST_ONCE="1"),
            capture_output=True,
            check=True,
        )
        table = subprocess.run(
            ["callgrind_annotate", "--inclusive=yes", "--threshold=100", counts], capture_output=True, check=True, text=True
        ).stdout
    found = dict.fromkeys(JUDGES, 0)
    for line in table.splitlines():
        number = re.match(r"\s*([\d,]+) \(", line)
        if number is None:
            continue
        count = int(number[1].replace(",", ""))
        if "PROGRAM TOTALS" in line:
            found["all"] = count
        for judge in JUDGES:
            if re.search(judge + r"\b", line):
                found[judge] += count
    return found


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__)
        return 1
    missed = 0
    for row in ROWS:
        found = instructions(sys.argv[1], row)
        total = found.pop("all")
        share = 100 * sum(found.values()) / total
        parts = ", ".join(f"{judge.split('::')[1]} {100 * count / total:.2f}" for judge, count in found.items() if count)
        print(f"{row:<44} {share:5.2f} % (mark {MARK:.0f})   {parts}")
        missed += share > MARK
    return missed


if __name__ == "__main__":
    sys.exit(main())
