"""Specialization of a kernel's text before Numba compiles it: the same results, with constants and functions
inlined."""

import ast
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import bitblas as gb
from bitblas.device import compiler, jit, native
from bitblas.device.compiler import specialise
from bitblas.device.jit import statements
from bitblas.operations.variants import fold_variant, reduce_variant

FUNCTIONS = """
def half(x):
    return x // 2
def square(x):
    y = x + 1
    return y * y
def chosen(x, y):
    if MODE:
        return x if x > y else y
    return y
def sign(x):
    \"\"\"Several ends.\"\"\"
    if x < 0:
        return -1
    elif x == 0:
        return 0
    z = x * 0
    return z + 1
def first_over(limit):
    k = 0
    while True:
        if k * k > limit:
            return k
        k += 1
def counted(n):
    n = n + 1
    total = 0
    for i in range(n):
        if i % 3 == 0:
            continue
        total += i
    return total
def put(array, k, x):
    array[k] = x
def mark(array, k):
    put(array, k, array[k] + 1)
"""
HEAD = "N, MODE = 3, 1\nDOUBLE = N * 2\nif MODE == 1:\n    STEP = 5\nelse:\n    STEP = 7\n" + FUNCTIONS


def both(body, *args, text=HEAD):
    """The results of a function as written and specialized, and the text of the latter."""
    text += f"\n\ndef f({', '.join('abc'[: len(args)])}):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    results, made = [], specialise(text, "f")
    for source in (text, made):
        names: dict = {}
        exec(source, names)
        arrays = [list(a) if isinstance(a, list) else a for a in args]
        results.append((names["f"](*arrays), arrays))
    assert results[0] == results[1], made
    (function,) = (n for n in ast.parse(made).body if isinstance(n, ast.FunctionDef) and n.name == "f")
    return results[0][0], ast.unparse(function)


@pytest.mark.parametrize(
    ("body", "args"),
    [
        ("return half(square(a)) + square(half(b))", (5, 8)),
        ("return chosen(a, b) - chosen(b, square(a))", (5, 8)),
        ("return sign(a) + 10 * sign(-a) + 100 * sign(a - a)", (5,)),
        ("x = sign(a) if a > b else counted(b)\nreturn x", (5, 8)),
        ("x = sign(a) if a < b else counted(b)\nreturn x", (5, 8)),
        ("return counted(a) + counted(counted(b))", (5, 8)),
        ("return first_over(a)", (50,)),
        ("total = 0\nfor i in range(half(a)):\n    total += square(i) if i > N else sign(i - 1)\nreturn total", (20,)),
        ("x = a\nwhile half(x) > square(1):\n    x = x - STEP\nreturn x", (99,)),
        ("a = a + 1\nb = square(a) + a\na = sign(b)\nreturn (a, b)", (3, 4)),
        ("mark(a, 1)\nmark(a, half(2))\nreturn a", ([1, 2, 3],)),
        ("if sign(a) == 1 and half(a) > 1:\n    return counted(a)\nreturn -1", (7,)),
        ("if a == 0 or counted(10 // a) > 3:\n    return 1\nreturn 0", (0,)),
        ("return square(counted(a)) if a > 2 else 0", (5,)),
        ("sign_f1 = 3\nreturn sign(a) + sign_f1", (5,)),
    ],
)
def test_results_stay(body, args):
    both(body, *args)


@pytest.mark.parametrize(
    ("body", "left"),
    [
        ("return a if N == 3 else counted(a)", "return a"),
        ("if MODE and a:\n    return STEP\nreturn 0", "if a:\n        return 5\n    return 0"),
        ("if not MODE or N > DOUBLE:\n    return counted(a)\nreturn N << 2", "return 12"),
        ("while not MODE and a > 0:\n    a = a - 1\nreturn a", "return a"),
        ("return (a > 0 and N == 2, a or MODE == 1)", "return (False, a or True)"),
        ("return (a > 0 and N == 3, a and MODE == 1)", "return (a > 0, a and True)"),
        ("return (1 if a or MODE == 1 else 2, MODE and a, a or MODE == 2)", "return (1, a, a or False)"),
        ("N = a\nif N == 3:\n    return 1\nreturn N", "N = a\n    if N == 3:\n        return 1\n    return N"),
        ("return half(a) + square(a)", "y_f1 = a + 1\n    return a // 2 + y_f1 * y_f1"),
        ("return chosen(a, 4)", "return a if a > 4 else 4"),
        ("return N // (N - 3) if a > 99 else 1 << 70", "return 3 // 0 if a > 99 else 1 << 70"),
    ],
)
def test_what_is_left(body, left):
    assert both(body, 7)[1].partition("\n    ")[2] == left


def test_calls_that_have_no_plain_form_stay():
    for body in ("return first_over(a)", "while counted(a) > 9:\n    a = a - 1\nreturn a"):
        assert any(name in both(body, 7)[1] for name in ("first_over(", "counted("))
    endless = "def g(x):\n    return g(x - 1) if x > 0 else 0\n"
    assert both("return g(a)", 7, text=endless)[0] == 0


def test_sums_of_vectors_are_compiled_side_by_side(monkeypatch):
    """Added one by one they take longer than what they are of takes to be read."""
    asked = []
    monkeypatch.setattr(compiler, "_object", lambda module, symbol, target, slp: asked.append(slp))
    plus, FP64 = gb.monoid.plus[gb.dtypes.FP64], gb.dtypes.FP64
    for (variant, *_), signature in (
        (reduce_variant(plus, FP64), "int int uint64[] float64[] float64 int uint8[] float64[]"),
        (fold_variant(gb.binary.plus[FP64], FP64), "int64[] float64[] float64[]"),
    ):
        compiler.compile_kernel(jit.cpu_source(variant), variant.entry, "some", signature.split(), [native.host()])
    assert asked == [True, False]


LOOPS = """
from numba import njit
@njit
def f(lo, hi, a, out):
    total = best = 0
    for i in range(lo, hi):
        x = a[i]
        while x > 3:
            x = x // 2 if x % 2 == 0 else x - 1
            total += x
        if x > best:
            best, last = x, i
        else:
            last = lo
        for j in range(x):
            total = total + last * j
        out[i] = total + best
"""


def test_lifetimes_of_variables_do_not_change_the_object(monkeypatch):
    """Numba recomputes them after each pass. Optimised objects have no names with Numba's counters."""
    monkeypatch.setattr(compiler.config, "OPT", 1)
    made = lambda: compiler.compile_kernel(LOOPS, "f", "f_here", ["int64[]", "int64[]"], [native.host()])
    quick = made()
    monkeypatch.setattr(compiler, "_only_canonical", compiler._postprocess)
    assert quick == made() and len(quick[0][0]) > 500


class Waits:
    """Garbage whose collection lets another thread run."""

    def __init__(self):
        self.me = self

    def __del__(self):
        time.sleep(1e-4)


def test_threads_read_texts():
    """One after the other: CPython's count of how deep it reads is of all threads."""

    def run(_):
        for _ in range(8):
            for _ in range(50):
                Waits()
            assert len(statements(FUNCTIONS * 20)) == 160

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(run, range(4)))
