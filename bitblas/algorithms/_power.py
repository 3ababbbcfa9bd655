"""Power iteration: options, convergence test and 2-norm."""

from . import _check as check
from . import _watch as watch


def limits(gb, tol, max_iter):
    """The validated options tol (float > 0) and max_iter (int >= 1)."""
    tol = check.number(gb, "tol", tol, lambda x: x > 0, "a number above 0", "1e-6 is usual")
    return tol, check.count(gb, "max_iter", max_iter, "100 is usual")


class Change:
    """Convergence test of a loop: the 1-norm of the change and the continue flag, as Scalars."""

    def __init__(self, gb, tol):
        self.gb, self.tol = gb, tol
        self.sum, self.going = gb.Scalar(gb.dtypes.FP64), gb.Scalar(gb.dtypes.BOOL)

    def step(self, x, t):
        """End of a round: continue if sum(|x - t|) >= tol; x = t."""
        binary = self.gb.binary
        # going = sum(|x - t|) >= tol; x = t
        x << binary.minus(x & t)
        x << x.apply(self.gb.unary.abs)
        self.sum << x.reduce(self.gb.monoid.plus)
        self.going << self.sum.apply(binary.ge, right=self.tol)
        x << t


def run(loop, name, hint=lambda: ""):
    """Run the loop until it converges. If the limit ends it first, report non-convergence with the hint."""
    going = loop.state["while_"]
    going << True
    loop.run()
    if going.value:
        watch.not_converged(name, loop.state["limit"], hint())


def length(x, gb):
    """The 2-norm of a vector, as a float."""
    # sqrt(sum(x .* x))
    squares = gb.binary.times(x & x).new()
    return float(squares.reduce(gb.monoid.plus, allow_empty=False).new().value) ** 0.5
