# The next column j of a row, whose nibbles from `place` on are not read: statements of a kernel. first: none was read.
nibbles = window(words, place)
size = length_of(nibbles)
if size <= 8:
    code = value_of(nibbles, size)
else:
    code = long_value(words, place)
    size = np.int64(code & np.uint64(15))
    code >>= np.uint64(4)
place += size
j += unfolded(code) if first else np.int64(code) + 1
first = False
