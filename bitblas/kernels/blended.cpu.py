# Code fragment: add the product z to `total` if u has entry j.
# Without an entry the neutral value is added, which avoids a branch that the processor would have to predict.
if U_FULL:
    total = add(total, z)
else:
    hit = at(u.bits, j >> 6) >> np.uint64(j & 63) & ONE
    total = add(total, chosen(hit, z, BEGIN))
    count += np.int64(hit)
