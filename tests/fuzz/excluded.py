"""Differences that are not reported, each with its reason: faults of SuiteSparse 9.4 and of python-graphblas, and
intended differences (docs/api.md)."""

from __future__ import annotations

import re
from typing import Any

from .compare import host
from .program import NAME, Statement


def taken_over(oracle: Any, x: Any) -> Any:
    """x, of bitblas, as an object of the oracle."""
    dtype = str(x.dtype)
    if type(x).__name__ == "Scalar":
        return oracle.Scalar.from_value(x.value, dtype=dtype)
    columns = map(host, x.to_coo())
    if type(x).__name__ == "Vector":
        return tame(oracle.Vector.from_coo(*columns, dtype, size=x.size))
    return tame(oracle.Matrix.from_coo(*columns, dtype, nrows=x.nrows, ncols=x.ncols))


def tame(x: Any) -> Any:
    """The oracle's object, sparse for good: SuiteSparse 9.4 crashes, or reads out of bounds, in statements with
    masks that are full, and with operands that are hypersparse."""
    if type(x).__name__ != "Scalar":
        x.ss.config["sparsity_control"] = "sparse"
    return x


def is_broken(x: Any) -> bool:
    """Whether an object of the oracle has two entries at one place, or some outside."""
    if type(x).__name__ == "Scalar":
        return False
    indices = x.to_coo(values=False)[: x.ndim]
    outside = any((index >= size).any() for index, size in zip(indices, x.shape))
    return outside or len(set(zip(*(index.tolist() for index in indices)))) < len(indices[0])


def asked(statement: Statement, scope: dict[str, Any]) -> str:
    """What the oracle runs. A value mask of floats is one of BOOL: for SuiteSparse -0.0 is true in a mask alone. Slices
    that run backwards are lists of indices: SuiteSparse 9.4 keeps entries that v(mask)[::-1] << w deletes."""
    s = statement
    if s.kind == "assign" and ":-" in s.region and s.out in scope:
        parts = re.findall(r"\[[^]]*\]|[^ ,]+", s.region)
        lists = [f"list(range({n}))[{part}]" if ":-" in part else part for n, part in zip(scope[s.out].shape, parts)]
        s = s._replace(region=", ".join(lists))
    text = _VALUES.sub(lambda m: m[0] if not _is_float(scope, m[1]) else f'tame({m[1]}.dup("BOOL")).V', s.text())
    return _UNTYPED.sub('dtype="UINT64"', unsigned(text)) if _is_wide(text) else unsigned(text)


def _is_wide(text: str) -> bool:
    """Whether a list without a type holds integers from 2^63 on and no floats: python-graphblas rounds them to FP64,
    and gets dtype="UINT64" instead."""
    found = _UNTYPED.search(text) and [int(x) for x in re.findall(r"-?\b\d{19,20}\b", text)]
    return any(x >= 1 << 63 for x in found or ()) and not re.search(r"\d\.\d", text)


_UNTYPED = re.compile("dtype=None")


def unsigned(text: str) -> str:
    """Scalars from 2^63 on as NumPy's: python-graphblas rejects Python's, though they fit their type."""
    wide = lambda m: f"{m[1]}uint64({m[2]})" if int(m[2]) >> 63 else m[0]
    return re.sub(r"(from_value\(|\], )(\d{19,20})\b(?=,)", wide, text)


_VALUES = re.compile(r"\b([vA]\d+)\.V\b")


def _is_float(scope: dict[str, Any], name: str) -> bool:
    return name in scope and str(scope[name].dtype).startswith(("FP", "FC"))


def skipped(statement: Statement, scope: dict[str, Any]) -> str | None:
    """Why neither library runs a statement; None if both do. `scope`: the oracle's objects."""
    if any(name not in scope for name in NAME.findall(statement.value)):
        return "an object that an earlier statement did not make"
    if statement.verb == "scan" and scope[NAME.findall(statement.value)[0]].ss.is_iso:
        return "SuiteSparse: a scan of one value for all entries is that value"
    if statement.verb == "extract scalar" and getattr(scope.get(statement.out), "_is_cscalar", False):
        return "python-graphblas: a C scalar keeps its value where an entry is not there"
    return None


