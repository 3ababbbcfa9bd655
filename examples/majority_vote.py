"""A weighted majority vote among neighbours, by one product that is never stored. Run with: python
examples/majority_vote.py

Each vertex without an opinion takes the one with the largest sum of weights next to it; ties go to the smaller number.
"""

import bitblas as gb

# Who listens to whom, and how much. Vertices 0 to 3 have an opinion: 0 or 1; vertex 6 to none.
listens = [(4, 0, 3), (4, 1, 2), (4, 2, 2), (5, 4, 1), (5, 3, 4), (5, 0, 5), (7, 5, 2), (7, 4, 2)]
rows, cols, weights = zip(*listens)
A = gb.Matrix.from_coo(rows, cols, weights, dtype="INT64", nrows=8, ncols=8)
opinion = gb.Vector.from_coo([0, 1, 2, 3], [0, 1, 1, 0], dtype="INT64", size=8)
undecided = gb.Vector.from_coo([4, 5, 6, 7], True, size=8)

while True:
    # L, a map: at most one entry per row, in the column of the opinion. Votes: C = A plus.first L
    voters, of = opinion.to_coo()
    L = gb.Matrix.from_coo(voters, of, True, nrows=8, ncols=2)
    votes = A.mxm(L, gb.semiring.plus_first)
    # opinion<undecided> = argmax of each row of C
    before = opinion.dup()
    opinion(undecided.S) << votes.reduce_rowwise(gb.agg.ss.argmax)
    if opinion.isequal(before):
        break

print(gb.explain(votes.reduce_rowwise(gb.agg.ss.argmax)))
print("opinions:", opinion.to_dict())
assert opinion.to_dict() == {0: 0, 1: 1, 2: 1, 3: 0, 4: 1, 5: 0, 7: 0}
