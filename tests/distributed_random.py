"""Random programs of tests/fuzz on one device and in shares.

Every rank stores its part of a matrix in another form, and looks for a better one at other times than the others, which
must not change what goes between ranks. What shares refuse ends a program, on all ranks alike.
"""

import random
from collections import Counter

import numpy as np
from distributed_programs import error_of, whole
from fuzz import generate as generation
from fuzz import palette
from fuzz.compare import agree, is_object, plain
from fuzz.generate import generate

import bitblas as gb
import bitblas.distributed as gd
from bitblas.exceptions import DistributedError, NotImplementedException

generation.SIZES = (70, 130, 200, 230)  # some positions for each rank
FORMS = ({}, {"format": "csr"}, {"format": "b2sr", "tile": 8}, {"format": "split", "tile": 8}, {"format": "nib"})
REFUSED = (NotImplementedException, AttributeError, TypeError)  # by objects in shares


def disturb(group, mine, scope):
    """Another form of this rank's part of some matrices, as the plan may choose it at any time."""
    for x in [x for x in scope.values() if isinstance(x, gd.Matrix)]:
        if mine.random() < 0.3:
            layout = mine.choice(FORMS)
            part = gb.Matrix.from_coo(*x._part.to_coo(), x.dtype, nrows=x._part.nrows, ncols=x.ncols, **layout)
            x._part._data = part._data
        elif mine.random() < 0.3:
            x._part._read(now=True)


def same(x, y):
    """x: of one device; y: in shares."""
    return agree(plain(x), plain(whole(y))) in ("exact", "close")


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
        code = compile(text, "<program>", "exec")
        shared.pop("r", None), ours.pop("r", None)
        errors = error_of(exec, code, shared), error_of(exec, code, ours)
        if isinstance(errors[0], DistributedError):
            raise errors[0]
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


def random_programs(group, seed, count):
    """`count` programs of the seed, or those from FIRST to END as FIRST:END."""
    met, (first, *more) = Counter(), map(int, count.split(":"))
    for number in range(first, *more) if more else range(first):
        program(group, f"{seed} {number}", met)
    print(f"rank {group.rank}: {dict(met)}", flush=True)
