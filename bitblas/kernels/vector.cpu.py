# Vectors in kernels, the twin of vector.cuh: presence bits; values iso (stride 0) or dense (stride 1), BOOL a bitset.
@njit(**FUNCTION)
def bit_of(bits, i):
    return (at(bits, i >> 6) >> np.uint64(i & 63)) & np.uint64(1) != 0