# (pattern of the statement, pattern of the difference, why it is not a fault of bitblas)
REASONS: tuple[tuple[str, str, str], ...] = (
    ("ldexp", r"first at \d+: \(?-?(0|inf|127|255|32767|65535|2147483647|4294967295|\d{19,20})(\.0)?\)? and ",
     "SuiteSparse: exponents of ldexp beyond INT32 are cast as the C compiler does"),
    ("times", r"first at \d+: .*nan(.|\n)*complex",
     "products of complex numbers that pass the range: infinity times 0 depends on the order"),
    ("ewise_union|_default", "KeyError..ldexp does not work with FP64", "python-graphblas: defaults next to BOOL"),
    ("ewise_union|_default", r"KeyError\('b\w+ does not work with BOOL", "python-graphblas: defaults beside BOOL"),
    (r"[SV]\b.*(ewise_(union|add).*second|second\(.* \| )", r"values, the first at .* and \(?(0|False|[-+.\d]*e-3\d\d)",
     "SuiteSparse: unions by second under a mask read what is not theirs"),
    ("[.]V", r"valuene does not work|l(and|or) does not work|M of type|typecast to final output of type .bool",
     "SuiteSparse: no masks of values of records"),
    (r'to_coo\("U?INT',
     r": (0|-?12[78]|255|-?3276[78]|65535|-?214748364[78]|4294967295|-?922337203685477580[78]|18446744073709551615)"
     " and ",
     "python-graphblas: to_coo casts floats as the C compiler does, not as statements do"),
    ("setdiag", "such as one of builtins.NoneType", "python-graphblas: setdiag of an empty Scalar of BOOL sets False"),
    ("from_", r"'Triple' and 'INT32\[",
     "python-graphblas: from_csr and its kin make one value of the sub-arrays of all"),
    ("_default|ewise_union", r"expected a scalar, got bitblas.core.scalar.Scalar.*\n.*: None",
     "refused by bitblas: a number as the default next to values of a user-defined type"),
    ("compactify", "No implementation of function Function", "python-graphblas: compactify of sub-arrays"),
    ("[.]V", "do not have a common DType", "python-graphblas: masks of values of records that are combined"),
    ("", "packed: expected", "values that do not fit into packed=True are refused"),
    ("diagindex", "diagindex does not work with FP", "python-graphblas: indexunary.diagindex of floats is missing"),
    ("from_dicts", "window shape", "python-graphblas: from_dicts of nothing raises"),
    ("compactify|flatten|scan|reshape|from_", "is not recognized", "python-graphblas: imports no records"),
    ("ewise_union|_default", "(alpha|beta) scalar of type", "SuiteSparse: defaults that are not looked at, of records"),
    ("ewise|&|[|]", r"DimensionMismatch.*\n.*does not work with", "both refuse: one says the size, one the operator"),
    ("", r"EmptyObject.*\n.*does not work with", "both refuse: one says the empty Scalar, one the operator"),
    ("argm(in|ax)", "'INT64' and 'INT32'", "python-graphblas: says INT32 of positions among those"),
    ("power", "Result of computation of type", "SuiteSparse: powers of records whose products are numbers"),
    ("from_coo", "lengths must match",
     "values of a sub-array are several numbers, unless the dtype says what they are"),
    ("", r"cast to or from a user.*\n.*: None", "refused by bitblas before anything is looked at"),
    ("", "python-graphblas: InsufficientSpace", "SuiteSparse: what a masked union by second left cannot be read"),
    ("", "a Python function of values of", "functions of records run on the CPU only, but python-graphblas has no GPU"),
    ("scan", "GB_Monoid_opaque", "python-graphblas: scans of records"),
    ("^s", r"^s\d+: .* and None\n.*\n?.*", "python-graphblas: a statement that raises empties a Scalar"),
    ("[.][SV]", r"got an empty Scalar.*\n.*: None", "SuiteSparse: a scalar is not looked at where a mask has no place"),
    ("[|&^]= ", "is not supported for FC", "python-graphblas: a TypeError instead of a KeyError"),
    ("^s", r"to cast to \w+, got one of (Pair|Triple).*\n.*: None", "python-graphblas: what is not there has no type"),
    ("compactify|from_dcsr|scan|selectk", r"python-graphblas: InvalidValue\(''\)",
     "python-graphblas: imports a single column, or nothing"),
    ("outer|ewise_mult|&", "any_.* does not work with",
     "python-graphblas: any_{operator} is not there for each type, for outer and broadcasts"),
)  # fmt: skip


def reason(statement: Statement, difference: Any) -> str | None:
    """Why the difference is not a fault of bitblas; None if it is one."""
    for pattern, found, why in REASONS:
        if re.search(pattern, statement.text()) and re.search(found, difference.what, re.MULTILINE):
            return why
    return None
