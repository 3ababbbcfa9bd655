# Packed numbers, or values that are such numbers above a base, as an array, the twin of widen.cu.
# include: kernels/packed.cpu.py


@njit(**KERNEL)
def widen(lo, hi, width, string, places, base, numbers):
    for k in range(lo, hi):
        put(numbers, k, based(base, packed_at(string, at(places, k) if PLACES else k, width)))
