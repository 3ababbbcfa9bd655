# Code fragment: decode the next interval of a segment (`runs`) or its next residual: columns `start` to `j`.
# ahead: the `spare` bits from `place` on; a zeta_3 code has up to 44 bits.
left -= 1
length = np.int64(1)
if runs:
    value, place = gamma_at(words, place)
    length, place = gamma_at(words, place)
    length += LEAST
else:
    if spare < 44:
        ahead = window(words, place)
        spare = np.int64(64)
    more = leading_zeros(ahead) + np.uint64(1)
    value = np.int64(ahead << more >> (np.uint64(64) - np.uint64(3) * more)) - 1
    size = np.int64(more) << 2
    ahead <<= np.uint64(size)
    spare -= size
    place += size
start = j + (unfolded(value) if first else value + 1)
first = False
j = start + length - 1
