"""python docs/semiring_schemes.py > semirings/data/algorithms.md: the semirings of the algorithms, and their kernels.

Every algorithm runs once, traced, on a small graph. A product's plan names its semiring and what its kernel reads: bits
(presence), counts, or values. `python -m semirings` puts the table on the page docs/semirings.md.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

import bitblas as gb
from bitblas import algorithms, compare, tuning

HEADS = "| semiring | matrix, vector, result | product | algorithms |\n| --- | --- | --- | --- |"
PRODUCT = re.compile(r"(mxv|vxm|mxm) (\S+): .* on \S+(?: of the transpose)?, (words|count|values)\b")
REDUCED = re.compile(r".*: fused into the reduction .*; of (mxm) (\S+), (words|count|values)\b")  # not stored
GRAPH = (48, 3)  # vertices, edges of each new one


class Product(NamedTuple):
    """A row of the table. scheme: as Bit-GraphBLAS names its kernels; bin: one bit per entry."""

    semiring: str
    scheme: str
    mxm: bool


def scheme_of(verb: str, semiring: str, kind: str) -> str:
    """What a product reads of matrix and vector (mxm: of both matrices), and what it writes: bin or full.

    kind: `words` are bits of the result; `count`: the number of products; `values`: the multiplier reads values.
    """
    if kind != "values":
        return "bin-bin-bin" if kind == "words" else "bin-bin-full"
    named = gb.semiring if hasattr(gb.semiring, semiring) else gb.semiring.ss
    op = getattr(named, semiring).binaryop
    first, second = (op.expr not in ("1", other) and not op.positional for other in ("y", "x"))
    matrix, vector = (second, first) if verb == "vxm" else (first, second)
    return "-".join("full" if read else "bin" for read in (matrix, vector, True))


def public_name(program: compare.Program) -> str:
    """The algorithm that a program of the comparison runs."""
    names = {**compare.COMPARED, "diameter": "diameter_bounds", "weighted_pagerank": "pagerank"}
    return names.get(program.name, program.name)


def products() -> Iterator[tuple[Product, str]]:
    """Each product of each algorithm. It runs on new matrices, with which nothing is cached; loops run statement by
    statement, so that each product has a plan."""
    with gb.config.set(device="cpu"), tuning.override({"loop.tier_up_seconds": 1e9}):
        rows, cols, _ = algorithms.barabasi_albert_graph(*GRAPH, seed=1).to_coo()
        A = gb.Matrix.from_coo(rows, cols, compare.hash_weights(rows, cols))
        for program in compare.every():
            side = compare.Side("cpu", gb, compare.Operands(A), device="cpu")
            with gb.trace() as trace, algorithms.Watch():
                program.call(side.matrix(program.form), 0, gb)
            for run in trace:
                if found := PRODUCT.match(run.plan) or REDUCED.match(run.plan):
                    verb, semiring, kind = found.groups()
                    yield Product(semiring, scheme_of(verb, semiring, kind), verb == "mxm"), public_name(program)


def table() -> str:
    """The table, in Markdown."""
    used: dict[Product, set[str]] = defaultdict(set)
    for product, name in products():
        used[product].add(name)
    lines = [HEADS]
    for product in sorted(used, key=lambda product: (product.scheme, product.mxm, product.semiring)):
        names = ", ".join(f"`{name}`" for name in sorted(used[product]))
        verb = "mxm" if product.mxm else "mxv, vxm"
        lines.append(f"| `{product.semiring}` | {product.scheme} | {verb} | {names} |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.write(f"{table()}\n")
