"""Argument validation, choice of the library, and loops kept per matrix: shared by all algorithms.

A message names the argument, what was expected, what came, and a hint.
"""

import functools
import operator
import threading
from numbers import Real

from . import _memory as memory
from . import _watch as watch

KEPT = 8  # loops of an algorithm with a matrix on a GPU, whose capture takes milliseconds


def on_its_device(program):
    """Decorates an algorithm: the vectors that it makes live where its matrix does, whatever the default device is."""

    @functools.wraps(program)
    def run(A, *args, **options):
        if hasattr(A, "matrix") and hasattr(A, "pagerank"):
            raise _graph_given("A", program.__name__)
        gb = options["gb"] = library(options.get("gb"), A)
        if hasattr(A, "_unsplit") and (run_alone := A._unsplit(run, args, options)) is not None:
            return run_alone()  # on each rank, of a matrix in shares
        memory.foresee(program.__name__, A)
        device = getattr(A, "device", None)  # python-graphblas knows no devices
        if device is None or not hasattr(device, "guard"):
            return program(A, *args, **options)
        with device.guard:  # what the device raises of arrays between statements becomes an error of bitblas
            if device.name == gb.config.device:
                return program(A, *args, **options)
            with gb.config.set(device=device.name):
                return program(A, *args, **options)

    return run


def on_default_device(program):
    """Decorates what makes a graph: what the device raises of arrays becomes an error of bitblas."""

    @functools.wraps(program)
    def run(*args, **options):
        gb = library(options.get("gb"))
        get = getattr(getattr(gb, "device", None), "get", None)
        if get is None:
            return program(*args, **options)
        with get(gb.config.device).guard:
            return program(*args, **options)

    return run


class Loop:
    """What a loop works on, and the loop: `make(A, gb, *args)` gives a dictionary of objects, while_, and the parts of
    the program (body, limit, begin, end, fixpoint).

    It is kept with its matrix for the next call, because what is made of it at its first run is dear: what `result`
    gives is then a new object, since those of the loop will be used again.
    """

    def __init__(self, make, A, gb, *args):
        from bitblas.loop import Program, holds_matrix

        self.state = make(A, gb, *args)
        self.told = [0]  # rounds: those of the host are told one by one
        body = _telling(self.state["body"], self.told)
        parts = {name: self.state.get(name) for name in ("limit", "begin", "end")}
        parts["fixpoint"] = self.state.get("fixpoint", False)
        self.program = Program(body, while_=self.state["while_"], **parts)
        matrices = [x for x in self.state.values() if getattr(x, "ndim", 0) == 2]
        # What a body cannot hold makes it a loop of single statements.
        ordered = matrices and getattr(A, "order", None) is not None
        held = all(holds_matrix(x) and max(x.shape) == A.nrows for x in matrices)  # more rows than A has are not
        self.plain = bool(ordered) or not held
        self.kept = False

    def run(self):
        self.told[0] = 0
        rounds = self.program.run(plain=self.plain)
        watch.tell(rounds - self.told[0])

    def result(self, x):
        return x._release() if self.kept else x


def _telling(body, told):
    """The body, telling of each round that it has run: of all but those that are written down for a GPU."""

    def run(number, *given):
        body(number, *given)
        if isinstance(number, int):
            told[0] += 1
            watch.tell()

    return run


def repeat(body, while_, limit=None):
    """body(k) for k = 0, 1, .. while the Vector has entries, at most `limit` times; a loop inside a loop's body too."""
    from bitblas.loop import repeat

    repeat(body, while_=while_, limit=limit)


def some(x, then):
    """then(), whose statements change nothing where the Vector x has no entry: left out there, but in a loop that is
    one program, where they cost less than to ask."""
    from bitblas.core.statement.recording import state

    if state.recorder is not None or x.nvals:
        then()


def loop(make, A, gb, *args):
    """The Loop of these arguments for A: the one that was kept, if the contents of A are still the same. Kept are those
    of the last arguments: they hold memory."""
    keep = getattr(A, "_keep", None)  # python-graphblas keeps nothing
    if keep is None:
        return Loop(make, A, gb, *args)
    if A.device.host_memory:  # of the last arguments, for each thread: they may run at the same time
        kept = keep((make, threading.get_ident()), lambda twin: [twin, None, None])
        if kept[1] != args:
            kept[1:] = args, Loop(make, kept[0], gb, *args)
        found = kept[2]
    else:
        twin, loops = keep((make, "loops"), lambda twin: (twin, {}))
        found = loops.pop(args, None) or Loop(make, twin, gb, *args)
        loops[args] = found  # the last one
        if len(loops) > KEPT:
            loops.pop(next(iter(loops)), None)
    found.kept = True
    return found


def fuses(A):
    """Whether loops over a graph of A's library and device run as one program: many short rounds cost little."""
    return hasattr(A, "_keep") and not hasattr(A, "shares")


def kept(make, A, gb):
    """make(A, gb): what was kept of it, if the contents of A are still the same."""
    keep = getattr(A, "_keep", None)
    return make(A, gb) if keep is None else keep((make,), lambda twin: make(twin, gb), chosen=False)


