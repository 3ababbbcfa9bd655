"""python -m benchmarks.small: the host's cost of a statement, on a graph so small that the work itself costs nothing.

The same text runs on bitblas and on python-graphblas, in one process and one thread, in turn; the figure is the least
mean of several batches, because other processes only ever add time. Every result is compared.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import table

SIZE, ENTRIES = 40, 120
BATCH = 0.004  # seconds, about

# name -> (text, the name that holds its result)
STATEMENTS = {
    "mxv": ("w << A.mxv(x, semiring.min_plus)", "w"),
    "mxv, mask": ("w(m.S) << A.mxv(x, semiring.min_plus)", "w"),
    "mxv, ~mask, replace": ("w(~m.S, replace) << A.mxv(x, semiring.plus_times)", "w"),
    "vxm BOOL, ~mask, replace": ("f(~m.S, replace) << q.vxm(L, any_pair)", "f"),
    "mxm": ("C << A.mxm(A, semiring.plus_times)", "C"),
    "mxm, mask": ("C(A.S) << A.mxm(A, semiring.plus_times)", "C"),
    "mxm BOOL, mask": ("D(L.S) << L.mxm(L, semiring.plus_pair)", "D"),
    "v + v": ("w << x.ewise_add(y, binary.plus)", "w"),
    "v * v": ("w << x.ewise_mult(y, binary.times)", "w"),
    "v accum": ("u(binary.min) << x", "u"),
    "A + A": ("C << A.ewise_add(B, binary.plus)", "C"),
    "A * A": ("C << A.ewise_mult(B, binary.times)", "C"),
    "v apply": ("w << x.apply(unary.ainv)", "w"),
    "v apply scalar": ("w << x.apply(binary.plus, right=2.0)", "w"),
    "A apply": ("C << A.apply(unary.ainv)", "C"),
    "v select": ("w << x.select(select.valuegt, 3.0)", "w"),
    "A select": ("C << A.select(select.tril)", "C"),
    "v reduce": ("r = x.reduce(monoid.plus).new()", "r"),
    "A reduce_rowwise": ("w << A.reduce_rowwise(monoid.plus)", "w"),
    "A reduce_scalar": ("r = A.reduce_scalar(monoid.plus).new()", "r"),
    "v assign scalar": ("u(m.S) << 3.0", "u"),
    "v assign [I]": ("u[I] = 4.0", "u"),
    "v assign [I] vector": ("u[I] << s", "u"),
    "A assign [i, :]": ("B2[3, :] << x", "B2"),
    "v extract [I]": ("s << x[I]", "s"),
    "A extract row": ("w << A[3, :]", "w"),
    "A extract [I, I]": ("T << A[I, I]", "T"),
    "A.T": ("C << A.T", "C"),
    "A diag": ("w = A.diag()", "w"),
    "v[i]": ("r = x[2].new()", "r"),
    "v[i] = x, read": ("u[3] = 1.5; r = u.nvals", "u"),
    "A[i, j] = x, read": ("B2[3, 4] = 1.5; r = B2.nvals", "B2"),
    "v from_coo": ("w = Vector.from_coo(at, values, size=n)", "w"),
    "A from_coo": ("C = Matrix.from_coo(rows, cols, data, nrows=n, ncols=n)", "C"),
    "v to_coo": ("r = x.to_coo()", "r"),
    "A to_coo": ("r = A.to_coo()", "r"),
    "v dup": ("w = x.dup()", "w"),
    "A dup": ("C = A.dup()", "C"),
    "v nvals": ("r = x.nvals", "r"),
    "isequal": ("r = x.isequal(y)", "r"),
}


def scope(gb: Any) -> dict[str, Any]:
    """The names of the texts: A, B, B2, C: FP64; L: BOOL; u, w, x, y: FP64; f, m, q: BOOL."""
    rng = np.random.default_rng(0)
    at = np.sort(rng.permutation(SIZE * SIZE)[:ENTRIES])
    rows, cols, data = at // SIZE, at % SIZE, rng.integers(1, 9, ENTRIES).astype(float)
    matrix = lambda values, shift=0: gb.Matrix.from_coo(rows, (cols + shift) % SIZE, values, nrows=SIZE, ncols=SIZE)
    vector = lambda step, values: gb.Vector.from_coo(np.arange(0, SIZE, step), values, size=SIZE)
    every = np.arange(0, SIZE, 2)
    names = {n: getattr(gb, n) for n in "Matrix Vector binary monoid replace select semiring unary".split()}
    return names | {
        "A": matrix(data), "B": matrix(data, 3), "B2": matrix(data, 1), "C": gb.Matrix(float, SIZE, SIZE),
        "D": gb.Matrix(int, SIZE, SIZE), "L": matrix(True), "T": gb.Matrix(float, 5, 5), "I": [3, 1, 4, 15, 9],
        "x": vector(2, every * 1.0), "y": vector(3, np.arange(0, SIZE, 3) * 1.0), "u": vector(1, np.arange(SIZE) * 1.0),
        "s": gb.Vector.from_coo([1, 3], [5.0, 6.0], size=5), "w": gb.Vector(float, SIZE), "f": gb.Vector(bool, SIZE),
        "m": vector(4, True), "q": vector(3, True), "any_pair": gb.semiring.any_pair[gb.dtypes.BOOL], "n": SIZE,
        "at": every, "values": every * 1.5, "rows": rows, "cols": cols, "data": data,
    }  # fmt: skip


def plain(x: Any) -> Any:
    """What both libraries must agree on."""
    if hasattr(x, "to_coo"):
        return [a.tolist() for a in x.to_coo()] if x.ndim == 1 else sorted(zip(*(a.tolist() for a in x.to_coo())))
    if isinstance(x, tuple):
        return sorted(zip(*(a.tolist() for a in x)))
    return getattr(x, "value", x)


def compiled(text: str, names: dict[str, Any]) -> tuple[Callable[[int], float], dict[str, Any]]:
    """A function that runs the text k times with these names, and says how long that took; and the names."""
    body = "".join(f"        {line.strip()}\n" for line in text.split(";"))
    results = ", ".join(
        sorted(
            {line.split(" = ")[0].strip() for line in text.split(";") if line.split(" = ")[0].strip().isidentifier()}
        )
    )
    head = f"    global {results}\n" if results else ""
    source = f"def run(k):\n{head}    start = clock()\n    for _ in range(k):\n{body}    return clock() - start\n"
    names["clock"] = time.perf_counter
    exec(source, names)
    return names["run"], names


def measure(
    libraries: dict[str, Any], only: Sequence[str], batches: int, statements: dict[str, tuple[str, str]] = STATEMENTS,
    named: Callable[[Any], dict[str, Any]] | None = None,
) -> list[dict[str, Any]]:  # fmt: skip
    """For each statement the microseconds of each library, and whether the results agree. named: makes the names of the
    texts for a library; without it `scope`."""
    named = scope if named is None else named
    rows = []
    for name in only:
        text, result = statements[name]
        sides = {side: compiled(text, named(gb)) for side, gb in libraries.items()}
        counts, best = {}, dict.fromkeys(sides, float("inf"))
        for side, (run, _) in sides.items():
            run(3)  # compiles
            counts[side] = max(1, int(BATCH / max(1e-7, run(5) / 5)))
        for _ in range(batches):
            for side, (run, _) in sides.items():
                best[side] = min(best[side], run(counts[side]) / counts[side])
        answers = [plain(names[result]) for _, names in sides.values()]
        micros = {side: seconds * 1e6 for side, seconds in best.items()}
        rows.append({"statement": name, "text": text, "us": micros, "equal": all(a == answers[0] for a in answers)})
    return rows


def main(argv: Sequence[str] | None = None) -> int:
    """0 if every result was right, 1 if one was wrong."""
    p = argparse.ArgumentParser(prog="python -m benchmarks.small", description=__doc__)
    p.add_argument("--statements", help=f"names, with semicolons, of {'; '.join(STATEMENTS)}")
    p.add_argument("--batches", type=int, default=40, help="timed batches of each side (40)")
    p.add_argument("--device", default="cpu", help="where bitblas runs (cpu)")
    p.add_argument("--json", help="where all figures go")
    args = p.parse_args(argv)
    only = [s.strip() for s in args.statements.split(";")] if args.statements else list(STATEMENTS)
    if unknown := set(only) - set(STATEMENTS):
        p.error(f"--statements: unknown {', '.join(sorted(unknown))}")
    import graphblas

    import bitblas

    graphblas.ss.config["nthreads"] = 1
    with bitblas.config.set(device=args.device):
        rows = measure({"bitblas": bitblas, "python-graphblas": graphblas}, only, args.batches)
    print(as_table(rows))
    if args.json:
        table.write(args.json, {"rows": rows, "equal": all(r["equal"] for r in rows)})
    return 0 if all(r["equal"] for r in rows) else 1


def as_table(rows: Sequence[dict[str, Any]]) -> str:
    """What `measure` gave, side by side, and how the times compare in the geometric mean."""
    lines, faster = [], []
    for row in rows:
        ours, theirs = row["us"]["bitblas"], row["us"]["python-graphblas"]
        faster.append(theirs / ours)
        lines.append((row["statement"], ours, theirs, theirs / ours, "equal" if row["equal"] else "DIFFERENT"))
    heads = ("statement", "bitblas us", "python-graphblas us", "times faster", "results")
    mean, behind = np.exp(np.mean(np.log(faster))), sum(x < 1 for x in faster)
    return f"{table.table(heads, lines, left=1)}\ngeometric mean {mean:.2f}, {behind} of {len(faster)} below 1"


if __name__ == "__main__":
    sys.exit(main())
