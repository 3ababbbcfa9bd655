# Remove all entries of a vector that has a summary. Units are the words of the summary.
# include: kernels/push.cpu.py


@njit(**KERNEL)
def clear(lo, hi, bits, summary):
    blank(lo, hi, bits, summary)
