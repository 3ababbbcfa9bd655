"""Random statements, and programs of them: the same ones for a seed."""

from __future__ import annotations

import random

from .expressions import Expressions
from .objects import Shape
from .palette import NUMBERS, OWN, Palette
from .program import Program, Statement


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
        if not part:
            verb, value = "assign scalar", self.constant()
        elif self.chance(0.3) or 0 in part:
            verb, value = "assign scalar", self.constant()
        elif len(part) == 1 and self.chance(0.15):
            verb, value = "assign list", str([self.value(self.types[0]) for _ in range(part[0])])
        else:
            verb, value = self.expression(part) if self.chance(0.6) else ("assign", self.operand(part))
        return Statement(
            "assign",
            f"{'sub' if inner else ''}region {verb}",
            self.out,
            value,
            region=", ".join(parts),
            inner=inner,
            **how,
        )

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
        size = "size={0}.size" if len(shape) == 1 else "nrows={0}.nrows, ncols={0}.ncols"
        kind = "Vector" if len(shape) == 1 else "Matrix"
        size, k = size.format(x), self.rng.randint(1, 3)
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
                ("from_csr", f"gb.Matrix.from_csr(*{x}.to_csr(), {size})", shape, dtype),
                ("from_csc", f"gb.Matrix.from_csc(*{x}.to_csc(), {size})", shape, dtype),
                ("from_dcsr", f"gb.Matrix.from_dcsr(*{x}.to_dcsr(), {size})", shape, dtype),
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
        found: list[tuple[str, str, Shape, str | None]] = []
        if len(shape) == 1:
            found += [
                ("list coo", f"gb.Vector.from_coo({where}, {numbers}{dtype}, {size})", shape, t or None),
                ("list pairs", f"gb.Vector.from_pairs({list(zip(where, numbers))}{dtype}, {size})", shape, t or None),
                ("list dict", f"gb.Vector.from_dict({dict(zip(where, numbers))}{dtype}, {size})", shape, t or None),
            ]
        else:
            rows, cols = ([list(part) for part in zip(*places)]) or ([], [])
            edges = [(*place, x) for place, x in zip(places, numbers)]
            found += [
                ("list coo", f"gb.Matrix.from_coo({rows}, {cols}, {numbers}{dtype}, {size})", shape, t or None),
                ("list edgelist", f"gb.Matrix.from_edgelist({edges}, None{dtype}, {size})", shape, t or None),
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
        kinds = (
            [self.assign] * 10
            + [self.region] * 3
            + [self.new] * 2
            + [self.write]
            + [self.call, self.made, self.made, self.read, self.in_place, self.through_files]
        )
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