def library(gb, A=None):
    """The module to run on: the one given, that of a matrix in shares, or bitblas, imported only now because bitblas
    imports this package."""
    if gb is None:
        gb = getattr(A, "_library", None)
    if gb is None:
        import bitblas as gb
    return gb


def _graph_given(name, program=None):
    """The error of a Graph in the place of its Matrix. program: the algorithm, which is a method of the Graph too."""
    method = f"call the method, g.{program}(..), whose answers have the names of the vertices, or " if program else ""
    return TypeError(f"argument {name}: expected a Matrix, got a Graph. Hint: {method}pass g.matrix.")


def _maker(gb, A):
    """How a Matrix is made of what another library has."""
    libraries = {part.__module__.partition(".")[0] for part in type(A).__mro__}
    own = gb.__name__ == "bitblas"
    if "networkx" in libraries:
        return "bitblas.io.from_networkx(G) makes one" if own else f"{gb.__name__}.io.from_networkx(G) makes one"
    if hasattr(A, "tocoo"):
        made = "from_scipy_sparse(S) makes one"
        return f"bitblas.io.{made}" if own else f"{gb.__name__}.io.{made}"
    if hasattr(A, "columns"):
        return "bitblas.Graph.from_table takes a table; its attribute matrix is the Matrix"
    if "igraph" in libraries:
        return "bitblas.Graph.from_igraph takes it; its attribute matrix is the Matrix"
    if hasattr(A, "ndim"):
        return "build it with Matrix.from_dense, or Matrix.from_coo"
    return "build it with Matrix.from_coo"


def square(gb, A, name="A"):
    """The number of vertices of the graph whose adjacency matrix is A, the argument of that name."""
    # A transposed matrix is a class of its own, but its transpose is a Matrix again.
    if not isinstance(A, gb.Matrix) and not isinstance(getattr(A, "T", None), gb.Matrix):
        if hasattr(A, "matrix") and hasattr(A, "pagerank"):
            raise _graph_given(name)
        made = "the keyword gb= names the library that it belongs to" if hasattr(A, "nvals") else _maker(gb, A)
        raise TypeError(f"argument {name}: expected a {gb.__name__} Matrix, got {_kind(A)}. Hint: {made}.")
    if A.nrows != A.ncols:
        raise gb.exceptions.DimensionMismatch(
            f"argument {name}: expected a square adjacency matrix, got {A.nrows} rows and {A.ncols} columns. "
            f"Hint: give the number of vertices as both nrows= and ncols=."
        )
    return A.nrows


def symmetric(gb, A, name="A"):
    """`square`, of a matrix that has an entry (j, i) for each entry (i, j); InvalidValue for others. bitblas looks once
    and keeps the answer with the matrix."""
    n = square(gb, A, name)
    if not _is_symmetric(gb, A):
        raise gb.exceptions.InvalidValue(
            f"argument {name}: expected a symmetric matrix, with each edge as (i, j) and (j, i), got one whose "
            f"{A.nvals} entries are not all there in both directions. "
            f"Hint: A.ewise_add(A.T, 'max').new() has each edge both ways; of a Graph, g.to_undirected()."
        )
    return n


def _is_symmetric(gb, A):
    """Whether the structure of the square A is that of its transpose."""
    if hasattr(A, "is_symmetric"):  # in shares of ranks
        return A.is_symmetric(values=False)
    base = A if isinstance(A, gb.Matrix) else A.T
    if hasattr(base, "_store"):
        return base._store.structure.symmetric
    both = gb.binary.pair[gb.dtypes.BOOL](A & A.T).new()
    return both.nvals == A.nvals


def vertex(gb, name, value, n):
    """`value` as the Python int of one of n vertices."""
    value = integer(name, value, "a vertex number")
    if not 0 <= value < n:
        expected = f"a vertex number from 0 to {n - 1}" if n else "a graph with vertices"
        raise gb.exceptions.IndexOutOfBound(
            f"argument {name}: expected {expected}, got {value}. "
            f"Hint: vertices are numbered from 0, and negative numbers do not count from the end."
        )
    return value


def vertices(gb, name, values, n):
    """`values` as a list of Python ints, each one of n vertices."""
    kind, ndim = getattr(getattr(values, "dtype", None), "kind", None), getattr(values, "ndim", None)
    whole = kind in ("i", "u") and ndim == 1
    try:
        values = values.tolist() if whole else list(values)
    except TypeError:
        raise TypeError(
            f"argument {name}: expected vertex numbers, got {_kind(values)}. Hint: a single one is written [v]."
        ) from None
    # An array, or Python's integers: one look at all of them.
    if (whole or {*map(type, values)} == {int}) and (not values or 0 <= min(values) <= max(values) < n):
        return values
    return [vertex(gb, name, value, n) for value in values]


