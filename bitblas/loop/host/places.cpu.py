# What the passes of a loop on the CPU share (loop/host/passes.py writes them).
# include: kernels/vector.cpu.py
ONE, ZERO, ALL = np.uint64(1), np.uint64(0), ~np.uint64(0)
ROUND, FAULT, INDEX = 0, 3, 5  # of the state (device/table.py)


@njit(**FUNCTION)
def put_bit(bits, i, bit):
    word = at(bits, i >> 6)
    m = ONE << np.uint64(i & 63)
    put(bits, i >> 6, (word | m) if bit else (word & ~m))


@njit(**FUNCTION)
def tell(state, what, index):
    """An index vector led nowhere."""
    if at(state, FAULT) == 0:
        put(state, FAULT, what)
        put(state, INDEX, index)


@njit(**FUNCTION)
def wrapped(index, size):
    """Where an index leads that counts from the end where it is negative."""
    return index + size if index < 0 else index
