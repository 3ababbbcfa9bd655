"""A program as data: objects that are declared, statements on them, and the text that both libraries run."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

NAME = re.compile(r"\b[vAs]\d+\b")


class Declaration(NamedTuple):
    """An object: a Scalar, Vector or Matrix by the length of `shape`; `values` of its entries, one each or one for all.

    form: how bitblas stores it, a text of keywords; order: that in which it does. python-graphblas ignores both.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    where: tuple[tuple[int, ...], ...] = ()
    values: tuple[Any, ...] | Any = ()
    form: str = ""
    order: str = ""

    @property
    def is_iso(self) -> bool:
        return not isinstance(self.values, tuple)

    def text(self) -> str:
        if not self.shape:
            value = self.values[0] if self.values else None
            return f'{self.name} = gb.Scalar.from_value({value}, "{self.dtype}")'
        columns = [list(column) for column in zip(*self.where)] or [[]] * len(self.shape)
        values = self.values if self.is_iso else list(self.values)
        where = ", ".join(map(str, columns))
        if len(self.shape) == 1:
            return f'{self.name} = gb.Vector.from_coo({where}, {values}, "{self.dtype}", size={self.shape[0]})'
        form = f", **form({self.form})" if self.form else ""
        size = f"nrows={self.shape[0]}, ncols={self.shape[1]}"
        made = f'gb.Matrix.from_coo({where}, {values}, "{self.dtype}", {size}{form})'
        return f"{self.name} = " + (f'in_order({made}, "{self.order}")' if self.order else made)


class Statement(NamedTuple):
    """One statement, in parts that a shrinker can drop.

    kind: "assign" `out(mask, accum, replace)[region] << value`, with the mask at the region where it is `inner`;
          "new" `out = value.new(dtype, mask=..)`; "set" `out = value`; "read" `value`; "write" `out[region] = value`,
          one entry; "delete" `del out[region]`; "in place" `out accum= value`; "call" `out.value`, a method
    """

    kind: str
    verb: str
    out: str
    value: str = ""
    mask: str = ""
    accum: str = ""
    replace: bool = False
    region: str = ""
    inner: bool = False
    dtype: str = ""

    def text(self) -> str:
        if self.kind == "assign":
            how = ", ".join(filter(None, (self.mask, self.accum, "gb.replace" if self.replace else "")))
            region = f"[{self.region}]" if self.region else ""
            called = f"({how})" if how else ""
            return f"{self.out}{region + called if self.inner else called + region} << {self.value}"
        if self.kind == "new":
            how = [f'"{self.dtype}"'] * bool(self.dtype) + [f"mask={self.mask}"] * bool(self.mask)
            return f"{self.out} = {self.value}.new({', '.join(how)})"
        return {
            "set": f"{self.out} = {self.value}", "read": f"r = {self.value}", "call": f"{self.out}.{self.value}",
            "write": f"{self.out}[{self.region}] = {self.value}", "delete": f"del {self.out}[{self.region}]",
            "in place": f"{self.out} {self.accum}= {self.value}",
        }[self.kind]  # fmt: skip

    @property
    def waits(self) -> bool:
        """Whether libraries may let it wait: nothing is compared before the next statement that reads."""
        return self.kind in ("write", "delete")


class Program(NamedTuple):
    declarations: tuple[Declaration, ...]
    statements: tuple[Statement, ...]
    at_end: bool = False  # objects are compared only at the end, because reading changes cached state

    def used(self) -> set[str]:
        return {name for s in self.statements for name in NAME.findall(s.text())}


OWN = """from fuzz import user_types  # PYTHONPATH=tests

for gb in (bitblas, graphblas):
    user_types.registered(gb)

"""
FILES = """\
    from fuzz import files  # PYTHONPATH=tests
    through_files = files.ours if gb is bitblas else files.expected
"""
HEAD = """\
import pickle

import bitblas, graphblas
from numpy import inf, nan, uint64
{own}

def program(gb):
{files}    form = lambda **how: how if gb is bitblas else {{}}
    in_order = lambda A, order: A.reorder(order) if gb is bitblas else A
"""


def script(program: Program) -> str:
    """The program, to paste: it prints what both libraries give."""
    lines = [d.text() for d in program.declarations] + [s.text() for s in program.statements]
    last = program.statements[-1]
    shown = "r" if last.kind == "read" else last.out
    body = "".join(f"    {line}\n" for line in [*lines, f"return {shown}"])
    own = OWN if any(d.dtype in ("Pair", "Triple") for d in program.declarations) else ""
    files = FILES if "through_files" in body else ""
    return f"{HEAD.format(own=own, files=files)}{body}\n\nfor gb in (bitblas, graphblas):\n    print(program(gb))\n"
