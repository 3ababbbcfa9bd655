# Packed numbers as an array of integers, the twin of widen.cu.
# include: kernels/packed.cpu.py


@njit(**KERNEL)
def widen(lo, hi, width, string, places, numbers):
    for k in range(lo, hi):
        put(numbers, k, packed_at(string, at(places, k) if PLACES else k, width))
