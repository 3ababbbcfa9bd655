"""Write the recorded data of tests/test_public_surface.py: the public names of one version, and files that it saved.

The data is of commit ffd8f61d, written on a CPU by that commit's own code, and is not recorded again: the test lists
intended changes with their reasons. From a clone:

    git worktree add /tmp/base ffd8f61d
    tests=$PWD/tests; cd /tmp/base; PYTHONPATH=$tests BITBLAS_DEVICE=cpu python -W error -m public_surface.record
"""

from __future__ import annotations

import contextlib
import json
import pickle
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import bitblas as gb

from . import collect

HERE = Path(__file__).parent
SAVED = HERE / "saved"
N = 48
FORMATS = [(name, None) for name in ("csr", "mplg", "nib", "cgr", "virtual", "hyper", "bitmap")]
FORMATS += [("b2sr", tile) for tile in (4, 8, 16, 32, 64)] + [("split", tile) for tile in (4, 8, 16)]
DTYPES = "INT8 FP64 UINT16 FP32 INT64 BOOL UINT64 INT32 FC64".split()


def pattern() -> tuple[np.ndarray, np.ndarray]:
    """Blocks on the diagonal, rows that share lists of columns, single entries far away, and empty rows."""
    i, j = np.divmod(np.arange(N * N), N)
    block = (i // 8 == j // 8) & ((i * j) % 3 != 1)
    shared = (i % 3 == 0) & np.isin(j, [1, 9, 11, 17, 30, 31, 40, 44])
    chosen = (block | shared | ((i * 37 + j * 11) % 97 == 0)) & (i % 13 != 5)
    return i[chosen], j[chosen]


def values(dtype: str, count: int) -> Any:
    k = np.arange(count) * 7 % 101
    if dtype == "FC64":
        return k * 0.25 + 1j * (k - 3)
    return k % 2 == 0 if dtype == "BOOL" else k * 0.5 - 4 if dtype.startswith("FP") else k


def matrices() -> Iterator[tuple[str, gb.Matrix]]:
    """Every stored form without values, and with values of different types."""
    i, j = pattern()
    for k, (name, tile) in enumerate(FORMATS):
        how: dict[str, Any] = {"nrows": N, "ncols": N, "format": name, "tile": tile}
        columns = j
        if name == "bitmap":
            columns, how["ncols"] = j % 16, 16
        if name == "hyper":
            how["nrows"] = how["ncols"] = 1 << 40
        rows, columns = np.unique(np.stack([i, columns]), axis=1)
        if name == "hyper":
            rows, columns = rows << 33, columns << 30
        key = name + str(tile or "")
        yield f"{key}-pattern", gb.Matrix.from_coo(rows, columns, True, **how)
        dtype = DTYPES[k % len(DTYPES)]
        yield f"{key}-{dtype}", gb.Matrix.from_coo(rows, columns, values(dtype, len(rows)), dtype, **how)
    for name in ("csr", "nib"):
        x = values("INT64", len(i)) % 13 + 100
        yield f"{name}-packed", gb.Matrix.from_coo(i, j, x, nrows=N, ncols=N, format=name, packed=True)
    yield "csr-ordered", gb.Matrix.from_coo(i, j, values("FP32", len(i)), "FP32", nrows=N, ncols=N).reorder("rcm")
    yield "csr-empty", gb.Matrix("FP64", 3, 5)


def listing(x: Any, known: dict[str, Any]) -> dict[str, Any]:
    """Type, form and entries as JSON has them. Positions that an earlier file has are named by that file."""
    *places, found = (np.asarray(part) for part in x.to_coo())
    shown = [repr(value) for value in found.tolist()] if found.dtype.kind == "c" else found.tolist()
    more = {"format": x.format} if hasattr(x, "nrows") else {}
    at = [place.tolist() for place in places]
    first = next((name for name, other in known.items() if other.get("places") == at), None)
    one = shown[0] if shown and all(value == shown[0] for value in shown) else shown
    return {"dtype": x.dtype.name, "shape": list(x.shape), **more, "places": first or at, "values": one}


def search(rounds: list[int], stop: int | None = None) -> tuple[gb.loop.Program, gb.Vector, gb.Scalar]:
    """A path of N vertices, searched from its end, and a checkpoint of the search, which may stop early."""
    i = np.arange(N - 1)
    A = gb.Matrix.from_coo(i, i + 1, True, nrows=N, ncols=N, device="cpu")
    levels, frontier = gb.Vector("INT64", N, device="cpu"), gb.Vector("BOOL", N, device="cpu")
    half = gb.Scalar("FP64")
    frontier[0] = True

    def body(level: int) -> None:
        if level == stop:
            raise KeyboardInterrupt
        rounds.append(level)
        levels(frontier.S) << level
        half << level / 2
        frontier(~levels.S, gb.replace) << frontier.vxm(A, gb.semiring.any_pair[gb.dtypes.BOOL])

    return gb.loop.Program(body, while_=frontier), levels, half


def graph() -> gb.Graph:
    return gb.Graph.from_edges([("Anna", "Ben", 2), ("Ben", "Cleo", 3), ("Cleo", "Dörte", 5)], directed=False)


def vector() -> gb.Vector:
    return gb.Vector.from_coo([0, 3, 17], [0.5, -2.0, 1e300], size=N, device="cpu", name="v")


def pickled() -> dict[str, Any]:
    """Objects of all kinds that pickle. Operators and types unpickle to the same objects."""
    i, j = pattern()
    weighted = gb.Matrix.from_coo(i, j, values("INT32", len(i)), "INT32", nrows=N, ncols=N, format="nib", name="A")
    return {
        "matrix": weighted, "vector": vector(), "scalar": gb.Scalar.from_value(3.5), "graph": graph(),
        "values": graph().degree(), "dtype": gb.dtypes.UINT16, "unary": gb.unary.sqrt, "binary": gb.binary.plus,
        "typed": gb.semiring.min_plus["FP32"], "numpy": gb.binary.numpy.hypot, "monoid": gb.monoid.max,
        "select": gb.select.tril, "indexunary": gb.indexunary.rowindex, "parameterized": gb.binary.isclose(rel_tol=0.5),
        "aggregator": gb.agg.mean, "typed aggregator": gb.agg.mean["FP32"], "namespace": gb.semiring,
    }  # fmt: skip


def write_files() -> dict[str, Any]:
    """Write the folder of saved files; the listings of those that hold a matrix or a vector, by name."""
    SAVED.mkdir(exist_ok=True)
    known: dict[str, Any] = {}
    for name, A in matrices():
        A.save(SAVED / f"{name}.bitblas")
        known[f"{name}.bitblas"] = listing(A, known)
    for name, x in (("matrix", next(matrices())[1]), ("vector", vector())):
        (SAVED / f"{name}.serialized").write_bytes(bytes(x.ss.serialize()))
        known[f"{name}.serialized"] = listing(x, known)
    gb.io.write_npz(SAVED / "matrix.npz", next(matrices())[1])
    known["matrix.npz"] = listing(next(matrices())[1], known)
    graph().write(SAVED / "graph.bitblas")
    known["graph.bitblas"] = listing(graph().matrix, known) | {"labels": list(graph().labels)}
    for name, x in pickled().items():
        (SAVED / f"{name}.pickle").write_bytes(pickle.dumps(x, protocol=4))
        holds = x.matrix if name == "graph" else x.vector if name == "values" else x
        known[f"{name}.pickle"] = listing(holds, known) if hasattr(holds, "to_coo") else {"is": str(x)}
    both = gb.Matrix.from_coo(
        *pattern(), values("INT16", 390), "INT16", nrows=N, ncols=N, format="b2sr", tile=8, name="A"
    )
    both.T.new()  # also stored by columns
    both.save(SAVED / "b2sr8-forms.bitblas", forms=True)
    known["b2sr8-forms.bitblas"] = listing(both, known)
    program, levels, half = search([], stop=25)
    with contextlib.suppress(KeyboardInterrupt):
        program.checkpoint(SAVED / "checkpoint", state=[levels, half], every=10).run()
    return known


def write_lines(name: str, found: Mapping[str, Any] | Iterable[str]) -> None:
    """JSON with one entry a line, sorted."""
    shown = lambda x: json.dumps(x, separators=(", ", ": "), ensure_ascii=False)
    if isinstance(found, Mapping):
        lines = [f"{shown(key)}: {shown(found[key])}" for key in sorted(found)]
    else:
        lines = [shown(one) for one in sorted(found)]
    left, right = "{}" if isinstance(found, Mapping) else "[]"
    (HERE / f"{name}.json").write_text("\n".join([left, ",\n".join(lines), right, ""]))


if __name__ == "__main__":
    for name in ("names", "commands", "variables", "networkx"):
        write_lines(name, getattr(collect, name)())
    write_lines("saved", write_files())
