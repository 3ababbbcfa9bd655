# The next column j of a row, whose `ends` say that there is one: statements of a kernel. first: none was read.
last = trailing_zeros(ends) >> np.uint64(2)
ends = drop_lowest(ends)
upto = last * np.uint64(3) + np.uint64(3)
code = threes >> read & ((np.uint64(1) << upto - read) - np.uint64(1))
read = upto
j += unfolded(code) if first else np.int64(code) + 1
first = False
