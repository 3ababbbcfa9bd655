# How a kernel by rows reads column numbers, the twin of columns.cuh.
# include: kernels/packed.cpu.py


@njit(**FUNCTION)
def column(col, width, e):
    """The column of entry e; width: the bits of packed ones."""
    if PACKED:
        return np.int64(packed_at(col, e, width))
    return np.int64(at(col, e))
