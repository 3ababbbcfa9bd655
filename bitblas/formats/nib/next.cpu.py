w = window(words, place)
length = length_of(w)
if length <= 8:
    value = value_of(w, length)
else:
    value = long_value(words, place)
    length = np.int64(value & np.uint64(15))
    value >>= np.uint64(4)
place += length
j += unfolded(value) if first else np.int64(value) + 1
first = False
