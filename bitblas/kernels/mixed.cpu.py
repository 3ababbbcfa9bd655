# Hash function for 64-bit words (multiply and xor-shift): every bit of the key affects the result.


@njit(**FUNCTION)
def mixed(key):
    key *= np.uint64(0x9E3779B97F4A7C15)
    return key ^ (key >> np.uint64(32))
