# Shared parts of all product kernels. CPU twin of product.cuh.
# include: kernels/views.cpu.py
WORDS, COUNT, VALUES = 0, 1, 2
ONE = np.uint64(1)


@njit(**FUNCTION)
def is_final(total):
    """Whether no further product can change a sum (terminal value)."""
    return HAS_TERMINAL == 2 or (HAS_TERMINAL == 1 and total == TERMINAL)


@njit(**FUNCTION)
def load_u(values, iso, stride, i):
    if U_BOOL:
        return bit_of(values, i) if stride else iso
    return at(values, i) if stride else iso


@njit(**FUNCTION)
def set_bit(bits, i):
    put(bits, i >> 6, at(bits, i >> 6) | ONE << np.uint64(i & 63))
