# Code fragment: take the next row of a pull from `rest` and initialize its sum.
bit = trailing_zeros(rest)
rest = drop_lowest(rest)
row = (word << 6) + np.int64(bit)
some = False
total = BEGIN if BLEND else IDENTITY
count = np.int64(0)
