"""Random expressions by the shape of their result: (operation, text)."""

from __future__ import annotations

from .objects import Objects, Shape

Found = tuple[str, str] | None


class Expressions(Objects):
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
        found: tuple[str, ...] = getattr(self.palette.family(types), kind)
        return found

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
        if how < 2:
            return "ewise_add", f"{x}.ewise_add({y}, {op})" if how else f"{op}({x} | {y})"
        if how < 4:
            return "ewise_mult", f"{x}.ewise_mult({y}, {op})" if how == 2 else f"{op}({x} & {y})"
        if how < 6:
            a, b = self.constant(), self.constant()
            if how == 4:
                return "ewise_union", f"{x}.ewise_union({y}, {op}, {a}, {b})"
            return "ewise_union", f"{op}({x} | {y}, left_default={a}, right_default={b})"
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
        if self.chance(0.5):
            A = self.operand((n, k))
            sr = self.operator("semiring", A, u)
            return "mxv", f"{A}.mxv({u}, {sr})" if self.chance(0.7) else f"{sr}({A} @ {u})"
        A = self.operand((k, n))
        sr = self.operator("semiring", A, u)
        return "vxm", f"{u}.vxm({A}, {sr})" if self.chance(0.7) else f"{sr}({u} @ {A})"

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
        if how == 0:
            return "reduce", f"{x}.reduce({op}{empty})"
        if how == 1:
            return "reduce_scalar", f"{x}.reduce_scalar({op}{empty})"
        if how < 4:
            y = self.operand((n,))
            sr = self.operator("semiring", x, y)
            return "inner", f"{x}.inner({y}, {sr})" if how == 2 else f"{sr}({x} @ {y})"
        if how == 4:
            v = self.pick((n,))
            return "extract scalar", f"{v}[{self.place(n)}]"
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
