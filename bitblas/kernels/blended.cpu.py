# z is added where u has entry j; what u lacks adds what is neutral, so that nothing has to be foreseen.
if U_FULL:
    total = add(total, z)
else:
    hit = at(u_bits, j >> 6) >> np.uint64(j & 63) & ONE
    total = add(total, chosen(hit, z, BEGIN))
    count += np.int64(hit)
