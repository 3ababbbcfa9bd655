# How a kernel by rows reads column numbers, the twin of columns.cuh.
# include: kernels/packed.cpu.py


@njit(**FUNCTION)
def column(col, width, e):
    """The column of entry e; width: bits of packed numbers, 0 for plain ones."""
    return np.int64(packed_at(col, e, width)) if width else np.int64(at(col, e))
