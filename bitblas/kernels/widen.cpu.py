# Packed numbers as an array of integers, the twin of widen.cu.
# include: kernels/packed.cpu.py


@njit(**KERNEL)
def widen(lo, hi, width, string, numbers):
    for k in range(lo, hi):
        put(numbers, k, packed_at(string, k, width))
