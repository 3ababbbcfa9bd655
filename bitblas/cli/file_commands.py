"""Commands that run no single algorithm: `info`, `calibrate`, `convert`, `spy`, `make`, which generates a graph,
`compare` and `demo` (SuiteSparse:GraphBLAS), `completion`, `run` (ranks), and `warm`."""

from __future__ import annotations

import argparse
import inspect
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from .. import algorithms
from ..core import Matrix
from ..exceptions import DeviceError
from ..formats import TILES, format_of, tiled
from ..formats.hyper.layout import is_hyper
from ..graph.edges import can_store_names, direction_options, has_all_reverse_edges, lost_vertices
from ..io import FILE_FORMATS, Graph, file_format_of, host_coo, mmread, write
from ..io.build import Storage
from ..io.file_formats import output_format_of
from ..io.matrixmarket import DIGITS, check_precision
from ..plan.format_choice import FORMATS
from ..plan.profile import Orders, Profile
from . import output
from .algorithms import Summary
from .commands import as_options
from .input import TEXTS, Fault, check_tile, facts, load, number, storage, vertex
from .output import Ticker, Timer

# ---- Commands about files: `info`, `calibrate`, `convert` and `spy`.

QUANTILES = {"min": 0, "25 %": 25, "median": 50, "75 %": 75, "90 %": 90, "99 %": 99, "max": 100}


# ---- info ----


def degrees(counts: np.ndarray, more: int = 0) -> dict[str, float]:
    """Quantiles and mean of the entries per row or column, and the number of empty ones. more: empty ones that are not
    among the counts."""
    total = len(counts) + more
    if not total:
        return {}
    ordered = np.sort(counts)
    record: dict[str, float] = {}
    for name, share in QUANTILES.items():
        at = round(share / 100 * (total - 1)) - more
        record[name] = int(ordered[min(at, len(ordered) - 1)]) if at >= 0 else 0
    return {**record, "mean": float(counts.sum()) / total, "empty": int((counts == 0).sum()) + more}


def _counted(indices: np.ndarray, size: int) -> tuple[np.ndarray, int]:
    """The entries of each row or column, and the number of empty ones that are not among them, if most are."""
    if not is_hyper(size, 0, len(indices)):
        return np.bincount(indices, minlength=size), 0
    _, counts = np.unique(indices, return_counts=True)
    return counts, size - len(counts)


