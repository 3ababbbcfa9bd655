"""Counts of the parts of a run's programs, in a file, because a library may end the process."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from .program import NAME, Program, Statement

KINDS = ("verbs", "types", "forms", "masks", "aliases", "met")


def mask_kind(statement: Statement) -> str:
    mask = statement.mask
    kind = "no mask"
    if mask:
        kind = "combined" if " " in mask else ("~" if mask[0] == "~" else "") + ("S" if mask.endswith(".S") else "V")
    if statement.mask and statement.inner:
        kind = f"{kind} of the region"
    return kind + (", accum" if statement.accum else "") + (", replace" if statement.replace else "")


class State:
    """`number` is the program that runs; `faults` how many differed; `what` is the last difference."""

    def __init__(self, path: Path, start: int = 0, *, fresh: bool = False) -> None:
        self.path, self.number, self.faults, self.what = path, start, 0, ""
        self.counts: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
        if not fresh:
            found = json.loads(path.read_text())
            self.number, self.faults, self.what = found["number"], found["faults"], found["what"]
            self.counts = {kind: Counter(found["counts"][kind]) for kind in KINDS}

    def save(self) -> None:
        self.path.parent.mkdir(exist_ok=True)
        found = {"number": self.number, "faults": self.faults, "what": self.what, "counts": self.counts}
        self.path.write_text(json.dumps(found))

    def add(self, program: Program, met: Counter[str]) -> None:
        of = self.counts
        of["met"].update(met)
        of["types"].update(d.dtype for d in program.declarations)
        of["forms"].update(d.form + (f", order {d.order}" if d.order else "") for d in program.declarations if d.form)
        waits = ""
        for s in program.statements:
            of["verbs"][s.verb] += 1
            if s.kind in ("assign", "new"):
                of["masks"][mask_kind(s)] += 1
                of["aliases"]["output is operand"] += s.out in NAME.findall(s.value)
                of["aliases"]["output is mask"] += s.out in NAME.findall(s.mask)
            of["aliases"]["writes wait"] += bool(waits) and waits in NAME.findall(s.text()) and not s.waits
            waits = s.out if s.waits else ""

    def print(self) -> None:
        for kind, counter in self.counts.items():
            print(f"{kind}: " + ", ".join(f"{key} {n}" for key, n in counter.most_common() if n))
