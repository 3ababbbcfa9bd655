# Code fragment: push the entries first .. stop of a row.
u = load_u(u_val, u_iso, u_stride, row)
for e in range(first, stop):
    j = column(col, width, e)
    if KIND == VALUES and BLEND and ready:  # every position has a sum already, and the mask is applied later
        z = mul(value_at(a_val, a_iso, a_stride, e), u, j, row)
        put(t_val, j, add(take(at(t_val, j)), z))
        put(t_bits, j >> 6, at(t_bits, j >> 6) | ONE << np.uint64(j & 63))
        continue
    # include: kernels/pushed.cpu.py
