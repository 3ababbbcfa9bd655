"""Python, math and NumPy functions supported in user-defined GPU functions, with their CUDA C++ text."""

from __future__ import annotations

import operator

# Text by operator; {0}, {1} are the operands, of type T: the result type, or for comparisons the operand type.
ARITHMETIC = {
    operator.add: "plus<T>({0}, {1})", operator.sub: "minus<T>({0}, {1})", operator.mul: "times<T>({0}, {1})",
    operator.truediv: "({0}) / ({1})", operator.and_: "(T)({0} & {1})", operator.or_: "(T)({0} | {1})",
    operator.xor: "(T)({0} ^ {1})",
    operator.lshift: "left_shift<T>({0}, {1})", operator.rshift: "right_shift<T>({0}, {1})",
    operator.pos: "{0}", operator.invert: "inverted<T>({0})",
}  # fmt: skip
DIVISION = {  # floating, signed, unsigned
    operator.floordiv: ("floored", "floor_quotient", "unsigned_floor_quotient"),
    operator.mod: ("real_modulus", "modulus", "unsigned_modulus"),
}
COMPARE = {
    operator.lt: ("<", "less_than({0}, {1})"), operator.gt: (">", "less_than({1}, {0})"),
    operator.le: ("<=", "!less_than({1}, {0})"), operator.ge: (">=", "!less_than({0}, {1})"),
    operator.eq: ("==", "!less_than({0}, {1}) && !less_than({1}, {0})"),
    operator.ne: ("!=", "less_than({0}, {1}) || less_than({1}, {0})"),
}  # fmt: skip

SAME = "acos acosh asin asinh atan atanh cos cosh erf erfc exp expm1 lgamma log log10 log1p log2 sin sinh sqrt tan tanh"
# Functions of math and numpy -> C++, computed in the widest floating-point type of arguments and result.
REAL = {("math", n): n for n in SAME.split()} | {
    ("numpy", n): n for n in SAME.split() if n[0] != "a" and n[:3] not in ("lga", "erf")
}
REAL |= {("math", n): n for n in "atan2 copysign fmod hypot".split()} | {("math", "gamma"): "tgamma"}
REAL |= {("math", n): n for n in "ceil floor trunc fabs pow isnan isinf isfinite".split()}
REAL |= {
    ("numpy", n): n for n in "cbrt ceil exp2 floor trunc rint fabs isnan isinf isfinite copysign fmod hypot".split()
}
REAL |= {("numpy", f"arc{n}"): f"a{n}" for n in "cos cosh sin sinh tan tanh tan2".split()}
# Functions of any type -> C++, computed in the result type.
ANY = {("numpy", n): n for n in ("maximum", "minimum")} | {
    ("builtins", "abs"): "absolute", ("numpy", "absolute"): "absolute", ("builtins", "max"): "first_max",
    ("builtins", "min"): "first_min", ("numpy", "fmax"): "greatest", ("numpy", "fmin"): "least",
    ("numpy", "negative"): "negative", ("numpy", "positive"): "",
}  # fmt: skip
CALLS = sorted(f"{module}.{name}" for module, name in (*REAL, *ANY))

# Numba's names of unsupported constructs -> Python's.
WORDS = {
    "build_list": "a list", "build_set": "a set", "build_map": "a dict",
    "setattr": "setting a field", "staticraise": "raise",
}  # fmt: skip