def sources(gb, name, value, n):
    """`value`, a vertex or several of n, as a list of different Python ints."""
    single = isinstance(value, str) or not hasattr(value, "__iter__") or getattr(value, "ndim", 1) == 0
    return [vertex(gb, name, value, n)] if single else list(dict.fromkeys(vertices(gb, name, value, n)))


def put(gb, w, source, values):
    """Only w[source] = values, or one value, in the Vector w; a single entry costs less by itself than as a Vector."""
    if len(source) == 1:
        w.clear()
        w[source[0]] = values[0] if isinstance(values, list) else values
    else:
        w << gb.Vector.from_coo(source, values, w.dtype, size=w.size)


def count(gb, name, value, hint, least=1):
    """`value` as a Python int of `least` or more."""
    expected = f"an integer, {least} or more"
    value = integer(name, value, expected)
    return _within(gb, name, value, value >= least, expected, hint)


def number(gb, name, value, within, expected, hint):
    """`value` as a Python float for which the predicate `within` holds; it must be false for NaN."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"argument {name}: expected {expected}, got {_kind(value)}. Hint: {hint}.")
    return _within(gb, name, float(value), within(value), expected, hint)


def integer(name, value, expected="an integer"):
    """`value` as a Python int."""
    # operator.index takes the integers of NumPy too and refuses floats, but True would pass for 1.
    try:
        if isinstance(value, bool):
            raise TypeError
        return operator.index(value)
    except TypeError:
        raise TypeError(
            f"argument {name}: expected {expected}, got {_kind(value)}. Hint: convert it with int() if it is one."
        ) from None


def numbers(gb, name, ok, expected="no NaN", got="one"):
    """Refuses weights for which `ok` is false."""
    if not ok:
        raise gb.exceptions.InvalidValue(
            f"argument {name}: expected weights with {expected}, got {got}. Hint: remove such edges with A.select."
        )


def on_a_way(gb, way, expected, got, hint):
    """The error of a graph with vertices, one after the other, that must not be there; a Graph says them by name."""
    text = " -> ".join(map(str, way)) or "one"
    error = gb.exceptions.InvalidValue(f"argument A: expected {expected}, got {text}{got}. Hint: {hint}.")
    error.way = way
    return error


def flag(name, value):
    """`value`, which must be a bool."""
    if not isinstance(value, bool):
        raise TypeError(f"argument {name}: expected True or False, got {_kind(value)}. Hint: convert it with bool().")
    return value


def weights(gb, A, name="A", hint="A.select drops entries"):
    """Refuses a Matrix or Vector with a value that is negative, infinite or NaN; the sum of its values, a float."""
    plus, least = gb.monoid.plus[gb.dtypes.FP64], gb.monoid.min[gb.dtypes.FP64]
    rows = hasattr(A, "nrows")  # of a Matrix, which may be a transposed one
    sums = A.reduce_rowwise(plus).new() if rows else A
    lowest = (A.reduce_rowwise(least).new() if rows else A).reduce(least, allow_empty=False)
    total, lowest = sums.reduce(plus, allow_empty=False).new().value, lowest.new().value
    if not (0 <= total < float("inf")) or lowest < 0:
        got = lowest if lowest < 0 else total
        raise gb.exceptions.InvalidValue(
            f"argument {name}: expected values of 0 or more with a finite sum, got {got}. Hint: {hint}."
        )
    return float(total)


def vector(gb, name, value, n):
    """`value`, which must be a Vector of n positions."""
    if not isinstance(value, gb.Vector):
        raise TypeError(
            f"argument {name}: expected a {gb.__name__} Vector, got {_kind(value)}. "
            f"Hint: build it with Vector.from_coo or Vector.from_dense."
        )
    if value.size != n:
        raise gb.exceptions.DimensionMismatch(
            f"argument {name}: expected a Vector of size {n}, got {value.size}. Hint: one position for each vertex."
        )
    return value


def labels(gb, name, value, n):
    """`value`, which must be a full Vector of n integers from 0 to n - 1, as an array of INT64."""
    value = vector(gb, name, value, n)
    found = value.dtype.name
    if not found.startswith(("INT", "UINT")) or value.nvals != n:
        raise gb.exceptions.InvalidValue(
            f"argument {name}: expected an integer for each of {n} vertices, got {value.nvals} of {found}. "
            f"Hint: vertices of one class have one number."
        )
    value = value.to_dense().astype("int64")
    if n and not 0 <= int(value.min()) <= int(value.max()) < n:
        raise gb.exceptions.InvalidValue(
            f"argument {name}: expected numbers from 0 to {n - 1}, got {int(value.min())} to {int(value.max())}. "
            f"Hint: number the classes by one of their vertices, or from 0."
        )
    return value


def _within(gb, name, value, ok, expected, hint):
    if not ok:
        raise gb.exceptions.InvalidValue(f"argument {name}: expected {expected}, got {value!r}. Hint: {hint}.")
    return value


def _kind(value):
    text = repr(value) if isinstance(value, (bool, int, float, str)) else ""
    return f"{type(value).__module__}.{type(value).__qualname__} {text}".replace("builtins.", "").strip()
