"""python -m benchmarks.decode: instructions that a packed column costs, counted in the machine code of the GPU's pulls.

The pull of CSR and that of MPLG, for any width and for one width, are compiled to sm_90, for which no GPU is needed,
and disassembled. What is counted is the longest way once through the loop that loads the columns, loops inside it left
out, divided by the entries that a thread takes on it. Both pulls are one source, so what differs is the decoding (and
what the compiler makes of the rest beside it).
"""

from __future__ import annotations

import argparse
import importlib.util
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bitblas import tuning
from bitblas.device import jit
from bitblas.formats.csr.cost import UNROLL
from bitblas.kernels.variant import Variant
from bitblas.operations.variants import pull_variant
from bitblas.plan.epilogue import Epilogue
from bitblas.plan.product import VALUES, WORDS
from semirings import semiring
from semirings.dtypes import BOOL, FP32, INT32

from . import table

ARCH = "sm_90"
TYPES = (("PTR", INT32), ("COL", INT32))
HEADS = ("pull", "columns", "instructions", "loads", "entries", "instructions an entry", "more than plain", "")
_CODE = re.compile(r"^\s*/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;")
_LABEL = re.compile(r"^(\.L_x_\d+):")
_JUMP = re.compile(r"\bBRA(?!\.DIV)\b.*?(\.L_x_\d+)")


class ToolError(RuntimeError):
    """No disassembler."""


@dataclass(frozen=True)
class Loop:
    """Instructions on the longest way through it, those of loops inside left out."""

    instructions: int
    loads: int  # of them, from global memory


def disassembler(path: str | None = None) -> str:
    """nvdisasm: the one asked for, on the path, or of NVIDIA's packages for Python. ToolError where there is none."""
    spec = importlib.util.find_spec("nvidia")
    roots = [] if spec is None else [Path(p) for p in spec.submodule_search_locations or ()]
    packaged = [str(p) for root in roots for p in sorted(root.glob("cu*/bin/nvdisasm"))]
    found = shutil.which(path or "nvdisasm") or next(iter([] if path else packaged), None)
    if found is None:
        raise ToolError(
            f"{path or 'nvdisasm'} is not there, and instructions cannot be counted without it: it comes with the CUDA "
            "toolkit, or pip install nvidia-cuda-nvdisasm; --nvdisasm says where it is"
        )
    return found


def loops(text: str) -> list[Loop]:
    """The loops of what nvdisasm prints: a branch back to a label closes one."""
    code: list[str] = []
    labels: dict[str, int] = {}
    for line in text.splitlines():
        if label := _LABEL.match(line):
            labels[label[1]] = len(code)
        elif instruction := _CODE.match(line):
            code.append(instruction[2])
    jumps = {k: labels[found[1]] for k, x in enumerate(code) if (found := _JUMP.search(x)) and found[1] in labels}
    ends: dict[int, int] = {}  # of loops, by where they begin
    for k, target in jumps.items():
        if target <= k:
            ends[target] = max(k + 1, ends.get(target, 0))
    return [_through(code, jumps, ends, begin) for begin in sorted(ends)]


def _through(code: list[str], jumps: dict[int, int], ends: dict[int, int], begin: int) -> Loop:
    """The longest way from the first instruction of a loop to the branch that closes it."""
    end = ends[begin]
    inner = {k for b, e in ends.items() if begin < b and e <= end for k in range(b, e)}
    ways: dict[int, tuple[int, int]] = {}  # instructions and loads from each place on; none: the way leaves the loop
    for k in reversed(range(begin, end)):
        goes_on = [k + 1] if "@" in code[k] or k not in jumps else []
        after = [ways[t] for t in (*goes_on, jumps.get(k, -1)) if t > k and t in ways]
        if after or k == end - 1:
            most, mine = max(after, default=(0, 0)), k not in inner
            ways[k] = most[0] + mine, most[1] + (mine and "LDG" in code[k])
    return Loop(*ways.get(begin, (0, 0)))


def pulls() -> dict[str, tuple[int, dict[str, Variant]]]:
    """By name: entries of a thread each time round; the variants by how columns lie."""
    plus = semiring["plus_second"][FP32]
    how: dict[str, Any] = {"flip": False, "ranked": False, "lanes": 4}
    words: dict[str, Any] = how | {"full": False, "end": Epilogue(BOOL, BOOL, store=False)}
    values: dict[str, Any] = how | {"full": False, "end": Epilogue(FP32, FP32)}
    staged: dict[str, Any] = values | {"full": True, "staged": True}
    forms = {"plain": "csr", "packed": "mplg"}

    def of(kind: int, typed: Any, u: Any, more: dict[str, Any]) -> dict[str, Variant]:
        return {name: pull_variant(key, TYPES, typed, kind, BOOL, u, **more) for name, key in forms.items()}

    as_run = of(VALUES, plus, FP32, staged)
    as_run["packed, 20 bits"] = pull_variant("mplg", TYPES, plus, VALUES, BOOL, FP32, **staged, width=20)
    return {
        "Boolean, a row at a time": (UNROLL, of(WORDS, None, BOOL, words)),
        "plus_second, a row at a time": (UNROLL, of(VALUES, plus, FP32, values)),
        "plus_second, rows as one run": (tuning.count("csr.stage") // jit.BLOCK, as_run),
    }


def counted(variant: Variant, tool: str) -> Loop:
    """The loop of the kernel that has most loads."""
    path = jit.cubin(variant, ARCH)
    done = subprocess.run([tool, "-c", str(path)], capture_output=True, text=True, check=True)
    return max(loops(done.stdout), key=lambda loop: loop.loads)


def main(argv: Sequence[str] | None = None) -> int:
    """0, or 2 where there is no disassembler or no compiler."""
    p = argparse.ArgumentParser(prog="python -m benchmarks.decode", description=__doc__.splitlines()[0])
    p.add_argument("--nvdisasm", help="the disassembler, where it is not found by itself")
    p.add_argument("--json", help="where the counts go")
    args = p.parse_args(argv)
    rows, result = [], table.surroundings(arch=ARCH, rows=[])
    try:
        tool = disassembler(args.nvdisasm)
        for name, (entries, variants) in pulls().items():
            plain = 0.0
            for columns, variant in variants.items():
                loop = counted(variant, tool)
                each = loop.instructions / entries
                plain = plain or each
                rows.append((name, columns, loop.instructions, loop.loads, entries, each, each - plain, ""))
                result["rows"].append(dict(zip(HEADS[:-1], rows[-1][:-1], strict=True)))
    except (ToolError, ImportError, RuntimeError, OSError, subprocess.CalledProcessError) as error:
        print(f"benchmarks.decode: {error}", file=sys.stderr)
        return 2
    print(table.table(HEADS, rows))
    if args.json:
        table.write(args.json, result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
