# Hashes of indices for the symmetry test. CPU twin of scramble.cuh.


@njit(**FUNCTION)
def scramble(x):
    y = np.uint64(x) + np.uint64(0x9E3779B97F4A7C15)
    y = (y ^ (y >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    y = (y ^ (y >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return y ^ (y >> np.uint64(31))


@njit(**FUNCTION)
def unlike_mirror(row, column):
    three = np.uint64(3)
    return scramble(row * three + column) - scramble(column * three + row)
