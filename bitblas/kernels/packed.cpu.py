# Packed integers: pack, unpack, and read numbers of `width` bits (1 to 32) from a little-endian string of 32-bit words.
# CPU twin of packed.cuh and packed.cu.


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


# Bit packing: store numbers in `width` bits each.
@njit(**KERNEL)
def narrow(lo, hi, size, width, numbers, base, source, string):
    for word in range(lo, hi):
        begin = word * 32
        bits = np.uint64(0)
        k = begin // width
        while k < size and k * width < begin + 32:
            shift = k * width - begin
            if GATHER:
                number = packed_at(source, np.int64(at(numbers, k)), width)
            else:
                number = np.uint64(np.int64(at(numbers, k)) - np.int64(base))
            bits |= number << np.uint64(shift) if shift >= 0 else number >> np.uint64(-shift)
            k += 1
        put(string, word, bits & np.uint64(0xFFFFFFFF))


# Unpack packed integers, or values stored as offsets from a base, into an array.
@njit(**KERNEL)
def widen(lo, hi, width, string, places, base, numbers):
    for k in range(lo, hi):
        put(numbers, k, based(base, packed_at(string, at(places, k) if PLACES else k, width)))
