"""NumPy operators that GraphBLAS lacks, e.g. `binary.numpy.gcd`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from . import numpy_functions, rules
from .algebra import Monoid
from .dtypes import DataType, Value
from .expressions import ByKind, Expression, but_complex, code, include_guarded, resolve
from .operators import NAMESPACE, BinaryOp, UnaryOp, operand
from .relations import remember_monoid

_FILE = Path(__file__).with_name("numpy_functions.py")
_NAMES = NAMESPACE | {name: f for name, f in vars(numpy_functions).items() if not name.startswith("_")}


class NumpyText(ByKind, Expression):
    """Text by kind that calls functions of numpy_functions."""

    def evaluate(self, types: Mapping[str, DataType], names: Mapping[str, Value]) -> Value:
        t = types["x"]
        values = {name: operand(value, types[name]) for name, value in names.items() if name in types}
        with np.errstate(all="ignore"):
            found: Value = eval(code(resolve(self, t)), {**_NAMES, **values})
            return found

    def gives(self, types: Mapping[str, DataType]) -> DataType:
        return types["x"]

    def definition_python(self, types: Mapping[str, DataType]) -> str:
        text = _FILE.read_text()
        functions = text[text.index("\ndef ") :].replace("\ndef ", "\n@njit(**FUNCTION)\ndef ")
        return f"{functions}\n\n"

    def definition_cpp(self, types: Mapping[str, DataType]) -> str:
        return include_guarded("NUMPY_FUNCTIONS_CUH", _FILE.with_suffix(".cuh").read_text())


def _numpy(text: str, boolean: str = "", unsigned: str = "") -> NumpyText:
    return NumpyText(boolean or text, text, text, unsigned)


# "%": the result has the sign of the divisor, as in Python.
_MODULUS = BinaryOp(
    "numpy.mod", ByKind("0", "modulus(x, y)", "real_modulus(x, y)", "unsigned_modulus(x, y)"), rules.small_ordered
)
_DEGREES = UnaryOp("numpy.rad2deg", "x * 57.29577951308232", rules.floating)
_RADIANS = UnaryOp("numpy.deg2rad", "x * 0.017453292519943295", rules.floating)
UNARY = {
    "deg2rad": _RADIANS,
    "radians": _RADIANS,
    "rad2deg": _DEGREES,
    "degrees": _DEGREES,
    "fabs": UnaryOp("numpy.fabs", "absolute(x)", rules.floating),
    "reciprocal": UnaryOp(
        "numpy.reciprocal",
        ByKind("x", "where(absolute(x) == 1, x, minus(x, x))", "1 / x", complex="complex_reciprocal(x)"),
        rules.small_inexact,
    ),
    "sign": UnaryOp(
        "numpy.sign",
        ByKind("x", "where(x > 0, 1, where(x < 0, -1, 0))", "signum(x) + 0", "x != 0", "complex_signum(x)"),
        rules.small_inexact,
    ),
    "signbit": UnaryOp("numpy.signbit", NumpyText("x != x", "x < 0", "sign_bit(x)", "x != x"), rules.order),
    "spacing": UnaryOp("numpy.spacing", _numpy("spacing_of(x)"), rules.floating),
    "square": UnaryOp("numpy.square", "times(x, x)", rules.small_boolean),
}
BINARY = {
    "mod": _MODULUS,
    "remainder": _MODULUS,
    "float_power": BinaryOp("numpy.float_power", but_complex("raised(x, y)", "complex_power(x, y)"), rules.real),
    "fmod": BinaryOp(
        "numpy.fmod", NumpyText("0", "rest(x, y)", "fmod(x, y)", "unsigned_modulus(x, y)"), rules.small_ordered
    ),
    "gcd": BinaryOp(
        "numpy.gcd",
        _numpy("common_divisor(magnitude(x), magnitude(y))", "x | y", "common_divisor(x, y)"),
        rules.integer_or_boolean,
        exchanged="numpy.gcd",
    ),
    "lcm": BinaryOp(
        "numpy.lcm",
        _numpy("common_multiple(magnitude(x), magnitude(y))", "x & y", "common_multiple(x, y)"),
        rules.integer_or_boolean,
        exchanged="numpy.lcm",
    ),
    "left_shift": BinaryOp("numpy.left_shift", _numpy("shifted_left(x, y, bits)", "x << y"), rules.integer_or_boolean),
    "right_shift": BinaryOp(
        "numpy.right_shift", _numpy("shifted_right(x, y, bits)", "x >> y"), rules.integer_or_boolean
    ),
    "logaddexp": BinaryOp("numpy.logaddexp", _numpy("log_sum(x, y)"), rules.floating, exchanged="numpy.logaddexp"),
    "logaddexp2": BinaryOp("numpy.logaddexp2", _numpy("log_sum2(x, y)"), rules.floating, exchanged="numpy.logaddexp2"),
    "hypot": BinaryOp("numpy.hypot", "hypot(x, y)", rules.floating, exchanged="numpy.hypot"),
    "nextafter": BinaryOp("numpy.nextafter", _numpy("next_after(x, y)"), rules.floating),
    # NaN if either operand is NaN; min and max return the number.
    "maximum": BinaryOp(
        "numpy.maximum",
        but_complex("where((x >= y) | (x != x), x, y)", "complex_maximum(x, y)"),
        exchanged="numpy.maximum",
    ),
    "minimum": BinaryOp(
        "numpy.minimum",
        but_complex("where((x <= y) | (x != x), x, y)", "complex_minimum(x, y)"),
        exchanged="numpy.minimum",
    ),
}
# gcd and hypot of a single negative number are that number, of several they are positive.
MONOIDS = {
    "maximum": Monoid("numpy.maximum", BINARY["maximum"], lambda t: t.lowest),
    "minimum": Monoid("numpy.minimum", BINARY["minimum"], lambda t: t.highest),
    "gcd": Monoid("numpy.gcd", BINARY["gcd"], lambda t: 0, repeated="where(k > 1, absolute(x), x)", rule=rules.integer),
    "hypot": Monoid("numpy.hypot", BINARY["hypot"], lambda t: 0, repeated=None, rule=rules.only_floating),
    "logaddexp": Monoid(
        "numpy.logaddexp", BINARY["logaddexp"], lambda t: t.lowest, repeated=None, rule=rules.only_floating
    ),
    "logaddexp2": Monoid(
        "numpy.logaddexp2", BINARY["logaddexp2"], lambda t: t.lowest, repeated=None, rule=rules.only_floating
    ),
}
for _monoid in MONOIDS.values():
    remember_monoid(_monoid.binaryop, _monoid, user_defined=False)
