"""`bitblas make rmat 20`: generate a graph with the functions of `bitblas.algorithms.generators`."""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Callable
from typing import Any

from .. import algorithms
from ..graph.edges import direction_in, has_every_reverse
from ..io import FILE_FORMATS, Graph, file_format_of, write
from . import output
from .source import facts, storage
from .ticker import Ticker
from .timing import Timer


def generators() -> dict[str, Callable[..., Any]]:
    """The generators by their command-line names."""
    found = {name: getattr(algorithms, name) for name in algorithms.__all__}
    return {
        name.removesuffix("_graph").replace("_", "-"): program
        for name, program in found.items()
        if ".generators." in program.__module__
    }


def number(text: str) -> int | float:
    """An integer or a float. ValueError otherwise."""
    try:
        return int(text)
    except ValueError:
        return float(text)


def add_generator(p: argparse.ArgumentParser, program: Callable[..., Any]) -> None:
    """Add the arguments of a generator: positional parameters as arguments, keyword-only ones as options."""
    for name, parameter in inspect.signature(program).parameters.items():
        flag, default = f"--{name.replace('_', '-')}", parameter.default
        if name == "gb":
            continue
        if parameter.kind is not parameter.KEYWORD_ONLY and default is parameter.empty:
            p.add_argument(name, metavar=name.upper(), type=number)
        elif default is False:
            p.add_argument(flag, action="store_true")
        else:
            said = "random seed" if name == "seed" else ""
            p.add_argument(
                flag, type=number, default=default, metavar="N", help=f"{said} (default {default or 0})".strip()
            )
    output.add_out(p, "write to this file (default: .npz, named after KIND and its arguments)")
    p.add_argument("--output-format", choices=FILE_FORMATS, help="default: by the suffix of OUT")
    p.set_defaults(program=program)


def make(args: argparse.Namespace) -> None:
    """Generate a graph and write it."""
    parameters = inspect.signature(args.program).parameters
    given = {name: getattr(args, name) for name in parameters if name != "gb"}
    plain = [str(given[name]) for name, p in parameters.items() if p.default is p.empty]
    args.out = args.out or "-".join([args.kind, *plain]) + ".npz"
    output.check(args)
    if args.out != output.STDOUT and args.output_format is None:
        output.kind_of(args.out, matrix=True)
    import bitblas as gb

    device = storage(args)["device"]
    with Timer() as taken, Ticker("make"), gb.config.set(**({} if device is None else {"device": device})):
        A = args.program(**given)
        kind = args.output_format or ("mtx" if args.out == output.STDOUT else None)
        ways = given.get("directed", not has_every_reverse(A, loops=True))
        stated = direction_in(Graph(A, directed=ways), kind or file_format_of(args.out))
        write(output.target(args.out), A, kind, **stated)
    made = {"kind": args.kind, "arguments": given, **facts(A), "out": args.out}
    made |= {"seconds": taken.seconds, "compile_seconds": taken.compiling}
    output.tell(args, made, f"{args.out}: {A.nrows} vertices, {A.nvals} entries, in {taken}")
