"""The commands `compare` and `demo` (SuiteSparse:GraphBLAS), `completion`, `run` (ranks), and `warm`."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from importlib.util import find_spec

from ..io import Graph, mmread
from .input import Fault, facts, load, storage, vertex
from .output import Ticker

# ---- `bitblas compare` and `bitblas demo`: run the same programs on bitblas and on SuiteSparse:GraphBLAS.


def compare(args: argparse.Namespace) -> int:
    """Run and print the table; 1 if a result differs."""
    # SuiteSparse and Numba each load an OpenMP runtime. Spinning idle threads of one take the cores from the other:
    # milliseconds per call on two cores. The runtimes read this variable when they are loaded, so set it first.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    from .. import compare, plots
    from ..algorithms import bfs_levels

    if args.picture:
        plots.kind_of(args.picture)
    elif args.command == "demo" and not args.json and find_spec("matplotlib"):
        args.picture = os.path.join(tempfile.gettempdir(), "bitblas-demo.png")
    where = storage(args)
    if args.command == "demo":
        args.file = compare.DEMO_GRAPH
        graph = Graph(mmread(compare.demo_path(), device="cpu"))
    else:
        graph = load(args)
    compare.chosen(args.algorithms)  # raises for an unknown name before the work begins
    A = graph.matrix
    source = vertex(graph, args.source, "--source")
    devices = [args.device] if args.device else None
    sides = compare.sides(A, devices, format=where["format"], tile=where["tile"])
    if not args.json:
        print("\n".join(compare.introduction(args.file, A, source)), "\n")
        print(compare.heading(sides), flush=True)
    rows: list[compare.Row] = []
    names = [program.name for program in compare.chosen(args.algorithms)]
    for number, name in enumerate(names, 1):
        with Ticker(f"{name}, {number} of {len(names)}"):
            rows += compare.rows(sides, source, name)
        if not args.json:
            print(compare.line(rows[-1]), flush=True)
    equal = all(row.equal for row in rows)
    if args.picture:
        with Ticker("picture"):
            plots.save(plots.levels(A, source, title=f"{args.file}: distance from vertex {source}"), args.picture)
    if args.json:
        record = {"command": args.command, "file": args.file, **facts(A), "source": source, "equal": equal}
        print(json.dumps({**record, "rows": [compare.as_dict(row) for row in rows]}))
        return 0 if equal else 1
    if args.command == "demo":
        print(f"\nNumber of crossings by distance from crossing {source}:")
        print("\n".join(compare.distances(bfs_levels(A, source))))
    if args.picture:
        print(f"\nPicture: {args.picture}")
    print("", *compare.closing(rows, sides), sep="\n")
    return 0 if equal else 1


# ---- `bitblas completion bash`: shell completion of commands, options and their values.

SHELLS = ("bash", "zsh", "fish")


def options_of(p: argparse.ArgumentParser) -> dict[str, list[str]]:
    """The options of a command, each with its choices."""
    return {
        flag: [str(choice) for choice in action.choices or ()]
        for action in p._actions
        for flag in action.option_strings
        if flag.startswith("--")
    }


def commands_of(top: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The commands by their names and aliases."""
    return next(action.choices for action in top._actions if isinstance(action, argparse._SubParsersAction))


def completion(args: argparse.Namespace) -> None:
    """Print the completion script of a shell."""
    commands = commands_of(args.whole)
    print({"bash": _bash, "zsh": _zsh, "fish": _fish}[args.shell](commands))


def _bash(commands: dict[str, argparse.ArgumentParser]) -> str:
    cases, values = [], []
    for name, p in commands.items():
        options = options_of(p)
        cases.append(f"    {name}) words='{' '.join(options)}' ;;")
        values += [f"    {name}:{flag}) words='{' '.join(known)}' ;;" for flag, known in options.items() if known]
    head = """_bitblas() {
  local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" words=""
  if [ $COMP_CWORD -eq 1 ]; then"""
    tail = """    esac ;; esac ;;
  esac; fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _bitblas bitblas"""
    choices = [f"    words='{' '.join(commands)}'", '  else case "${COMP_WORDS[1]}:$before" in', *values]
    return "\n".join([head, *choices, '    *) case "$word" in -*) case "${COMP_WORDS[1]}" in', *cases, tail])


def _zsh(commands: dict[str, argparse.ArgumentParser]) -> str:
    return "autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n" + _bash(commands)


def _fish(commands: dict[str, argparse.ArgumentParser]) -> str:
    lines = [f"complete -c bitblas -n __fish_use_subcommand -a '{' '.join(commands)}'"]
    for name, p in commands.items():
        for flag, known in options_of(p).items():
            more = f" -x -a '{' '.join(known)}'" if known else ""
            lines.append(f"complete -c bitblas -n '__fish_seen_subcommand_from {name}' -l {flag[2:]}{more}")
    return "\n".join(lines)


# ---- `bitblas run -n 4 program.py`: start a program on several ranks (docs/scale.md).


def run_ranks(args: argparse.Namespace) -> int:
    """The exit code of the first rank that failed, else 0."""
    from ..distributed.launch import run as launch

    if not args.program:
        raise Fault("run: expected a program, as in bitblas run -n 2 program.py")
    return launch(args.ranks, args.program, args.device)


# ---- `bitblas warm`: compile CPU kernels ahead of their first use.


def warm(args: argparse.Namespace) -> int:
    """Compile the kernels and show progress on the terminal; 1 if a program failed."""
    from ..registry import warm as registry

    begin, ended, kernels, failed = time.monotonic(), 0, 0, []
    tasks, terminal = registry.tasks(args.files, every=args.all), sys.stderr.isatty()
    total = len(tasks)
    for done in registry.warm(tasks, args.processes):
        ended, kernels = ended + 1, kernels + done.kernels
        failed += [done] if done.error else []
        if terminal:
            line = f"compiling: {kernels} kernels, {ended} of {total} programs, {time.monotonic() - begin:.0f} s"
            print(f"\r{line}", end="" if ended < total else "\n", file=sys.stderr, flush=True)
    for done in failed:
        print(f"bitblas: error: {done.program}: {' '.join(done.error.split())}", file=sys.stderr)
    seconds = round(time.monotonic() - begin, 1)
    if args.json:
        errors = {done.program: done.error for done in failed}
        print(json.dumps({"command": "warm", "kernels": kernels, "seconds": seconds, "errors": errors}))
    else:
        print(f"{kernels} kernels compiled in {seconds:.0f} s; {total - len(failed)} of {total} programs ran")
    return 1 if failed else 0
