# Packed integers: read numbers of `width` bits (1 to 32) from a little-endian string of 32-bit words.
# CPU twin of packed.cuh.


@njit(**FUNCTION)
def low_bits(width):
    return (np.uint64(1) << np.uint64(width)) - np.uint64(1)


@njit(**FUNCTION)
def packed_at(string, k, width):
    start = np.uint64(k) * np.uint64(width)
    word = start >> np.uint64(5)
    pair = np.uint64(at(string, word)) | np.uint64(at(string, word + np.uint64(1))) << np.uint64(32)
    return pair >> (start & np.uint64(31)) & low_bits(width)


@njit(**FUNCTION)
def based(base, number):
    """base + number as INT64, modulo 2**64; floats here are integers that fit 64 bits."""
    return np.int64(base) + np.int64(number)
