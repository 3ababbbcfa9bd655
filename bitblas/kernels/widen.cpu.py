# Unpack packed integers, or values stored as offsets from a base, into an array. CPU twin of widen.cu.
# include: kernels/packed.cpu.py


@njit(**KERNEL)
def widen(lo, hi, width, string, places, base, numbers):
    for k in range(lo, hi):
        put(numbers, k, based(base, packed_at(string, at(places, k) if PLACES else k, width)))
