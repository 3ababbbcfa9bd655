"""Random programs of tests/fuzz on one device and in shares: `distributed_random.py SEED COUNT` (or FIRST:END).

Every rank stores its part of a matrix in another form, and looks for a better one at other times than the others, which
must not change what goes between ranks. What shares refuse ends a program, on all ranks alike.
"""

import random
import sys
from collections import Counter

import numpy as np
from fuzz import objects, palette
from fuzz.compare import is_object
from fuzz.generate import generate

import bitblas as gb
import bitblas.distributed as gd
from bitblas import tuning
from bitblas.exceptions import DistributedError, NotImplementedException

objects.SIZES = (70, 130, 200, 230)  # some positions for each rank
FORMS = ({}, {"format": "csr"}, {"format": "b2sr", "tile": 8}, {"format": "split", "tile": 8}, {"format": "nib"})
REFUSED = (NotImplementedException, AttributeError, TypeError)  # by objects in shares


def run(text, scope):
    """The error, if there is one."""
    scope.pop("r", None)
    try:
        exec(compile(text, "<program>", "exec"), scope)
    except DistributedError:
        raise
    except Exception as error:
        return error
    return None


def disturb(group, mine, scope):
    """Another form of this rank's part of some matrices, as the plan may choose it at any time."""
    for x in [x for x in scope.values() if isinstance(x, gd.Matrix)]:
        if mine.random() < 0.3:
            layout = mine.choice(FORMS)
            part = gb.Matrix.from_coo(*x._part.to_coo(), x.dtype, nrows=x._part.nrows, ncols=x.ncols, **layout)
            x._part._data = part._data
        elif mine.random() < 0.3:
            x._part._read(now=True)


def whole(x):
    return x.gathered() if hasattr(x, "gathered") else x


def same(x, y):
    """x: of one device; y: in shares."""
    y = whole(y)
    if x.dtype != y.dtype or x.shape != y.shape:
        return False
    if not x.ndim:
        a, b = np.array([x.value]), np.array([y.value])
        return x.value is y.value is None or np.allclose(a, b, equal_nan=True, rtol=1e-6)
    a, b = x.to_coo(), y.to_coo()
    places = all(np.array_equal(i, j) for i, j in zip(a[:-1], b[:-1]))
    close = (lambda: np.allclose(a[-1], b[-1], equal_nan=True, rtol=1e-5)) if x.dtype.kind in "fc" else None
    return places and (close() if close else np.array_equal(a[-1], b[-1]))


def program(group, seed, met):
    mine = random.Random(f"{seed} {group.rank}")
    made = generate(seed, palette.COMMON)
    forms = {"form": lambda **how: how}, {"form": lambda **how: dict(mine.choice(FORMS))}
    ours, shared = ({"gb": lib, "inf": np.inf, "nan": np.nan, **form} for lib, form in zip((gb, gd), forms))
    for scope in (ours, shared):
        scope["in_order"] = lambda A, order: A
        for declaration in made.declarations:
            exec(declaration.text().replace(", packed=True", ""), scope)
    for statement in made.statements:
        text = statement.text()
        disturb(group, mine, shared)
        errors = run(text, shared), run(text, ours)
        said = group.texts(f"{type(errors[0]).__name__}")
        assert len(set(said)) == 1, f"{seed}: {text}: ranks raise {said}; {errors[0]!r}"
        if errors[0] is not None and errors[1] is None:
            if not isinstance(errors[0], REFUSED):
                raise AssertionError(f"{seed}: {text}") from errors[0]
            met["refused"] += 1
            return
        assert (errors[0] is None) == (errors[1] is None), f"{seed}: {text}: {errors}"
        met["errors" if errors[0] is not None else "statements"] += 1
        for name, x in ours.items():
            if is_object(x) and name in shared:
                assert same(x, shared[name]), f"{seed}: {text}: {name}: {x!r} {whole(shared[name])!r}"


if __name__ == "__main__":
    group, met = gd.init(), Counter()
    first, *more = map(int, sys.argv[2].split(":"))
    with tuning.override({"exchange.least": 64}):
        for number in range(first, *more) if more else range(first):
            group.lists = number % 2 == 1  # as ranks of several hosts send
            program(group, f"{sys.argv[1]} {number}", met)
    print(f"rank {group.rank} of {group.size} done: {dict(met)}", flush=True)
