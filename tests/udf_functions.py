"""Python functions on which the host, Numba and CUDA C++ must agree, as text too, and their operands."""

import math

import hypothesis.strategies as st
import numpy as np

import bitblas as gb
from bitblas.device import jit
from bitblas.kernels.variant import Function
from semirings.dtypes import BOOL
from semirings.registration import build

K = 3


def doubled(x):
    return x * 2 + K


def branches(x, y):
    if x > y:
        return x - y
    elif x == y:
        z = 1
    else:
        z = y
    return z + 1


def loop(x, y):
    total = 0
    for i in range(6):
        if i == 3:
            continue
        if total > 50:
            break
        total += doubled(x) * i
    return total + y


def rounds(x, y):
    n = 0
    a, b = x, y
    while n < 10 and a > b:
        a, b = b, a - 1
        n += 1
    return a + b


def backwards(x, y):
    z = 1
    for i in range(10, 0, -3):
        z = z * i % 17
    for j in range(2, 6):
        z ^= j
    return (z << 2 >> 1) + x


def closure(scale, offset=0.5):
    def inner(x, y):
        return x * scale + offset

    return inner


FUNCTIONS = {
    "plus": lambda x, y: x + 2 * y,
    "minus": lambda x, y: y - x,
    "divide": lambda x, y: x / (y * y + 1),
    "floor": lambda x, y: x // 3 - y // -4,
    "modulo": lambda x, y: x % 3 + y % -4,
    "square": lambda x, y: x**2 + y**3,
    "root": lambda x, y: math.sqrt(abs(x)) + abs(y) ** 1.5,
    "extremes": lambda x, y: max(x, y, 1) - min(x, y),
    "compare": lambda x, y: (x < y) + (x == y) * 2,
    "chain": lambda x, y: 1 < x < 5 or y,
    "conditional": lambda x, y: -x if not x > y else +y,
    "bits": lambda x, y: (int(x != 0) & 7) | (8 ^ int(y > 1)),
    "shift": lambda x, y: (int(x != 0) + 5) << 3 >> 1,
    "casts": lambda x, y: float(x) + np.float32(y) + bool(x),
    "numpy": lambda x, y: np.maximum(x, y) - np.minimum(x, 2),
    "floors": lambda x, y: np.floor(x / 3) + np.rint(y / 2),
    "transcendental": lambda x, y: math.exp(-abs(x)) + np.arctan2(x, y) + math.pi,
    "constant": lambda x, y: math.inf if x == 2 else 1,
    "fmod": lambda x, y: np.fmod(float(x), 3.0) + math.copysign(1, y),
    "branches": branches,
    "loop": loop,
    "rounds": rounds,
    "backwards": backwards,
    "closure": closure(2),
    "closure of float32": closure(np.float32(1.5), 2),
}
OPERATORS = {name: build("binary", f, name) for name, f in FUNCTIONS.items()}


def functions(t):
    return {name: op for name, op in OPERATORS.items() if t in op}


def text_for(t):
    """One kernel with every function at every pair of operands."""
    named, args = functions(t), (("a", t), ("b", t))
    made = [
        Function(f"f{k}", op.result_type(t), args, (("x", t, "a"), ("y", t, "b")), op.expr)
        for k, op in enumerate(named.values())
    ]
    outputs = ", ".join(f"{f.result.c_type}* o{k}" for k, f in enumerate(made))
    lines = "\n".join(f"  o{k}[p] = f{k}(a[p], b[p]);" for k in range(len(made)))
    text = (jit.PACKAGE / "kernels" / "base.cuh").read_text() + (jit.ALGEBRA / "functions.cuh").read_text()
    text += "\n".join(f.cpp() for f in made)
    text += (
        f'\nextern "C" __global__ void __launch_bounds__(BLOCK) evaluate(i64 n, const {t.c_type}* a, '
        f"const {t.c_type}* b, {outputs}) {{\n  const i64 p = thread_number();\n  if (p >= n) return;\n{lines}\n}}\n"
    )
    return text, named


def operands(t):
    if t.kind == "f":
        return st.one_of(st.floats(-1e6, 1e6, width=32), st.sampled_from([0.0, -0.0, math.nan, math.inf, -math.inf]))
    low, high = (0, 1) if t is BOOL else (max(-100, int(t.lowest)), 100)
    return st.integers(low, high)


def vector(dtype="INT64"):
    return gb.Vector.from_coo([0, 1, 2], [1, -2, 3], dtype=dtype, size=3)


def entries(x):
    return dict(zip(zip(*(i.tolist() for i in x.to_coo()[:-1])), x.to_coo()[-1].tolist()))
