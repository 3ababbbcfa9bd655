# The nibbles of a row from `place` on, as many as are read at once: statements of a kernel. first: none was read; j is
# then moved so that the row's first value counts as all others do.
nibbles = window(words, place, stop)
ends = nibbles & STOPS
threes = without_stops(nibbles)
read = np.uint64(0)
last = np.uint64(0)
if first:
    last = (trailing_zeros(ends) >> np.uint64(2)) * np.uint64(3)
    code = threes & ((np.uint64(8) << last) - np.uint64(1))
    j += unfolded(code) - np.int64(code) - 1
    first = False
