# The nibbles of a row from `place` on, as many as are read at once: statements of a kernel.
nibbles = window(words, place, stop)
ends = nibbles & STOPS
threes = without_stops(nibbles)
read = np.uint64(0)
last = np.uint64(0)