def graph_facts(graph: Graph, rows: np.ndarray, cols: np.ndarray, values: np.ndarray) -> Summary:
    """The facts of a graph that `info` prints first, in that order."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    A = graph.matrix
    lone = values.dtype == np.bool_ or not len(values)
    found: Summary = {"vertices": A.nrows, "edges": A.nvals, "directed": graph.directed}
    found["weights"] = None if lone else [values.min().item(), values.max().item()]
    some, alone = np.arange(0), 0  # the vertices with edges, if they are few; the number of those without
    if few := is_hyper(A.nrows, A.ncols, len(rows)):
        some, ends = np.unique(np.concatenate([rows, cols]), return_inverse=True)
        alone, (rows, cols) = A.nrows - len(some), np.split(ends, 2)
    size = A.nrows - alone
    pattern = coo_array((np.ones(len(rows), bool), (rows, cols)), shape=(size, size))
    count, which = connected_components(pattern, directed=False)
    found["components"] = int(count) + alone
    found["largest"] = int(np.bincount(which).max(initial=min(alone, 1)))
    out = np.bincount(rows, minlength=size)
    first = np.argsort(-out, kind="stable")[:3].tolist()
    number = lambda v: int(some[v]) if few else v
    return {**found, "most_edges": {str(graph.label(number(v))): int(out[v]) for v in first}}


def _graph_summary(found: Summary) -> str:
    weights = found["weights"]
    ends = "" if weights is None else f", with weights from {output.plain(weights[0])} to {output.plain(weights[1])}"
    edges = found["edges"] if found["directed"] else f"{found['edges']} (both ways)"
    most = ", ".join(f"{name} ({count})" for name, count in found["most_edges"].items())
    count = found["components"]
    parts = f"{count} connected components, the largest with {found['largest']} vertices"
    return (
        f"{found['vertices']} vertices, {edges} {'directed ' * found['directed']}edges"
        f"{ends or ', without weights'}\n{'all connected' if count == 1 else parts}\nmost edges from: {most}"
    )


def info(args: argparse.Namespace) -> None:
    """Describe a file and its stored format; without a file, describe this machine."""
    if args.file is None:
        _machine(args)
        return
    graph = load(args, square=False)
    A = graph.matrix
    rows, cols, values = host_coo(A)
    with Ticker("info"):
        graph_info = graph_facts(graph, rows, cols, values) if A.nrows == A.ncols else None
        profile = A.profile(measure=args.measure)
        orders = A.profile(orders=True) if args.orders else None
    matrix_facts = profile.facts
    forms: dict[str, dict[str, float]] = {key: {"bytes": matrix_facts.bytes_of(key)} for key in matrix_facts.forms}
    for key, form in forms.items():
        if format_of(key).tile is not None:
            tiles, inside, _ = matrix_facts.listing_in(key)
            form |= {"entries_per_tile": inside / max(1.0, tiles), "entries_in_tiles": inside}
        form |= {f"{verb}_us": us for verb, us in profile.predicted(key).items()}
    for (key, verb), us in profile.measured:
        forms[key][f"{verb}_measured_us"] = us
    rows_degrees = degrees(*_counted(rows, A.nrows))
    cols_degrees = degrees(*_counted(cols, A.ncols))
    loops = int((rows == cols).sum())
    if args.json:
        record = {"command": "info", "file": args.file, **facts(A), "labels": graph.labels is not None, "loops": loops}
        record |= {"graph": graph_info, "row_degrees": rows_degrees, "column_degrees": cols_degrees, "forms": forms}
        record |= {"chosen": profile.chosen, "stored": profile.stored, "outlook": profile.outlook}
        record |= {"pattern": profile.pattern.classes, "pattern_shares": profile.pattern.shares}
        costs, measured = profile.costs, profile.device if args.measure else None
        times = {"predicted_for": costs.device, "source": costs.source, "measured_on": measured}
        record |= {"values": profile.values._asdict(), "times": times, "depth": matrix_facts.levels}
        record |= {} if orders is None else {"orders": ordered(orders), "best": orders.best}
        print(json.dumps(record))
        return
    if graph_info is not None:
        print(_graph_summary(graph_info))
    if graph.labels is not None:
        print(f"vertices have names ({', '.join(map(str, graph.labels[:3]))}, ...)")
    print(f"\nas a matrix: {A.dtype}, {loops} on the diagonal, on {A.device.name}\n")
    print(f"{'entries per':12}" + "".join(f"{name:>9}" for name in (*QUANTILES, "mean", "empty")))
    for name, found in (("row", rows_degrees), ("column", cols_degrees)):
        print(f"{name:12}" + "".join(f"{x:>9.2f}" if key == "mean" else f"{x:>9}" for key, x in found.items()))
    if args.forms or args.measure or args.orders:
        print(f"\n{profile}\n\nmemory in use\n{A.memory()}")
    else:
        print(f"\n{_stored(profile)}")
    if orders is not None:
        print(f"\nunder other vertex orders\n{orders}")


def _stored(profile: Profile) -> str:
    """The stored format, the smallest, and the fastest, in words."""
    size = lambda key: f"{key}, {profile.facts.bytes_of(key):,} bytes"
    least = min(profile.facts.forms, key=profile.facts.bytes_of)
    formats = {f"stored as {size(profile.stored)}": profile.stored, f"smallest as {size(least)}": least}
    if profile.chosen != profile.stored:
        formats[f"fastest, by the plan, as {size(profile.chosen)}"] = profile.chosen
    more = "; --forms lists all, --orders also those under other vertex orders"
    return "; ".join(formats) + more


def ordered(orders: Orders) -> Summary:
    """The bytes and microseconds of each form under each order, and the bytes of the order."""
    return {
        name: {
            "permutation": seen.permutation,
            "seconds": orders.seconds.get(name, 0.0),
            "forms": {
                key: {"bytes": seen.facts.bytes_of(key)}
                | {f"{verb}_us": us for verb, us in seen.predicted(key).items()}
                for key in seen.facts.forms
            },
        }
        for name, seen in orders.profiles.items()
    }


def _machine(args: argparse.Namespace) -> None:
    import bitblas as gb

    from ..compare import cpu_threads

    found = {
        "version": gb.__version__,
        "devices": gb.device.available(),
        "device": gb.config.device,
        "threads": cpu_threads(),
    }
    try:
        found["cuda"] = gb.device.get("cuda").described()
    except DeviceError as error:
        found["cuda"] = str(error).removeprefix("device 'cuda': ")
    print(json.dumps(found) if args.json else "\n".join(f"{key}: {value}" for key, value in found.items()))


# ---- calibrate ----


def calibrate(args: argparse.Namespace) -> None:
    """Measure the products in all forms, fit the cost model, and save it."""
    import bitblas as gb

    from .. import calibrate
    from ..plan.cost_model import forget, path_of

    output.check(args)
    if args.out not in (None, output.STDOUT) and not args.out.endswith(".json"):
        raise Fault(f"{args.out}: expected a name that ends in .json")
    device = gb.device.get(args.device or gb.config.device)
    start = time.perf_counter()
    with Ticker("calibrate"):
        found = calibrate.calibrate(device, args.scale)
    path = Path(args.out) if args.out else path_of(device)
    if args.out == output.STDOUT:
        print(json.dumps(found.costs.to_json(), indent=1))
    else:
        calibrate.save(found.costs, path)
    forget()
    seconds = time.perf_counter() - start
    record = {"out": str(path), "seconds": seconds, **found.costs.to_json(), "gpu": device.is_gpu}
    record["samples"] = [sample.to_json() for sample in found.samples]
    output.print_summary(args, record, f"{found}\n\n{path}, in {seconds:.1f} s")


# ---- convert ----


def digits(text: str) -> int | None:
    """Parse the value of --precision."""
    try:
        return check_precision(int(text))
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected an integer from 1 to {DIGITS}, got {text!r}") from None


def add_convert_options(p: argparse.ArgumentParser) -> None:
    output.add_out(p, "the new file, written atomically", required=True)
    p.add_argument("--output-format", choices=FILE_FORMATS, help="default: by the suffix of OUT; Matrix Market for -")
    mtx = p.add_argument_group("to Matrix Market")
    mtx.add_argument("--field", choices=["real", "integer", "pattern"], help="default: by the values")
    mtx.add_argument("--symmetry", choices=["general", "symmetric", "skew-symmetric"], help="default: by the values")
    mtx.add_argument(
        "--precision", type=digits, metavar="DIGITS", help=f"significant digits of reals, 1 to {DIGITS} (default: all)"
    )
    mtx.add_argument("--comment", help="a comment at the top of the file")
    p.add_argument_group("to .npz").add_argument("--layout", choices=["csr", "csc", "coo"], help="default: csr")
    writer_options = p.add_argument_group("to .bitblas")
    writer_options.add_argument(
        "--format", choices=FORMATS[1:], help="the stored format (default: chosen by the planner)"
    )
    writer_options.add_argument("--tile", type=int, choices=TILES, help=f"edge of a tile ({', '.join(tiled())})")
    writer_options.add_argument("--packed", action="store_true", help="bit-packed values; integers only")
    edges = p.add_argument_group("to an edge list")
    edges.add_argument("--output-base", type=int, choices=[0, 1], help="the number of the first vertex (default 0)")
    edges.add_argument("--output-header", action="store_true", help="write a first line with the column names")
    edges.add_argument("--output-undirected", action="store_true", help="one line for an edge and its mirror image")


def convert(args: argparse.Namespace) -> None:
    """Write the same matrix to a file of another format."""
    output.check(args)
    to_stdout = args.out == output.STDOUT
    kind = output_format_of(args.out, args.output_format or ("mtx" if to_stdout else None))
    if to_stdout and kind == "bitblas":
        raise Fault("--out: expected a file for format bitblas, which is memory-mapped, got standard output")
    groups: dict[str, Summary] = {
        "mtx": {"field": args.field, "symmetry": args.symmetry, "precision": args.precision, "comment": args.comment},
        "npz": {"layout": args.layout},
        "parquet": {},
        "bitblas": {"format": args.format, "tile": args.tile, "packed": args.packed or None},
        "edges": {
            "base": args.output_base,
            "header": args.output_header or None,
            "directed": False if args.output_undirected else None,
        },
    }
    given = {name: {k: v for k, v in group.items() if v is not None} for name, group in groups.items()}
    writer_options = given.pop("edges" if kind in TEXTS else kind, {})
    if any(given.values()):
        wrong = ", ".join(name for group in given.values() for name in group)
        raise Fault(f"--out: a file of format {kind} has no {wrong}")
    stored, writer_options = (writer_options, {}) if kind == "bitblas" else ({}, writer_options)
    check_tile(stored.get("format"), stored.get("tile"))
    with Timer() as timer:
        where = Storage(device="cpu", format=stored.get("format"), tile=stored.get("tile"), packed=stored.get("packed"))
        graph = load(args, square=False, where=where)
        A = graph.matrix
        dropped = graph.labels is not None and not can_store_names(graph, kind)
        names = {} if graph.labels is None or dropped else {"labels": graph.labels}
        if args.output_undirected and not has_all_reverse_edges(A, loops=True):
            raise Fault("--output-undirected: expected a symmetric matrix, got one that is not")
        write(output.target(args.out), A, kind, **names, **(direction_options(graph, kind) | writer_options))
    record = {"file": args.file, **facts(A), "out": args.out, "output_format": kind, "labels_dropped": dropped}
    size = f" {os.path.getsize(args.out)} bytes," if os.path.isfile(args.out) else ""
    note = "; the names of the vertices are left out, because this format has none" if dropped else ""
    note += "".join(f"; {as_options(lost)} are left out" for lost in lost_vertices(graph, kind))
    output.print_summary(
        args,
        {**record, "seconds": timer.seconds, "compile_seconds": timer.compiling},
        f"{args.out}: {A.nrows} x {A.ncols}, {A.nvals} entries,{size} in {timer}{note}",
    )


# ---- spy ----


def spy(args: argparse.Namespace) -> None:
    """Plot the sparsity pattern."""
    from .. import plots

    output.check(args)
    if args.out != output.STDOUT:
        plots.kind_of(args.out)
    A = load(args, square=False).matrix
    figure = plots.spy(A, title=os.path.basename(args.file), tile=args.tile)
    plots.save(figure, output.target(args.out))
    output.print_summary(
        args, {"file": args.file, **facts(A), "out": args.out}, f"{args.out}: {A.nrows} x {A.ncols}, {A.nvals} entries"
    )


# ---- `bitblas make rmat 20`: generate a graph with the functions of `bitblas.algorithms.generators`.


def generators() -> dict[str, Callable[..., Matrix]]:
    """The generators by their command-line names."""
    found = {name: getattr(algorithms, name) for name in algorithms.__all__}
    return {
        name.removesuffix("_graph").replace("_", "-"): program
        for name, program in found.items()
        if ".generators." in program.__module__
    }


def add_generator(p: argparse.ArgumentParser, program: Callable[..., Matrix]) -> None:
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
    with Timer() as timer, Ticker("make"), gb.config.set(**({} if device is None else {"device": device})):
        A = args.program(**given)
        kind = args.output_format or ("mtx" if args.out == output.STDOUT else None)
        ways = given.get("directed", not has_all_reverse_edges(A, loops=True))
        stated = direction_options(Graph(A, directed=ways), kind or file_format_of(args.out))
        write(output.target(args.out), A, kind, **stated)
    record = {"kind": args.kind, "arguments": given, **facts(A), "out": args.out}
    record |= {"seconds": timer.seconds, "compile_seconds": timer.compiling}
    output.print_summary(args, record, f"{args.out}: {A.nrows} vertices, {A.nvals} entries, in {timer}")


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
    for at, name in enumerate(names, 1):
        with Ticker(f"{name}, {at} of {len(names)}"):
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


def words_of(p: argparse.ArgumentParser) -> list[str]:
    """The words that a command takes in the place of its first operand: kinds of graphs, shells."""
    action = next((action for action in p._actions if not action.option_strings), None)
    return [] if action is None else [str(choice) for choice in action.choices or ()]


def commands_of(top: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The commands by their names and aliases."""
    return next(action.choices for action in top._actions if isinstance(action, argparse._SubParsersAction))


