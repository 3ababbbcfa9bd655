# Code fragment: decode the next column j of a row, if `ends` reports one. Follows window.cpu.py.
last = trailing_zeros(ends) >> np.uint64(2)
ends = drop_lowest(ends)
upto = last * np.uint64(3) + np.uint64(3)
j += np.int64(threes >> read & ((np.uint64(1) << upto - read) - np.uint64(1))) + 1
read = upto
