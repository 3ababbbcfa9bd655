# The values of a matrix, the twin of values.cuh.
# include: kernels/packed.cpu.py


@njit(**FUNCTION)
def value_at(values, one, step, e):
    """The value of entry e: `one` for all (step 0), of an array, or a packed number of `step` bits above `one`."""
    if VALUES_PACKED:
        return A_T(based(one, packed_at(values, e, step)))
    return at(values, e) if step else one
