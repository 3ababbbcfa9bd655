"""The objects of a program while it is generated: names, types, and declarations on demand."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

from .palette import COMPLEX, OWN, Palette
from .program import Declaration

Shape = tuple[int, ...]
SIZES = (1, 2, 3, 5, 8, 9, 16, 31, 33, 64, 65, 70, 130)
# Limits of the types, sums that pass them, and integers that FP64 cannot represent.
EDGES = {
    "INT": (
        *(-(1 << 7), (1 << 7) - 1, 1 << 15, (1 << 31) - 1, -(1 << 31)),
        *((1 << 53) + 1, -(1 << 53) - 1, 1 << 62, (1 << 63) - 1, (1 << 63) - 513, -(1 << 63)),
    ),
    "UINT": (255, 1 << 15, (1 << 32) - 1, (1 << 53) + 1, 1 << 63, (1 << 63) + 5, (1 << 64) - 1, (1 << 64) - 1025),
}
WILD = {**EDGES, "FP": (float("nan"), float("inf"), float("-inf"), -0.0, 1e30, 1e-30)}
CALM = {"INT": (-5, 9), "UINT": (0, 9), "FP": (-6, 9)}


def fits(x: int, dtype: str) -> bool:
    bits = int(dtype.lstrip("UINT"))
    return 0 <= x < 1 << bits if dtype[0] == "U" else -(1 << bits - 1) <= x < 1 << bits - 1


@dataclass(frozen=True)
class Record:
    """A value of Pair: a tuple in the text, and one value, where a tuple is a value for each entry."""

    fields: tuple[Any, ...]

    def __repr__(self) -> str:
        return repr(self.fields)


class Objects:
    """Of one program. `objects`: shape and type by name; a type that an expression made is None, not known."""

    def __init__(self, rng: random.Random, palette: Palette) -> None:
        self.rng, self.palette = rng, palette
        self.dims = rng.sample(SIZES, 2)
        self.share = rng.choice((0.05, 0.3, 0.3, 0.6, 1.0))  # of the entries that are there
        one = rng.choice(palette.types)
        numbers = tuple(t for t in palette.types if t not in OWN)
        self.types = (one,) if one in OWN else (*numbers, *numbers, "BOOL")  # of declared objects
        self.mixed = palette.mixed and one not in OWN  # nothing is cast to a record
        if not palette.mixed:
            self.types = (rng.choice(self.types),)
        self.wild = rng.random() < 0.25
        self.objects: dict[str, tuple[Shape, str | None]] = {}
        self.declared: list[Declaration] = []
        self.out = ""  # the object that the statement changes: often an operand too

    def chance(self, p: float) -> bool:
        return self.rng.random() < p

    def one(self, names: tuple[str, ...]) -> str:
        return self.rng.choice(names)

    def dim(self) -> int:
        return self.rng.choice(self.dims)

    # ---- values -----------------------------------------------------------------------------------------------------

    def value(self, dtype: str) -> Any:
        if dtype == "BOOL":
            return self.chance(0.6)
        if dtype in COMPLEX:
            return complex(self.rng.randint(-6, 9) / 2, self.rng.randint(-2, 2))
        if dtype == "Pair":
            return Record((self.rng.randint(0, 3), self.rng.randint(-2, 2) / 2))
        if dtype == "Triple":
            return [self.rng.randint(0, 2) for _ in range(3)]
        kind = dtype.rstrip("0123456789")
        if self.wild and self.chance(0.3):
            found = [x for x in WILD[kind] if kind == "FP" or fits(x, dtype)]
            return self.rng.choice(found)
        x = self.rng.randint(*CALM[kind])
        return x / 2 if kind == "FP" else x

    def integers(self, count: int) -> list[Any]:
        """Python numbers for a list: near the limits of the 64-bit types, of both signs or of one, now and then a float
        among them."""
        rng = self.rng
        edges = EDGES["UINT"] if self.chance(0.5) else EDGES["INT"] if self.chance(0.6) else sum(EDGES.values(), ())
        found: list[Any] = [rng.choice(edges) if self.chance(0.6) else rng.randint(0, 9) for _ in range(count)]
        if found and self.chance(0.15):
            found[rng.randrange(count)] = rng.choice((0.5, 3.0, True))
        return found

    def constant(self) -> str:
        """A number, or a Scalar: of a type that a program has, so that few kernels are compiled."""
        scalars = [name for name, (shape, _) in self.objects.items() if shape == ()]
        if scalars and self.chance(0.15):
            return self.rng.choice(scalars)
        dtype = self.one(self.types)
        x = repr(self.value(dtype))
        return x if dtype in ("BOOL", "INT64", "FP64", "FC64") else f'gb.Scalar.from_value({x}, dtype="{dtype}")'

    # ---- objects ----------------------------------------------------------------------------------------------------

    def name(self, shape: Shape) -> str:
        return f"{'svA'[len(shape)]}{len(self.objects)}"

    def declare(self, shape: Shape, dtype: str | None = None) -> str:
        rng, dtype = self.rng, dtype or self.one(self.types)
        cells = 1
        for n in shape:
            cells *= n
        share = 0.0 if self.chance(0.05) else min(self.share, 400 / max(cells, 1))
        found = sorted(rng.sample(range(cells), round(share * cells))) if shape else []
        where = tuple((k,) if len(shape) == 1 else divmod(k, shape[1]) for k in found)
        iso = bool(where) and dtype != "Triple" and self.chance(0.2)  # a list is several values
        values = self.value(dtype) if iso else tuple(self.value(dtype) for _ in where)
        if iso and dtype == "UINT64" and values >> 63:  # python-graphblas refuses it as one value
            values = (values,) * len(where)
            iso = False
        form = order = ""
        if len(shape) == 2:
            form = self.one(self.palette.forms)
            if self.chance(0.1) and dtype[0] in "IU" and not self.wild and found:
                form += ", packed=True"
            if self.chance(0.15) and shape[0] == shape[1]:
                form += ", symmetric=True"
                twin = dict(zip(where, [values] * len(where) if iso else values))
                twin = {**{place[::-1]: x for place, x in twin.items()}, **twin}
                twin = {place: twin[max(place, place[::-1])] for place in sorted(twin)}
                where, values = tuple(twin), values if iso else tuple(twin.values())
            if shape[0] == shape[1] and self.palette.orders and self.chance(0.3):
                order = self.one(self.palette.orders)
        if not shape:
            values = () if self.chance(0.1) else (self.value(dtype),)
        name = self.name(shape)
        self.objects[name] = shape, dtype
        self.declared.append(Declaration(name, dtype, shape, where, values, form, order))
        return name

    def pick(self, shape: Shape, dtype: str | None = None) -> str:
        """An object of that shape: the one that is changed, another one, or a new one."""
        dtype = dtype or (None if self.mixed else self.types[0])
        found = [name for name, (s, t) in self.objects.items() if s == shape and dtype in (None, t)]
        if self.out in found and self.chance(0.3):
            return self.out
        if found and self.chance(0.5 if len(found) == 1 else 0.85):
            return self.rng.choice(found)
        return self.declare(shape, dtype)

    def types_of(self, *texts: str) -> set[str | None]:
        """The known types of operands."""
        return {self.objects.get(text.removesuffix(".T"), ((), None))[1] for text in texts}

    def is_logical(self, *texts: str) -> bool:
        """Whether all are known to be BOOL: not every operator takes that."""
        return self.types_of(*texts) == {"BOOL"}

    # ---- indices ----------------------------------------------------------------------------------------------------

    def indices(self, size: int) -> tuple[str, int]:
        """Text and length of indices along an axis, as many as may be."""
        found = self.index(size)
        assert found is not None, "only of a given length there may be none"
        return found

    def index(self, size: int, length: int | None = None, *, repeats: bool = False) -> tuple[str, int] | None:
        """Text and length of indices along an axis; of that length if it is given, None where there are none."""
        rng = self.rng
        if length is None:
            length = rng.choice((size, rng.randint(0, size), min(size, rng.randint(1, 4))))
        if length > size and not (repeats and size):
            return None
        if length == size and self.chance(0.4):
            return self.one((":", ":", "::-1")), size
        if not length:
            return "0:0", 0  # an empty list is one of floats for python-graphblas
        steps = [k for k in (1, 2, 3, -1, -2) if (length - 1) * abs(k) < size]
        if steps and self.chance(0.6):
            step = rng.choice(steps)
            first = rng.randint(0, size - 1 - (length - 1) * abs(step))
            last = first + (length - 1) * abs(step)
            if step > 0:
                return f"{first}:{last + 1}" + (f":{step}" if step > 1 else ""), length
            return f"{last}:{first - 1 if first else ''}:{step}", length
        if repeats:
            return str([rng.randrange(size) for _ in range(length)]), length
        return str(rng.sample(range(size), length)), length

    def place(self, size: int) -> str:
        k = self.rng.randrange(size)
        return str(k - size if self.chance(0.1) else k)
