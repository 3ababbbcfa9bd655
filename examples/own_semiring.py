"""Semirings: any monoid with any operator, and an operator of your own. Run with: python examples/own_semiring.py"""

import bitblas as gb
from semirings import BinaryOp, Semiring, laws

# Roads with the heaviest load that each can bear: what can be brought from 0 to everywhere? Along a road, the lesser of
# the load so far and the road's limit (min); over all ways to get there, the greatest (max): the semiring max_min.
roads = [(0, 1, 9), (0, 2, 4), (1, 2, 7), (2, 3, 5), (1, 3, 2)]
rows, cols, limits = zip(*roads)
A = gb.Matrix.from_coo(rows, cols, limits, dtype="INT32", nrows=4, ncols=4)

load = gb.Vector.from_coo([0], [100], dtype="INT32", size=4)
while True:
    before = load.dup()
    load(gb.binary.max) << load.vxm(A, gb.semiring.max_min)
    if load.isequal(before):
        break
print("heaviest loads from 0:", load.to_dict())
assert load.to_dict() == {0: 100, 1: 9, 2: 7, 3: 5}

# An operator is one expression in x and y, which becomes NumPy, Numba and CUDA C++. It is checked before it is used:
# the laws say what is wrong, at which values.
gap = BinaryOp("gap", "greatest(x, y) - least(x, y)", exchanged="gap")
assert laws.check_operator(gap, "INT32") == []
assert laws.check_semiring(Semiring(gb.monoid.max, gap), "INT32") == []
wrong = BinaryOp("wrong", "x - 2 * y", exchanged="wrong")
print(laws.check_operator(wrong, "INT32")[0])

# The widest gap between the two ends of the roads that leave a vertex.
height = gb.Vector.from_coo(range(4), [10, 14, 3, 8], dtype="INT32", size=4)
heights = gb.Matrix.from_coo(rows, cols, [[10, 14, 3, 8][i] for i in rows], dtype="INT32", nrows=4, ncols=4)
widest = heights.mxv(height, Semiring(gb.monoid.max, gap)).new()
print("widest gaps:", widest.to_dict())
assert widest.to_dict() == {0: 7, 1: 11, 2: 5}
