"""python -m fuzz: run random programs for some minutes, shrink and print those that differ, and print counts."""

from __future__ import annotations

import argparse
import faulthandler
import importlib
import json
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from unittest import mock

import bitblas
from bitblas import device, formats

from . import palette
from .generate import generate
from .palette import Palette
from .program import NAME, Program, Statement, script
from .run import Difference, Run, oracle_alone
from .shrink import shrink

DIFFERS = 3  # exit code after a difference
ORDERS = ("degree", "rcm")
FORMS = tuple(f'format="{f.name}"' + ("" if f.tile is None else f", tile={f.tile}") for f in formats.FORMATS.values())

KINDS = ("verbs", "types", "forms", "masks", "aliases", "met")


def mask_kind(s: Statement) -> str:
    """Of a statement, its mask, accumulator and replace."""
    kind = ("~" if s.mask[0] == "~" else "") + ("S" if s.mask.endswith(".S") else "V") if s.mask else "no mask"
    kind = "combined" if " " in s.mask else kind
    parts = " of the region" * bool(s.mask and s.inner), ", accum" * bool(s.accum), ", replace" * s.replace
    return kind + "".join(parts)


class State:
    """`number` is the program that runs; `faults` how many differed; `what` is the last difference."""

    def __init__(self, path: Path, start: int = 0, *, fresh: bool = False) -> None:
        self.path, self.number, self.faults, self.what = path, start, 0, ""
        self.counts: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
        if not fresh:
            self.number, self.faults, self.what, counts = json.loads(path.read_text())
            self.counts = {kind: Counter(counts[kind]) for kind in KINDS}

    def save(self) -> None:
        self.path.parent.mkdir(exist_ok=True)
        self.path.write_text(json.dumps([self.number, self.faults, self.what, self.counts]))

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


def palette_of(number: int, args: argparse.Namespace) -> Palette:
    """The palette of a program; consecutive programs share one, because its kernels must be compiled."""
    if args.width == 0:
        return palette.COMMON
    found = palette.draw(random.Random(f"{args.seed} {number // args.share}"), args.width, FORMS, ORDERS)
    return found._replace(types=tuple(args.types.split(","))) if args.types else found


def program_of(number: int, args: argparse.Namespace) -> Program:
    return generate(f"{args.seed} {number}", palette_of(number, args))


def _differs(program: Program) -> str | None:
    try:
        found = Run(program).whole()
    except Exception:  # not a valid program: an index out of range after shrinking
        return None
    return None if found is None else found.kind


def report(number: int, program: Program, found: Difference, args: argparse.Namespace) -> None:
    least = shrink(program, found.kind, _differs, args.tries)
    again = Run(least).whole() or found
    print(f"\n# ---- SEED={args.seed} ONE={number} ----\n{script(least)}")
    print("\n".join(f"# {line}" for line in f"{again.kind}: {again.what}".splitlines()), flush=True)


def one(args: argparse.Namespace) -> int:
    """One program, each statement printed before it runs."""
    program = program_of(args.one, args)
    if args.oracle:  # earlier ones too, because memory corruption shows later
        for number in range(max(args.start, args.one - 20), args.one + 1):
            oracle_alone(program_of(number, args))
        return 0
    run = Run(program)
    for at, statement in enumerate(program.statements):
        if not args.quiet:
            print(statement.text(), flush=True)
        found = run.step(at)
        if found is not None:
            report(args.one, program, found, args)
            return 1
    print(f"{script(program)}# no difference; {dict(run.met)}")
    return 0


def work(args: argparse.Namespace) -> int:
    """Programs in this process, up to one that differs: DIFFERS."""
    state, found = State(args.state), None
    while state.number - args.start < args.count and state.faults < args.faults and time.time() < args.until:
        state.save()
        program = program_of(state.number, args)
        run = Run(program)
        found = run.whole()
        state.add(program, run.met)
        state.number += 1
        if found is not None:
            state.faults, state.what = state.faults + 1, f"statement {found.at}, {found.kind}: {found.what}"
            break
    state.save()
    return DIFFERS if found is not None else 0


def many(args: argparse.Namespace) -> int:
    """Run programs in separate processes; after a crash, another process continues."""
    begin, command = time.time(), [sys.executable, "-m", "fuzz", *sys.argv[1:]]
    state = State(args.state, args.start, fresh=True)
    state.save()
    while code := subprocess.run([*command, "--until", str(begin + 60 * args.minutes)]).returncode:
        state = State(args.state)
        if code == DIFFERS:
            alone = [*command, "--quiet", "--one", str(state.number - 1)]
            again = subprocess.run(alone).returncode
            if again < 0:  # a smaller one crashed
                subprocess.run([*alone, "--tries", "0"])
            elif not again:
                print(f"# SEED={args.seed} ONE={state.number - 1} differed after programs before it: {state.what}")
        elif code < 0:
            alone = [*command, "--oracle", "--one", str(state.number)]
            theirs = subprocess.run(alone, capture_output=True).returncode < 0
            state.counts["met"][f"{'python-graphblas' if theirs else 'bitblas'} crashes"] += 1
            if not theirs:
                state.faults += 1
                print(f"\n# ---- SEED={args.seed} ONE={state.number} ----\n# signal {-code} ended the process")
            state.number += 1
            state.save()
        else:
            return code
    state = State(args.state)
    state.print()
    wall = time.time() - begin
    print(f"{state.number - args.start} programs, {state.faults} faults, {wall:.0f} s, on {args.device}")
    return 1 if state.faults else 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="fuzz")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--count", type=int, default=10**9, help="stop after so many programs")
    parser.add_argument("--start", type=int, default=0, help="the first program")
    parser.add_argument("--one", type=int, help="that program alone")
    parser.add_argument(
        "--width", type=int, default=3, help="operators of each kind that programs share; 0: common ones"
    )
    parser.add_argument("--types", default="", help="of values, such as FC64,Pair, instead of those that are drawn")
    parser.add_argument("--share", type=int, default=2000, help="how many programs share them")
    parser.add_argument("--faults", type=int, default=20, help="stop after so many faults")
    parser.add_argument("--tries", type=int, default=1000, help="how often a program is made smaller at most")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--state", type=Path, default=Path(".cache/fuzz.json"))
    parser.add_argument("--quiet", action="store_true", help="with --one: only what differs")
    parser.add_argument("--oracle", action="store_true", help="with --one: python-graphblas alone")
    parser.add_argument("--until", type=float, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one is None and args.until is None:
        return many(args)
    faulthandler.enable()
    if args.device == "emulator":
        importlib.import_module("emulator.device")  # registers it
    if args.device != "cpu":
        mock.patch.object(device.Cpu, "kernel", _refuse).start()
    with bitblas.config.set(device=args.device):
        return work(args) if args.one is None else one(args)


def _refuse(self: device.Cpu, variant: object) -> None:
    raise AssertionError(f"a CPU kernel was asked for: {variant}")


if __name__ == "__main__":
    sys.exit(main())
