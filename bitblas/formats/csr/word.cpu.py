# What the entries of u in word w push along their rows: statements of a kernel, where `active` is that word.
while active != 0:
    row = (w << 6) + np.int64(trailing_zeros(active))
    active = drop_lowest(active)
    u = load_u(u_val, u_iso, u_stride, row)
    for e in range(np.int64(at(begin, row)), np.int64(at(end, row))):
        j = column(col, width, e)
        # include: kernels/pushed.cpu.py
