"""Power iteration: options, convergence test and 2-norm."""

from . import _check as check
from . import _watch as watch


def limits(gb, tol, max_iter):
    """The two options, checked: tol: float > 0; max_iter: int >= 1."""
    tol = check.number(gb, "tol", tol, lambda x: x > 0, "a number above 0", "1e-6 is usual")
    return tol, check.count(gb, "max_iter", max_iter, "100 is usual")


class Change:
    """How far two iterates are apart, and whether to go on: Scalars of a loop."""

    def __init__(self, gb, tol):
        self.gb, self.tol = gb, tol
        self.sum, self.going = gb.Scalar(gb.dtypes.FP64), gb.Scalar(gb.dtypes.BOOL)

    def step(self, x, t):
        """Statements that end a round: go on if sum(|x - t|) >= tol; x = t."""
        binary = self.gb.binary
        x << binary.minus(x & t)
        x << x.apply(self.gb.unary.abs)
        self.sum << x.reduce(self.gb.monoid.plus)
        self.going << self.sum.apply(binary.ge, right=self.tol)
        x << t


def run(loop, name, hint=lambda: ""):
    """Runs the loop of an algorithm until nothing changes any more, or tells that the limit ended it, and a hint."""
    going = loop.state["while_"]
    going << True
    loop.run()
    if going.value:
        watch.stopped(name, loop.state["limit"], hint())


def length(x, gb):
    """The 2-norm of a vector, as a float."""
    squares = gb.binary.times(x & x).new()
    return float(squares.reduce(gb.monoid.plus, allow_empty=False).new().value) ** 0.5
