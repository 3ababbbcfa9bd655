# Values of a matrix's entries. CPU twin of values.cuh.
# include: kernels/packed.cpu.py


@njit(**FUNCTION)
def value_at(values, one, stride, e):
    """The value of entry e: `one` for all (stride 0), of an array, or a packed number of `stride` bits above `one`."""
    if VALUES_PACKED:
        return A_T(based(one, packed_at(values, e, stride)))
    return at(values, e) if stride else one
