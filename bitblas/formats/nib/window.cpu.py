# Code fragment: load the nibbles of a row from `place` on, as many as one read gives.
# first: none was read; j is then shifted so that the row's first value is decoded like the others.
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
