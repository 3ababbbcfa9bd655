"""Points, the user-defined type of the tests: y is ten times x."""

import numpy as np

import bitblas as gb

POINT = np.dtype([("x", np.float32), ("y", np.float32)])
FLAGGED = np.dtype([("flag", np.bool_), ("x", np.float64)], align=True)  # with gaps between its fields
P = gb.dtypes.register_new("TestPoint", POINT)
TRIPLE = gb.dtypes.register_anonymous("FP64[3]")


def listed(x):
    return [a.tolist() for a in x.to_coo()]


def points(*pairs):
    return np.array([(k, 10 * k) for k in pairs], POINT)


def vector(*at, size=5, **how):
    return gb.Vector.from_coo(list(at), points(*at), size=size, **how)


def matrix(**how):
    return gb.Matrix.from_coo([0, 0, 1, 3], [0, 2, 1, 3], points(1, 2, 3, 4), nrows=4, ncols=4, **how)