def completion(args: argparse.Namespace) -> None:
    """Print the completion script of a shell."""
    commands = commands_of(args.whole)
    print({"bash": _bash, "zsh": _zsh, "fish": _fish}[args.shell](commands))


def _bash(commands: dict[str, argparse.ArgumentParser]) -> str:
    cases, values, operands = [], [], []
    for name, p in commands.items():
        options = options_of(p)
        if words := words_of(p):
            operands.append(f"    {name}) words='{' '.join(words)}' ;;")
        cases.append(f"    {name}) words='{' '.join(options)}' ;;")
        values += [f"    {name}:{flag}) words='{' '.join(known)}' ;;" for flag, known in options.items() if known]
    head = """_bitblas() {
  local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" words=""
  if [ $COMP_CWORD -eq 1 ]; then"""
    first = [
        '  elif [ $COMP_CWORD -eq 2 ] && [[ "$word" != -* ]]; then case "${COMP_WORDS[1]}" in',
        *operands,
        "  esac",
    ]
    tail = """    esac ;; esac ;;
  esac; fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _bitblas bitblas"""
    choices = [f"    words='{' '.join(commands)}'", *first, '  else case "${COMP_WORDS[1]}:$before" in', *values]
    return "\n".join([head, *choices, '    *) case "$word" in -*) case "${COMP_WORDS[1]}" in', *cases, tail])


