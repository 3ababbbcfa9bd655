# The next interval of a segment (`runs`) or its next other column, columns `start` to `j`: statements of a kernel.
left -= 1
length = np.int64(1)
if runs:
    value, place = gamma_at(words, place)
    length, place = gamma_at(words, place)
    length += LEAST
else:
    value, place = zeta_at(words, place)
start = j + (unfolded(value) if first else value + 1)
first = False
j = start + length - 1
