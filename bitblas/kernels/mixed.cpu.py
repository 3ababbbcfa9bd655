# A word whose bits depend on all bits of another.


@njit(**FUNCTION)
def mixed(key):
    key *= np.uint64(0x9E3779B97F4A7C15)
    return key ^ (key >> np.uint64(32))
