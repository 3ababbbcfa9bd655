# What the entries first .. stop of a row push: statements of a kernel.
u = load_u(u_val, u_iso, u_stride, row)
for e in range(first, stop):
    j = column(col, width, e)
    # include: kernels/pushed.cpu.py
