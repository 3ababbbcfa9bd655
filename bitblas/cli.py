"""The command line: `bitblas COMMAND FILE`. Results on stdout, errors as one line on stderr.

Exit codes: 0; 1 if `compare` or `demo` found a difference; 2 for a bad call or file; 130 when interrupted; 141 when the
reader of the pipe left.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from .io import host_coo

DESCRIPTION = "Graph algorithms as linear algebra on bits. FILE is a Matrix Market file; vertices count from 0."


class _Fault(Exception):
    """What the user must hear, in one line."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise _Fault(f"{message} (see '{self.prog} --help')")


def main(argv: list[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    try:
        args = _parser().parse_args(argv)
        status = int(args.run(args) or 0)
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what is still buffered must not raise at exit
        return 141
    except (_Fault, OSError, ValueError, IndexError, ImportError, MemoryError) as error:
        return _complain(error)
    except Exception as error:
        from .exceptions import GraphblasException

        if isinstance(error, GraphblasException):
            return _complain(error)
        raise


def _complain(error: BaseException) -> int:
    text = str(error)
    if isinstance(error, OSError) and error.strerror:
        text = f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    print("bitblas: error:", " ".join(text.split()) or type(error).__name__, file=sys.stderr)
    return 2


def _parser() -> argparse.ArgumentParser:
    from . import __version__

    parser = _Parser(prog="bitblas", description=DESCRIPTION)
    parser.add_argument("--version", action="version", version=f"bitblas {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)

    def command(name: str, run: Callable[..., Any], help: str, file: str | None = "") -> argparse.ArgumentParser:
        p = commands.add_parser(name, help=help, description=help)
        if file is not None:
            p.add_argument("file", metavar="FILE", nargs=file or None, help="a Matrix Market file; - reads stdin")
            p.add_argument("--dup-op", metavar="OP", help="how to join entries given twice: plus, min, max, first, ...")
        p.add_argument("--device", choices=["cpu", "cuda"], help="default: cuda where a GPU works")
        p.add_argument("--format", choices=["auto", "csr", "b2sr"], default="auto", help="how the matrix is stored")
        p.add_argument("--tile", type=int, choices=[4, 8, 16, 32, 64], help="edge of a b2sr tile")
        p.add_argument("--json", action="store_true", help="the result as one JSON object")
        p.set_defaults(run=run)
        return p

    def algorithm(name: str, call: Callable[..., Any], help: str, vector: bool = True) -> argparse.ArgumentParser:
        p = command(name, _run, help)
        if vector:
            p.add_argument("--out", metavar="OUT", help="the values: lines of vertex<TAB>value; .npz, .mtx by suffix")
        p.set_defaults(call=call)
        return p

    def source(p: argparse.ArgumentParser) -> None:
        p.add_argument("--source", type=int, default=0, metavar="VERTEX", help="where to start (default 0)")

    command("info", _info, "what a file holds and how it would be stored; without FILE, what works here", "?")
    p = algorithm("bfs", _bfs, "levels of a breadth-first search along the directed edges")
    source(p)
    p.add_argument("--parents", action="store_true", help="a tree instead of levels")
    source(algorithm("sssp", _sssp, "distances from a vertex; a pattern has weights 1"))
    p = algorithm("pagerank", _pagerank, "ranks; the values of the file do not matter")
    p.add_argument("--alpha", type=float, default=0.85, help="probability to follow an edge (default 0.85)")
    p.add_argument("--tol", type=float, default=1e-6, help="stop below this sum of changes (default 1e-6)")
    p.add_argument("--max-iter", type=int, default=100, help="stop after so many rounds (default 100)")
    algorithm("components", _components, "connected components; edges count in both directions")
    algorithm("triangles", _triangles, "number of triangles; edges count in both directions", vector=False)
    source(command("compare", _compare, "all algorithms against SuiteSparse:GraphBLAS: answers, times, bytes"))
    source(command("demo", _compare, "compare, on the shipped road network of New York", file=None))
    return parser


# --- the algorithms: each returns its answer and a summary ---


def _bfs(A: Any, args: argparse.Namespace) -> tuple[Any, dict[str, Any]]:
    from .algorithms import bfs_levels, bfs_parents

    v = bfs_parents(A, args.source) if args.parents else bfs_levels(A, args.source)
    summary = {"source": args.source, "reached": v.nvals}
    return v, summary if args.parents else {**summary, "depth": int(host_coo(v)[1].max())}


def _sssp(A: Any, args: argparse.Namespace) -> tuple[Any, dict[str, Any]]:
    from .algorithms import sssp

    v = sssp(A, args.source)
    return v, {"source": args.source, "reached": v.nvals, "farthest": host_coo(v)[1].max().item()}


def _pagerank(A: Any, args: argparse.Namespace) -> tuple[Any, dict[str, Any]]:
    from .algorithms import pagerank

    v = pagerank(A, alpha=args.alpha, tol=args.tol, max_iter=args.max_iter)
    index, values = host_coo(v)
    best = np.argsort(-values, kind="stable")[:5]
    return v, {"first": [int(i) for i in index[best]], "ranks": [float(x) for x in values[best]]}


def _components(A: Any, args: argparse.Namespace) -> tuple[Any, dict[str, Any]]:
    from .algorithms import connected_components

    v = connected_components(_undirected(A, args))
    sizes = np.unique(host_coo(v)[1], return_counts=True)[1]
    return v, {"components": len(sizes), "largest": int(sizes.max(initial=0))}


def _triangles(A: Any, args: argparse.Namespace) -> tuple[None, dict[str, Any]]:
    from .algorithms import triangle_count

    return None, {"triangles": triangle_count(_undirected(A, args))}


def _undirected(A: Any, args: argparse.Namespace) -> Any:
    import bitblas as gb

    from .compare import symmetrised

    rows, cols, _ = host_coo(A)
    both = symmetrised(rows, cols, A.nrows)
    if len(both[0]) == len(rows) and all(map(np.array_equal, both, (rows, cols))):
        return A
    return gb.Matrix.from_coo(*both, True, nrows=A.nrows, ncols=A.nrows, **_storage(args))


# --- the commands ---


def _storage(args: argparse.Namespace) -> dict[str, Any]:
    format = None if args.format == "auto" else args.format
    if args.tile is not None and format != "b2sr":
        raise _Fault("--tile: expected together with --format b2sr")
    return {"device": args.device, "format": format, "tile": args.tile}


def _read(args: argparse.Namespace, square: bool = True) -> Any:
    import bitblas as gb

    source: Any = sys.stdin.buffer if args.file == "-" else args.file
    dup_op = None
    if args.dup_op is not None:
        dup_op = getattr(gb.binary, args.dup_op, None)
        if dup_op is None or args.dup_op.startswith("_"):
            raise _Fault(f"--dup-op: expected the name of a binary operator, such as plus, got {args.dup_op!r}")
    A = gb.io.mmread(source, dup_op=dup_op, **_storage(args))
    if square and A.nrows != A.ncols:
        raise _Fault(f"{args.file}: expected a square matrix, got {A.nrows} x {A.ncols}")
    return A


def _check_source(A: Any, args: argparse.Namespace) -> None:
    if hasattr(args, "source") and not 0 <= args.source < A.nrows:
        raise _Fault(f"--source: expected a vertex in 0..{A.nrows - 1}, got {args.source}")


def _facts(A: Any) -> dict[str, Any]:
    return {
        "nrows": A.nrows, "ncols": A.ncols, "nvals": A.nvals, "dtype": str(A.dtype), "device": _device(A),
        "bytes": int(A.memory().total),
    }  # fmt: skip


def _device(A: Any) -> str:
    return str(getattr(A.device, "name", A.device))


def _run(args: argparse.Namespace) -> None:
    start = time.perf_counter()
    A = _read(args)
    _check_source(A, args)
    read = time.perf_counter() - start
    start = time.perf_counter()
    answer, summary = args.call(A, args)
    seconds = time.perf_counter() - start
    if getattr(args, "out", None):
        _write(Path(args.out), answer)
    if args.json:
        made = {"command": args.command, "file": args.file, **_facts(A), "result": summary}
        print(json.dumps({**made, "read_seconds": read, "seconds": seconds}))
        return
    print(", ".join(f"{key} {_plain(value)}" for key, value in summary.items()))
    print(f"{A.nrows} vertices, {A.nvals} entries, on {_device(A)}: read in {read:.3f} s, ran in {seconds:.3f} s")


def _plain(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(map(_plain, value))
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _write(path: Path, answer: Any) -> None:
    from .io import mmwrite, replacing

    if path.suffix == ".mtx" or path.name.endswith(".mtx.gz"):
        mmwrite(path, answer)
        return
    index, values = host_coo(answer)
    with replacing(path) as stream:
        if path.suffix == ".npz":
            np.savez(stream, indices=index, values=values, size=answer.size)
        else:
            stream.writelines(b"%d\t%s\n" % (i, str(x).encode()) for i, x in zip(index.tolist(), values.tolist()))


def _info(args: argparse.Namespace) -> None:
    import bitblas as gb

    from . import compare

    if args.file is not None:
        A = _read(args, square=False)
        print(json.dumps({"command": "info", "file": args.file, **_facts(A)}) if args.json else A.profile())
        if not args.json:
            print(A.memory())
        return
    facts = {
        "version": gb.__version__,
        "devices": gb.device.available(),
        "device": str(getattr(gb.config.device, "name", gb.config.device)),
        "threads": compare.cpu_threads(),
    }
    print(json.dumps(facts) if args.json else "\n".join(f"{key}: {value}" for key, value in facts.items()))


def _compare(args: argparse.Namespace) -> int:
    # SuiteSparse and Numba bring an OpenMP runtime each, and the idle threads of one, spinning, take the cores from the
    # other: milliseconds per call on two cores. Read when the runtimes are loaded, so before anything else.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    import bitblas as gb

    from . import compare

    storage = _storage(args)
    if args.command == "demo":
        args.file = compare.DEMO_GRAPH
        A = gb.io.mmread(compare.demo_path(), device="cpu")
    else:
        A = _read(args)
    _check_source(A, args)
    devices = [storage.pop("device")] if args.device else None
    sides = compare.sides(A, devices, format=storage["format"], tile=storage["tile"])
    if not args.json:
        print("\n".join(compare.introduction(args.file, A, args.source)), "\n")
        print(compare.heading(sides), flush=True)
    rows = []
    for row in compare.rows(sides, args.source):
        rows.append(row)
        if not args.json:
            print(compare.line(row), flush=True)
    equal = all(row.equal for row in rows)
    if args.json:
        made = {"command": args.command, "file": args.file, **_facts(A), "source": args.source, "equal": equal}
        print(json.dumps({**made, "rows": [compare.as_dict(row) for row in rows]}))
    else:
        print("\nAll answers are equal." if equal else "\nAnswers DIFFER.")
    return 0 if equal else 1


if __name__ == "__main__":
    sys.exit(main())
