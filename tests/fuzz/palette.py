"""The types, operators and forms that programs share. Each pair of them may be a kernel to compile, so that a run draws
few, and another seed draws others."""

from __future__ import annotations

import random
from typing import NamedTuple

NUMBERS = tuple("INT8 UINT8 INT16 UINT16 INT32 UINT32 INT64 UINT64 FP32 FP64".split())
COMPLEX = ("FC32", "FC64")
OWN = ("Pair", "Triple")  # a record and a sub-array: user_types.py
TYPES = NUMBERS + COMPLEX + OWN
LOGICAL = tuple("lor land lxor lxnor eq first second pair ne lt ge".split())
LOGICAL_SEMIRING = tuple("lor_land any_pair lxor_land land_lor lor_first lor_second plus_pair".split())


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


def family(text: str) -> Family:
    """Lines of a kind and its operators; a kind may have several."""
    found: dict[str, tuple[str, ...]] = {}
    for kind, *names in map(str.split, text.strip().splitlines()):
        found[kind] = found.get(kind, ()) + tuple(names)
    return Family(**found)


OF_NUMBERS = family("""
unary ainv abs identity one lnot bnot minv sqrt exp floor ceil round trunc signum isnan isinf isfinite sin atan log1p
unary exp2 cbrt
binary plus minus times min max first second pair rminus truediv rtruediv cdiv rdiv eq ne lt le gt ge lor land lxor
binary lxnor iseq isne islt isle isgt isge band bor bxor bxnor bget bset bclr bshift absfirst abssecond fmod remainder
binary copysign hypot atan2 ldexp
monoid plus times min max lor land lxor lxnor band bor bxor bxnor
semiring plus_times min_plus max_plus min_times max_times plus_pair plus_first plus_second plus_min plus_max min_first
semiring min_second max_first max_second min_max max_min times_plus times_min any_pair lor_land land_lor lxor_land
semiring lor_eq lor_first land_ge bor_band bxor_bor plus_minus min_minus max_rminus times_first times_pair min_pair
semiring plus_land max_truediv ss.min_firsti ss.max_firstj ss.min_secondi ss.max_secondj ss.plus_firsti1 ss.min_secondj1
select valueeq valuene valuelt valuele valuegt valuege tril triu diag offdiag rowle rowgt colle colgt
index rowindex colindex diagindex valueeq valuelt valuege tril rowgt colle
aggregator sum prod count count_nonzero count_zero max min exists any all first last mean sum_of_squares argmin argmax
aggregator first_index last_index peak_to_peak L1norm Linfnorm varp
infix + - * == < >= != /
""")
OF_COMPLEX = family("""
unary ainv abs identity one minv sqrt exp conj creal cimag carg isnan isfinite
binary plus minus times truediv rminus rtruediv first second pair eq ne iseq isne
monoid plus times
semiring plus_times plus_pair plus_first plus_second plus_minus times_plus times_first any_pair plus_truediv
semiring ss.min_firsti ss.max_firstj ss.plus_secondi1
select valueeq valuene tril triu diag offdiag rowle rowgt colle colgt
index rowindex colindex valueeq valuene tril rowgt colle
aggregator sum prod count count_nonzero first last mean first_index last_index
infix + - * == != /
""")
OF_OWN = family("""
unary identity one ss.positioni fuzz.left
binary first second pair eq ne fuzz.lower fuzz.dot ss.firsti ss.secondj
monoid fuzz.least
semiring any_pair plus_pair lor_eq lor_ne fuzz.plus_dot fuzz.least_lower fuzz.least_first ss.min_secondi
select tril triu diag offdiag rowle rowgt colle colgt
index rowindex colindex tril rowgt colle
aggregator count first last first_index last_index
infix == !=
""")


class Palette(NamedTuple):
    types: tuple[str, ...]
    of_numbers: Family
    logical: tuple[str, ...]
    logical_semiring: tuple[str, ...]
    forms: tuple[str, ...]  # keywords of Matrix
    orders: tuple[str, ...]
    mixed: bool = True  # operands of several types meet; else each program has those of one, and masks of any
    of_complex: Family = OF_COMPLEX
    of_own: Family = OF_OWN

    def family(self, types: set[str | None]) -> Family:
        """What takes values of these types: of a record, else of complex numbers, where one is there."""
        return self.of_own if types & {*OWN} else self.of_complex if types & {*COMPLEX} else self.of_numbers


# What programs use: the kernels of these come first from the caches of a run of the tests.
COMMON = Palette(
    types=("INT64",),
    of_numbers=family("""
unary ainv
binary plus second
monoid plus
semiring plus_times
select valuegt tril
index rowindex
aggregator count
infix +
"""),
    logical=("lor",), logical_semiring=("lor_land",), forms=('format="csr"', 'format="b2sr", tile=8'), orders=(),
    mixed=False,
)  # fmt: skip


def draw(rng: random.Random, width: int, forms: tuple[str, ...], orders: tuple[str, ...]) -> Palette:
    """`width` of each kind of operator, and of the forms; one type fewer, and BOOL."""
    some = lambda names, least=1: tuple(rng.sample(names, min(len(names), max(least, width))))
    types = tuple(rng.sample(TYPES, max(1, width - 1)))
    of_complex, of_own = (Family(*map(some, found)) for found in (OF_COMPLEX, OF_OWN))
    unary, binary, *others = OF_NUMBERS
    one, two, logical, monoid, semiring = map(some, (unary, binary, LOGICAL, *others[:2]))
    logical_semiring, *more = map(some, (LOGICAL_SEMIRING, *others[2:]))
    of_numbers = Family(one, two, monoid, semiring, *more)
    return Palette(types, of_numbers, logical, logical_semiring, some(forms), orders, True, of_complex, of_own)
