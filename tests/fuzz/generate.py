"""Random statements on random expressions, and programs of them: the same ones for a seed."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

from .palette import COMPLEX, NUMBERS, OWN, Palette
from .program import Declaration, Program, Statement

Found = tuple[str, str] | None
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


class Expressions(Objects):
    """Random expressions by the shape of their result: (operation, text)."""

    # ---- operands ---------------------------------------------------------------------------------------------------

    def operand(self, shape: Shape) -> str:
        """An object, the transpose of one, or now and then a delayed expression."""
        if len(shape) == 2 and self.chance(0.2):
            return f"{self.pick(shape[::-1])}.T"
        if shape and self.chance(0.04):
            x, y = self.pick(shape), self.pick(shape)
            return f"({self.operator('binary', x, y)}({x} & {y}))"
        return self.pick(shape)

    def operator(self, kind: str, *operands: str) -> str:
        logical = {
            "binary": self.palette.logical,
            "monoid": tuple(x for x in self.palette.logical if x in ("lor", "land", "lxor", "lxnor", "eq")) or ("lor",),
            "semiring": self.palette.logical_semiring,
            "unary": ("lnot", "identity", "one"),
        }[kind]
        names = logical if self.is_logical(*operands) and self.chance(0.9) else self.names(kind, *operands)
        text = f"gb.{kind}.{self.one(names)}"
        return f'{text}["{self.one(self.palette.types)}"]' if self.chance(0.04) else text

    def names(self, kind: str, *operands: str) -> tuple[str, ...]:
        """Operators of a kind that take the operands."""
        types = self.types_of(*operands)
        if types <= {None}:  # most are what the program declares
            types = {*self.types}
        return getattr(self.palette.family(types), kind)

    def mask(self, shape: Shape) -> str:
        x = self.pick(shape, self.one(("BOOL", *self.palette.types)) if self.chance(0.6) else None)
        if self.objects[x][1] == "BOOL" and self.chance(0.1):
            return x
        text = f"{self.one(('~', ''))}{x}.{self.one(('S', 'V'))}"
        if self.chance(0.08):
            text = f"{text} {self.one(('&', '|'))} {self.one(('~', ''))}{self.pick(shape)}.{self.one(('S', 'V'))}"
        return text

    # ---- what gives any shape ---------------------------------------------------------------------------------------

    def ewise(self, shape: Shape) -> Found:
        x, y = self.operand(shape), self.operand(shape)
        op, how = self.operator("binary", x, y), self.rng.randrange(8)
        if how < 4:
            texts = f"{op}({x} | {y})", f"{x}.ewise_add({y}, {op})", f"{x}.ewise_mult({y}, {op})", f"{op}({x} & {y})"
            return "ewise_add" if how < 2 else "ewise_mult", texts[how]
        if how < 6:
            a, b = self.constant(), self.constant()
            called = f"{op}({x} | {y}, left_default={a}, right_default={b})"
            return "ewise_union", f"{x}.ewise_union({y}, {op}, {a}, {b})" if how == 4 else called
        if self.is_logical(x, y):
            return "infix", f"({x} {self.one(('|', '&', '^', '==') if self.mixed else ('|',))} {y})"
        return "infix", f"({x} {self.one(self.names('infix', x, y))} {y})"

    def apply(self, shape: Shape) -> Found:
        x, how = self.operand(shape), self.rng.randrange(8)
        if how < 3:
            op = self.operator("unary", x)
            return "apply", f"{x}.apply({op})" if how else f"{op}({x})"
        op, c = self.operator("binary", x), self.constant()
        if how < 6:
            texts = (f"{x}.apply({op}, right={c})", f"{x}.apply({op}, left={c})", f"{op}({x}, {c})")
            return "apply bound", texts[how - 3]
        if how == 6:
            return "apply bound", f"({x} {self.one(self.names('infix', x))} {c})"
        return "apply index", f"{x}.apply(gb.indexunary.{self.thunk(self.one(self.names('index', x)), x, shape)})"

    def thunk(self, op: str, x: str, shape: Shape) -> str:
        """A thunk that the operator takes: of the type of the values where it is compared with them."""
        if op.startswith("value"):
            return f"{op}, gb.Scalar.from_value({self.rng.randint(0, 3)}, dtype={x}.dtype)"
        return f"{op}, {self.rng.randint(-3, max(shape) if 'row' in op or 'col' in op else 3)}"

    def select(self, shape: Shape) -> Found:
        x = self.operand(shape)
        if self.chance(0.3):
            return "select mask", f"{x}.select({self.mask(shape)})"
        return "select", f"{x}.select(gb.select.{self.thunk(self.one(self.names('select', x)), x, shape)})"

    def copy(self, shape: Shape) -> Found:
        return "assign", self.operand(shape)

    def scalar(self, shape: Shape) -> Found:
        verb, text = self.scalar_expression()  # an entry is none for python-graphblas
        return "assign scalar", self.constant() if self.chance(0.8) or verb == "extract scalar" else text

    def extract(self, shape: Shape) -> Found:
        rows = [s for s, _ in self.objects.values() if len(s) == 2]
        if len(shape) == 1 and rows and self.chance(0.5):
            nrows, ncols = self.rng.choice(rows)
            A = self.pick((nrows, ncols)) + self.one(("", "", "", ".T"))
            if A.endswith(".T"):
                nrows, ncols = ncols, nrows
            along = self.rng.randrange(2)
            size, other = ((ncols, nrows), (nrows, ncols))[along]
            found = self.index(size, shape[0], repeats=True) if size and other else None
            if found is None:
                return None
            i = self.place(other)
            return "extract", f"{A}[{i}, {found[0]}]" if not along else f"{A}[{found[0]}, {i}]"
        known = [s for s, _ in self.objects.values() if len(s) == len(shape)]
        whole = self.rng.choice(known) if known else shape
        if 0 in whole:
            return None
        found = [self.index(size, n, repeats=True) for size, n in zip(whole, shape)]
        x = self.pick(whole)
        return "extract", f"{x}[{', '.join(text for text, _ in found)}]"

    def reposition(self, shape: Shape) -> Found:
        known = [name for name, (s, _) in self.objects.items() if len(s) == len(shape)]
        if self.out or not known:  # python-graphblas keeps the old output
            return None
        x = self.rng.choice(known)
        by = ", ".join(str(self.rng.randint(-3, 3)) for _ in shape)
        size = f"nrows={shape[0]}, ncols={shape[1]}" if len(shape) == 2 else f"size={shape[0]}"
        return "reposition", f"{x}.reposition({by}, {size})"

    # ---- by shape ---------------------------------------------------------------------------------------------------

    def vector_product(self, shape: Shape) -> Found:
        (n,), k = shape, self.dim()
        u = self.operand((k,))
        verb = "mxv" if self.chance(0.5) else "vxm"
        A = self.operand((n, k) if verb == "mxv" else (k, n))
        sr, (x, y) = self.operator("semiring", A, u), (A, u) if verb == "mxv" else (u, A)
        return verb, f"{x}.{verb}({y}, {sr})" if self.chance(0.7) else f"{sr}({x} @ {y})"

    def reduction(self, shape: Shape) -> Found:
        how = self.one(("rowwise", "columnwise"))
        A = self.operand((shape[0], self.dim()) if how == "rowwise" else (self.dim(), shape[0]))
        op = f"gb.agg.{self.one(self.names('aggregator', A))}" if self.chance(0.25) else self.operator("monoid", A)
        return "reduce_" + how, f"{A}.reduce_{how}({op})"

    def matrix_product(self, shape: Shape) -> Found:
        if shape[0] == shape[1] and self.chance(0.06):
            return "power", f"{self.pick(shape)}.power({self.rng.randint(0, 3)}, {self.operator('semiring')})"
        k = self.dim()
        A, B = self.operand((shape[0], k)), self.operand((k, shape[1]))
        sr = self.operator("semiring", A, B)
        return "mxm", f"{A}.mxm({B}, {sr})" if self.chance(0.7) else f"{sr}({A} @ {B})"

    def outer(self, shape: Shape) -> Found:
        u, v = self.operand((shape[0],)), self.operand((shape[1],))
        return "outer", f"{u}.outer({v}, {self.operator('binary', u, v)})"

    def transpose(self, shape: Shape) -> Found:
        return "transpose", f"{self.pick(shape[::-1])}.T"

    def broadcast(self, shape: Shape) -> Found:
        A, v = self.operand(shape), self.pick(shape[1:])
        x, y = (A, v) if self.chance(0.6) else (v, A)
        if self.chance(0.4) and not self.is_logical(A, v):
            return "broadcast", f"({x} {self.one(self.names('infix', x, y))} {y})"
        return "broadcast", f"{x}.{self.one(('ewise_add', 'ewise_mult'))}({y}, {self.operator('binary', A, v)})"

    def kronecker(self, shape: Shape) -> Found:
        nrows, ncols = (self.rng.choice([d for d in (1, 2, 3, 5) if n % d == 0]) if n else 1 for n in shape)
        A, B = self.operand((nrows, ncols)), self.operand((shape[0] // nrows, shape[1] // ncols))
        A, B = (A, B) if self.chance(0.5) else (B, A)
        return "kronecker", f"{A}.kronecker({B}, {self.operator('binary', A, B)})"

    def scalar_expression(self) -> tuple[str, str]:
        how, n = self.rng.randrange(6), self.dim()
        x = self.operand((n,) if how in (0, 2, 3) else (n, self.dim()))
        op = f"gb.agg.{self.one(self.names('aggregator', x))}" if self.chance(0.2) else self.operator("monoid", x)
        empty = ", allow_empty=False" if self.chance(0.15) and "agg" not in op else ""
        if how < 2:
            verb = ("reduce", "reduce_scalar")[how]
            return verb, f"{x}.{verb}({op}{empty})"
        if how < 4:
            y = self.operand((n,))
            sr = self.operator("semiring", x, y)
            return "inner", f"{x}.inner({y}, {sr})" if how == 2 else f"{sr}({x} @ {y})"
        if how == 4:
            return "extract scalar", f"{self.pick((n,))}[{self.place(n)}]"
        nrows, ncols = n, self.dim()
        return "extract scalar", f"{self.pick((nrows, ncols))}[{self.place(nrows)}, {self.place(ncols)}]"

    def expression(self, shape: Shape) -> tuple[str, str]:
        if not shape:
            return self.scalar_expression()
        common = (self.ewise, self.ewise, self.ewise, self.apply, self.apply, self.select, self.copy, self.scalar,
                  self.extract, self.reposition)  # fmt: skip
        vector = (self.vector_product, self.vector_product, self.vector_product, self.reduction)
        matrix = (self.matrix_product, self.matrix_product, self.outer, self.transpose, self.broadcast, self.kronecker)
        while True:
            found = self.rng.choice(common + (vector if len(shape) == 1 else matrix))(shape)
            if found is not None:
                return found


class Statements(Expressions):
    def target(self, *dimensions: int) -> tuple[str, Shape]:
        """An object that a statement changes, of that many dimensions."""
        known = [name for name, (shape, _) in self.objects.items() if len(shape) in dimensions and 0 not in shape]
        if not known or (len(known) < 3 and self.chance(0.5)):
            shape = tuple(self.dim() for _ in range(self.rng.choice(dimensions)))
            return self.declare(shape), shape
        name = self.rng.choice(known)
        return name, self.objects[name][0]

    def how(self, shape: Shape) -> dict:
        """Mask, accumulator and replace of an assignment."""
        mask = self.mask(shape) if shape and self.chance(0.5) else ""
        accum = self.operator("binary", self.out) if self.chance(0.25) else ""
        return {"mask": mask, "accum": accum, "replace": bool(mask) and self.chance(0.4)}

    def assign(self) -> Statement:
        self.out, shape = self.target(1, 1, 1, 2, 2, 0)
        verb, value = self.expression(shape)
        how = self.how(shape) if shape else {}
        return Statement("assign", verb, self.out, value, **how)

    def region(self) -> Statement:
        """`out(..)[I] << x`, the mask of the shape of out, or `out[I](..) << x`, that of the region."""
        self.out, shape = self.target(1, 2)
        part: Shape = ()
        parts: list[str] = []
        axes: list[int] = []  # along which there is more than one place
        for axis, n in enumerate(shape):
            if len(shape) == 2 and self.chance(0.25):
                parts.append(self.place(n))
            else:
                text, length = self.indices(n)
                parts.append(text)
                axes.append(axis)
                part = (*part, length)
        line = len(shape) == 2 and len(part) == 1 and self.chance(0.6)  # of a row or column, a Vector's mask is enough
        inner = self.chance(0.5)
        masked = part if inner else (shape[axes[0]],) if line else shape
        how = self.how(masked) if part and 0 not in part else {}
        if not part or self.chance(0.3) or 0 in part:
            verb, value = "assign scalar", self.constant()
        elif len(part) == 1 and self.chance(0.15):
            verb, value = "assign list", str([self.value(self.types[0]) for _ in range(part[0])])
        else:
            verb, value = self.expression(part) if self.chance(0.6) else ("assign", self.operand(part))
        verb = f"{'sub' if inner else ''}region {verb}"
        return Statement("assign", verb, self.out, value, region=", ".join(parts), inner=inner, **how)

    def new(self) -> Statement:
        shape = tuple(self.dim() for _ in range(self.rng.choice((0, 1, 1, 2, 2))))
        self.out = ""
        verb, value = self.expression(shape)
        while shape and (verb in ("assign", "assign scalar") or value.lstrip("-").isdigit()):
            verb, value = self.expression(shape)
        mask = self.mask(shape) if shape and self.chance(0.3) else ""
        dtype = self.one(self.types) if self.chance(0.15) else ""
        name = self.name(shape)
        self.objects[name] = shape, dtype or None
        return Statement("new", verb, name, value, mask=mask, dtype=dtype)

    def write(self) -> Statement:
        """One entry: pending, until something reads."""
        known = [x for x in self.objects if self.objects[x][0] and 0 not in self.objects[x][0]]
        if self.out not in known or self.chance(0.4):
            self.out, _ = self.target(1, 2)
        shape, _ = self.objects[self.out]
        region = ", ".join(self.place(n) for n in shape)
        if self.chance(0.3):
            return Statement("delete", "delete", self.out, region=region)
        return Statement("write", "write", self.out, self.constant(), region=region)

    def in_place(self) -> Statement:
        """`v += w`, `A @= B`: on the object itself."""
        self.out, shape = self.target(1, 2)
        if self.types_of(self.out) & {*OWN}:
            return self.assign()
        signs = ("|", "&", "^") if self.is_logical(self.out) else ("+", "-", "*")
        if len(shape) == 2 and shape[0] == shape[1] and self.chance(0.2):
            return Statement("in place", "mxm in place", self.out, self.operand(shape), accum="@")
        value = self.operand(shape) if self.chance(0.7) or signs[0] == "|" else self.constant()
        return Statement("in place", "ewise in place", self.out, value, accum=self.one(signs))

    def call(self) -> Statement:
        self.out, shape = self.target(1, 2)
        which = self.rng.randrange(8)
        if which == 0:
            return Statement("call", "clear", self.out, "clear()")
        if which < 4 or len(shape) == 1:
            size = tuple(self.dim() if self.chance(0.7) else max(1, n + self.rng.randint(-3, 3)) for n in shape)
            if which == 1 and len(shape) == 1:
                return Statement("delete", "delete", self.out, region=self.indices(shape[0])[0])
            self.objects[self.out] = size, self.objects[self.out][1]
            return Statement("call", "resize", self.out, f"resize({', '.join(map(str, size))})")
        if which == 4:
            region = ", ".join(self.indices(n)[0] for n in shape)
            return Statement("delete", "delete", self.out, region=region)
        k = self.rng.randint(max(-3, 1 - shape[0]), min(3, shape[1] - 1))
        length = min(shape[0] + min(k, 0), shape[1] - max(k, 0))
        value = self.pick((length,)) if self.chance(0.6) else self.constant()
        accum = f", accum={self.operator('binary', self.out)}" if self.chance(0.3) else ""
        return Statement("call", "setdiag", self.out, f"setdiag({value}, {k}{accum})")

    def made(self) -> Statement:
        """A new object that is no expression's: copies, diagonals, round trips, what `.ss` makes."""
        self.out = ""
        x, shape = self.target(1, 2)
        dtype, t = self.objects[x][1], self.one(self.types)
        kind, size = (
            ("Vector", f"size={x}.size") if len(shape) == 1 else ("Matrix", f"nrows={x}.nrows, ncols={x}.ncols")
        )
        k = self.rng.randint(1, 3)
        which, order = self.one(("first", "last")), self.one(("rowwise", "columnwise"))
        choices: list[tuple[str, str, Shape, str | None]] = [
            ("dup", f"{x}.dup()", shape, dtype), ("dup", f'{x}.dup("{t}", mask={self.mask(shape)})', shape, t),
            ("from_coo", f"gb.{kind}.from_coo(*{x}.to_coo(), {size})", shape, dtype),
            ("mask new", f"({self.mask(shape)}).new()", shape, "BOOL"),
            ("pickle", f"pickle.loads(pickle.dumps({x}))", shape, dtype),
        ]  # fmt: skip
        choices += self.listed(shape, size) * 2
        if self.chance(0.3):
            choices.append(("from_scalar", f"gb.{kind}.from_scalar({self.constant()}, {size})", shape, None))
        if len(shape) == 1:
            at, v = self.rng.randint(0, 3), shape[0]
            choices += [
                ("diag", f"{x}.diag({at})", (v + at, v + at), dtype),
                ("selectk", f'{x}.ss.selectk("{which}", {k})', shape, dtype),
                ("from_dict", f"gb.Vector.from_dict({x}.to_dict(), {x}.dtype, {size})", shape, dtype),
                ("scan", f"{x}.ss.scan({self.operator('monoid', x)})", shape, None),
                ("concat", f"gb.ss.concat([{x}, {self.pick((self.dim(),))}])", (), None),
            ]  # fmt: skip
        else:
            swapped = shape[::-1]
            choices += [
                ("transpose", f"{x}.T.new()", swapped, dtype),
                ("diag", f"{x}.diag({self.rng.randint(-2, 2)})", (), dtype),
                ("selectk", f'{x}.ss.selectk("{which}", {k}, "{order}")', shape, dtype),
                *((f"from_{rows}", f"gb.Matrix.from_{rows}(*{x}.to_{rows}(), {size})", shape, dtype)
                  for rows in ("csr", "csc", "dcsr")),
                ("from_dicts", f"gb.Matrix.from_dicts({x}.to_dicts(), {x}.dtype, {size})", shape, dtype),
                ("from_edgelist", f"gb.Matrix.from_edgelist(*{x}.to_edgelist(), {size})", shape, dtype),
                ("scan", f'{x}.ss.scan({self.operator("monoid", x)}, "{order}")', shape, None),
                ("compactify", f'{x}.ss.compactify("{which}", {k}, order="{order}")', (), dtype),
                ("flatten", f'{x}.ss.flatten("{order}")', (), dtype),
                ("reshape", f'{x}.ss.reshape({shape[1]}, {shape[0]}, order="{order}")', swapped, dtype),
                ("concat", f"gb.ss.concat([[{x}, {self.operand((shape[0], self.dim()))}]])", (), None),
            ]  # fmt: skip
        verb, value, made, dtype = self.rng.choice(choices)
        if not made:  # of a size that depends, or (flatten) a Matrix inside: it is read, and not used
            return Statement("read", verb, "", value)
        name = self.name(made)
        self.objects[name] = made, dtype
        return Statement("set", verb, name, value)

    def listed(self, shape: Shape, size: str) -> list[tuple[str, str, Shape, str | None]]:
        """Objects of lists of Python numbers near the limits, with a requested type or without one."""
        rng = self.rng
        kind = "Vector" if len(shape) == 1 else "Matrix"
        cells = rng.sample(range(shape[0] * shape[-1]), min(3, shape[0] * shape[-1])) if len(shape) == 2 else []
        where = sorted(rng.sample(range(shape[0]), min(3, shape[0]))) if len(shape) == 1 else []
        places = [divmod(k, shape[1]) for k in sorted(cells)]
        numbers = self.integers(len(where) or len(places))
        t = self.one((*self.numeric(), "")) if self.chance(0.8) else self.one(("INT64", "UINT64"))
        dtype = f', dtype="{t}"' if t else ", dtype=None"
        if kind == "Vector":
            pairs = list(zip(where, numbers))
            parts = {"coo": f"{where}, {numbers}", "pairs": f"{pairs}", "dict": f"{dict(pairs)}"}
        else:
            rows, cols = ([list(part) for part in zip(*places)]) or ([], [])
            edges = [(*place, x) for place, x in zip(places, numbers)]
            parts = {"coo": f"{rows}, {cols}, {numbers}", "edgelist": f"{edges}, None"}
        found: list[tuple[str, str, Shape, str | None]] = [
            (f"list {name}", f"gb.{kind}.from_{name}({part}{dtype}, {size})", shape, t or None)
            for name, part in parts.items()
        ]
        dense = [self.integers(2), self.integers(2)] if kind == "Matrix" else self.integers(3)
        found.append(("list dense", f"gb.{kind}.from_dense({dense}{dtype})", (), t or None))
        return found

    def numeric(self) -> tuple[str, ...]:
        """The integer and real types of the program."""
        return tuple({t: None for t in self.types if t[:2] in ("IN", "UI", "FP")}) or ("INT64",)

    def through_files(self) -> Statement:
        """A matrix written as text and read back, whole and in chunks, as the requested type."""
        self.out = ""
        known = [x for x, (s, t) in self.objects.items() if len(s) == 2 and 0 not in s and t in (*NUMBERS, "BOOL")]
        x = self.one(tuple(known)) if known else self.declare((self.dim(),) * 2, self.one(self.numeric()))
        kind = self.one(("mtx", "csv")) if len({*self.objects[x][0]}) == 1 else "mtx"
        t = self.one(("", "", *self.numeric(), "INT8", "UINT8", "INT64", "UINT64"))
        return Statement("read", f"through {kind}", "", f'through_files({x}, "{kind}", "{t}")')

    def read(self) -> Statement:
        self.out = ""
        x, shape = self.target(1, 2)
        y, t = self.pick(shape), self.one(self.types)
        place = ", ".join(self.place(n) for n in shape)
        inside = f"({place})" if len(shape) == 2 else place
        texts = {
            "nvals": "{x}.nvals", "to_coo": '{x}.to_coo("{t}")', "to_dense": "{x}.to_dense({c})", "get": "{x}.get({p})",
            "in": "{q} in {x}", "isequal": "{x}.isequal({y}, check_dtype=True)",
            "iter": "sorted({x})", "infer": "{x}.dtype.name",
        }  # fmt: skip
        if len(shape) == 1:
            texts |= {"to_dict": "{x}.to_dict()", "split": "{x}.ss.split({k})"}
        else:
            texts |= {
                "to_csr": "{x}.to_csr()", "to_csc": "{x}.to_csc()",
                "to_dcsr": "{x}.T.to_dcsr()", "to_dcsc": "{x}.to_dcsc()",
                "to_edgelist": "{x}.to_edgelist()", "T.to_coo": "{x}.T.to_coo()", "split": "{x}.ss.split(({k}, {k}))",
            }  # fmt: skip
        verb = self.one(tuple(texts))
        k = self.rng.randint(1, max(1, min(shape)))
        value = texts[verb].format(x=x, y=y, t=t, c=self.value(self.types[0]), p=place, q=inside, k=k)
        return Statement("read", verb, "", value)

    def program(self, length: int) -> Program:
        kinds = [*[self.assign] * 10, *[self.region] * 3, *[self.new] * 2, self.write, self.call, self.made, self.made]
        kinds += [self.read, self.in_place, self.through_files]
        statements: list[Statement] = []
        while len(statements) < length:
            found = [self.rng.choice(kinds)()]
            while found[-1].waits and self.chance(0.6):  # writes come together
                found.append(self.write())
            statements += found
        return Program(tuple(self.declared), tuple(statements), self.chance(0.2))


def generate(seed: str, palette: Palette) -> Program:
    rng = random.Random(seed)
    return Statements(rng, palette).program(rng.randint(1, 7))
