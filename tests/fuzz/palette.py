"""The types, operators and forms that programs share. Each pair of them may be a kernel to compile, so that a run draws
few, and another seed draws others."""

from __future__ import annotations

import random
from typing import NamedTuple

NUMBERS = tuple("INT8 UINT8 INT16 UINT16 INT32 UINT32 INT64 UINT64 FP32 FP64".split())
COMPLEX = ("FC32", "FC64")
OWN = ("Pair", "Triple")  # a record and a sub-array: user_types.py
TYPES = NUMBERS + COMPLEX + OWN
UNARY = tuple(
    """
    ainv abs identity one lnot bnot minv sqrt exp floor ceil round trunc signum isnan isinf isfinite sin atan log1p
    exp2 cbrt
    """.split()
)
BINARY = tuple(
    """
    plus minus times min max first second pair rminus truediv rtruediv cdiv rdiv eq ne lt le gt ge lor land lxor
    lxnor iseq isne islt isle isgt isge band bor bxor bxnor bget bset bclr bshift absfirst abssecond fmod remainder
    copysign hypot atan2 ldexp
    """.split()
)
LOGICAL = tuple("lor land lxor lxnor eq first second pair ne lt ge".split())
MONOID = tuple("plus times min max lor land lxor lxnor band bor bxor bxnor".split())
SEMIRING = tuple(
    """
    plus_times min_plus max_plus min_times max_times plus_pair plus_first plus_second plus_min plus_max min_first
    min_second max_first max_second min_max max_min times_plus times_min any_pair lor_land land_lor lxor_land lor_eq
    lor_first land_ge bor_band bxor_bor plus_minus min_minus max_rminus times_first times_pair min_pair plus_land
    max_truediv ss.min_firsti ss.max_firstj ss.min_secondi ss.max_secondj ss.plus_firsti1 ss.min_secondj1
    """.split()
)
LOGICAL_SEMIRING = tuple("lor_land any_pair lxor_land land_lor lor_first lor_second plus_pair".split())
SELECT = tuple("valueeq valuene valuelt valuele valuegt valuege tril triu diag offdiag rowle rowgt colle colgt".split())
INDEX = tuple("rowindex colindex diagindex valueeq valuelt valuege tril rowgt colle".split())
AGGREGATOR = tuple(
    """
    sum prod count count_nonzero count_zero max min exists any all first last mean sum_of_squares argmin argmax
    first_index last_index peak_to_peak L1norm Linfnorm varp
    """.split()
)
INFIX = tuple("+ - * == < >= != /".split())


class Family(NamedTuple):
    """What takes the values of some types, by the kind of operator."""

    unary: tuple[str, ...]
    binary: tuple[str, ...]
    monoid: tuple[str, ...]
    semiring: tuple[str, ...]
    select: tuple[str, ...]
    index: tuple[str, ...]
    aggregator: tuple[str, ...]
    infix: tuple[str, ...]


OF_COMPLEX = Family(
    unary=tuple("ainv abs identity one minv sqrt exp conj creal cimag carg isnan isfinite".split()),
    binary=tuple("plus minus times truediv rminus rtruediv first second pair eq ne iseq isne".split()),
    monoid=("plus", "times"),
    semiring=tuple(
        """
        plus_times plus_pair plus_first plus_second plus_minus times_plus times_first any_pair plus_truediv
        ss.min_firsti ss.max_firstj ss.plus_secondi1
        """.split()
    ),
    select=tuple("valueeq valuene tril triu diag offdiag rowle rowgt colle colgt".split()),
    index=tuple("rowindex colindex valueeq valuene tril rowgt colle".split()),
    aggregator=tuple("sum prod count count_nonzero first last mean first_index last_index".split()),
    infix=("+", "-", "*", "==", "!=", "/"),
)
OF_OWN = Family(
    unary=("identity", "one", "ss.positioni", "fuzz.left"),
    binary=("first", "second", "pair", "eq", "ne", "fuzz.lower", "fuzz.dot", "ss.firsti", "ss.secondj"),
    monoid=("fuzz.least",),
    semiring=tuple(
        "any_pair plus_pair lor_eq lor_ne fuzz.plus_dot fuzz.least_lower fuzz.least_first ss.min_secondi".split()
    ),
    select=tuple("tril triu diag offdiag rowle rowgt colle colgt".split()),
    index=tuple("rowindex colindex tril rowgt colle".split()),
    aggregator=tuple("count first last first_index last_index".split()),
    infix=("==", "!="),
)


class Palette(NamedTuple):
    types: tuple[str, ...]
    unary: tuple[str, ...]
    binary: tuple[str, ...]
    logical: tuple[str, ...]
    monoid: tuple[str, ...]
    semiring: tuple[str, ...]
    logical_semiring: tuple[str, ...]
    select: tuple[str, ...]
    index: tuple[str, ...]
    aggregator: tuple[str, ...]
    infix: tuple[str, ...]
    forms: tuple[str, ...]  # keywords of Matrix
    orders: tuple[str, ...]
    mixed: bool = True  # operands of several types meet; else each program has those of one, and masks of any
    of_complex: Family = OF_COMPLEX
    of_own: Family = OF_OWN

    def family(self, types: set[str | None]) -> Palette | Family:
        """What takes values of these types: of a record, else of complex numbers, where one is there."""
        return self.of_own if types & {*OWN} else self.of_complex if types & {*COMPLEX} else self


# What programs use: the kernels of these come first from the caches of a run of the tests.
COMMON = Palette(
    types=("INT64",),
    unary=("ainv",),
    binary=("plus", "second"),
    logical=("lor",),
    monoid=("plus",),
    semiring=("plus_times",),
    logical_semiring=("lor_land",),
    select=("valuegt", "tril"),
    index=("rowindex",),
    aggregator=("count",),
    infix=("+",),
    forms=('format="csr"', 'format="b2sr", tile=8'),
    orders=(),
    mixed=False,
)


def draw(rng: random.Random, width: int, forms: tuple[str, ...], orders: tuple[str, ...]) -> Palette:
    """`width` of each kind of operator, and of the forms; one type fewer, and BOOL."""
    some = lambda names, least=1: tuple(rng.sample(names, min(len(names), max(least, width))))
    kinds = (UNARY, BINARY, LOGICAL, MONOID, SEMIRING, LOGICAL_SEMIRING, SELECT, INDEX, AGGREGATOR, INFIX)
    types = tuple(rng.sample(TYPES, max(1, width - 1)))
    families = [Family(*map(some, family)) for family in (OF_COMPLEX, OF_OWN)]
    return Palette(types, *map(some, kinds), some(forms), orders, True, *families)
