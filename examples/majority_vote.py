"""A weighted majority vote among neighbours, in a loop whose product is never stored. Run with: python
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
changed = gb.Vector.from_coo([4, 5, 6, 7], True, size=8)


def vote(_):
    # L, a map: at most one entry per row, in the column of the opinion. Votes: C = A plus.first L
    voters, of = opinion.to_coo()
    L = gb.Matrix.from_coo(voters, of, True, nrows=8, ncols=2)
    votes = A.mxm(L, gb.semiring.plus_first)
    # best<undecided> = argmax of each row of C
    best = gb.Vector("INT64", 8)
    best(undecided.S) << votes.reduce_rowwise(gb.agg.ss.argmax)
    # changed = where best is not the opinion; opinion<changed> = best
    same = best.ewise_mult(opinion, gb.binary.eq).new()
    changed(~same.V, gb.replace) << best.apply(gb.unary.one["BOOL"])
    opinion(changed.S) << best


print("rounds:", gb.loop.repeat(vote, while_=changed))
print("opinions:", opinion.to_dict())
assert opinion.to_dict() == {0: 0, 1: 1, 2: 1, 3: 0, 4: 1, 5: 0, 7: 0}
