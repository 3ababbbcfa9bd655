# Bit packing: store numbers in `width` bits each. CPU twin of narrow.cu.
# include: kernels/packed.cpu.py


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
