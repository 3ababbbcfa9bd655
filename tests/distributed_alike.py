"""Statements in which one rank's share could change the type of values, an error, or the next collective.

`distributed_alike.py`: each statement runs on one device and on the ranks. All ranks find the same, or the same error.
"""

import numpy as np
from distributed_programs import same, whole

import bitblas as gb
import bitblas.distributed as gd
from bitblas.exceptions import DistributedError
from bitblas.loop.symbolic.control_flow import plain_loops

N = 200  # of several ranks, the first has positions 0 to 63, the last 150 and 190
STATEMENTS = """
v = gb.Vector.from_dense([6, 1, 2147483647])
v = gb.Vector.from_dense([True, False, True])
v = gb.Vector.from_dense([1] * 150 + [2.5] * 50)
v = gb.Vector.from_dense([1] * 150 + [2**63] * 50)
v = gb.Vector.from_dense([1] * 150 + [2**63] * 50, dtype="INT64")
v = gb.Vector.from_dense([1] * 150 + [3] * 50, 3)
v = gb.Vector.from_dense([[1, 2]])
v = gb.Vector.from_coo([1, 150], [1, 2.5], size=N)
A = gb.Matrix.from_dense([[1, 2], [3, 4.5]])
A = gb.Matrix.from_chunks([([1], [2], [3]), ([150], [2], [2.5])], nrows=N, ncols=N)
v[[0, 1]] << u.reduce()
v[[0, 1]](m.S) << u.reduce()
v(v.S)[[0, 1]] << u[190]
v[150](gb.binary.plus) << u.reduce()
v[0] << u
v[150] << u + v
v[[0, 150]] << [2**63, 7]
A[[0, 1], [0, 1]] << u.reduce()
A(A.S, gb.replace)[[0, 1], [0, 1]] << u.reduce()
A[[0, 1], :](A[[0, 1], :].new().S) << u.reduce()
A[150, [1, 2]] << u[2]
A[[0, 150], [0, 1]] << [[1, 2], [3, 2.5]]
A[[0, 150], [0, 1]] << [[1, 2**60 + 1], [3, 2.5]]
A[[0, 150], [0, 1]] << [[1, 2], [3, 2**63]]
v << u.select(">", u[2])
v << u.apply("plus", right=(u + v).reduce())
v << v.ewise_union(u, "minus", u[2], v.reduce())
v << A.mxv(gb.binary.plus(u | v))
i, x = v.to_coo(); v = gb.Vector.from_coo(i, x, size=N, dup_op="plus")
i, x = v.to_coo(); v = gb.Vector.from_coo(x, i, size=N, dup_op="plus")
i, x = u.to_coo(); v = gb.Vector.from_coo(v.to_coo()[0], x, size=N, dup_op="plus")
i, x = t.to_coo(); v = gb.Vector.from_coo(i, np.ones(2), size=N, dup_op="plus")
i, x = t.to_coo(); v = gb.Vector.from_coo(v.to_coo()[0], x, size=N, dup_op="plus")
i, x = h.to_coo(); v = gb.Vector.from_coo(x, i, size=N, dup_op="plus")
""".strip().splitlines()


def operands(lib):
    vector = lambda indices, values, size=N: lib.Vector.from_coo(indices, values, size=size)
    return {
        "gb": lib, "np": np, "N": N, "v": vector([1, 5, 150], [1, 2, 3]), "u": vector([2, 150, 190], [4, 5, 6]),
        "t": vector([1, 2], [1, 2]), "h": vector([1, 150], [1, 500]), "m": vector([0, 1], [True, True], 2),
        "A": lib.Matrix.from_coo([0, 3, 150, 199], [1, 2, 3, 4], [1, 2, 3, 4], nrows=N, ncols=N),
    }  # fmt: skip


def error_of(text, scope):
    try:
        with plain_loops:  # as in the body of a loop, where to_coo returns distributed arrays
            exec(text, scope)
    except DistributedError:
        raise
    except Exception as error:
        return type(error)
    return None


def alike(g):
    for text in STATEMENTS:
        ours, shared = operands(gb), operands(gd)
        wanted, found = error_of(text, ours), error_of(text, shared)
        each = g.texts(str(found))
        assert found == wanted and len(set(each)) == 1, f"{text}: {wanted}, {each}"
        for name in "vA" if found is None else "":
            a, b = ours[name], shared[name]
            assert same(a, b) and a.dtype == b.dtype, f"{text}: {a!r} {whole(b)!r}"


if __name__ == "__main__":
    group = gd.init()
    alike(group)
    print(f"rank {group.rank} of {group.size} done", flush=True)
