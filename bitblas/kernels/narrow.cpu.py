# Numbers packed to `width` bits each, the twin of narrow.cu.


@njit(**KERNEL)
def narrow(lo, hi, size, width, numbers, string):
    for word in range(lo, hi):
        begin = word * 32
        bits = np.uint64(0)
        k = begin // width
        while k < size and k * width < begin + 32:
            shift = k * width - begin
            number = np.uint64(at(numbers, k))
            bits |= number << np.uint64(shift) if shift >= 0 else number >> np.uint64(-shift)
            k += 1
        put(string, word, bits & np.uint64(0xFFFFFFFF))