def _zsh(commands: dict[str, argparse.ArgumentParser]) -> str:
    return "autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n" + _bash(commands)


def _fish(commands: dict[str, argparse.ArgumentParser]) -> str:
    lines = [f"complete -c bitblas -n __fish_use_subcommand -a '{' '.join(commands)}'"]
    for name, p in commands.items():
        if words := words_of(p):
            lines.append(f"complete -c bitblas -n '__fish_seen_subcommand_from {name}' -a '{' '.join(words)}'")
        for flag, known in options_of(p).items():
            more = f" -x -a '{' '.join(known)}'" if known else ""
            lines.append(f"complete -c bitblas -n '__fish_seen_subcommand_from {name}' -l {flag[2:]}{more}")
    return "\n".join(lines)


# ---- `bitblas run -n 4 program.py`: start a program on several ranks (docs/scale.md).


def run_ranks(args: argparse.Namespace) -> int:
    """The exit code of the first rank that failed, else 0."""
    from ..distributed.start import run as launch

    if not args.program:
        raise Fault("run: expected a program, as in bitblas run -n 2 program.py")
    return launch(args.ranks, args.program, args.device)


# ---- `bitblas warm`: compile kernels ahead of their first use.


def warm(args: argparse.Namespace) -> int:
    """Compile the kernels and show progress on the terminal; 1 if a program failed."""
    from ..registry import warm as registry

    begin, ended, kernels, failed = time.monotonic(), 0, 0, []
    tasks, terminal = registry.tasks(args.files, every=args.all), sys.stderr.isatty()
    total = len(tasks)
    for done in registry.warm(tasks, args.processes, device=args.device):
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
