# Gather: t(k) = u(where[k]). CPU twin of gather.cu.
# include: kernels/vector.cpu.py


@njit(**KERNEL)
def gather(lo, hi, size, where, u_bits, u_val, t_bits, t_val):
    for word in range(lo, hi):
        first = word << 6
        some = np.uint64(0)
        true = np.uint64(0)
        for k in range(first, min(first + 64, size)):
            i = at(where, k)
            if FULL or bit_of(u_bits, i):
                bit = np.uint64(1) << np.uint64(k - first)
                some |= bit
                if DENSE and U_BOOL:
                    if bit_of(u_val, i):
                        true |= bit
                elif DENSE:
                    put(t_val, k, at(u_val, i))
        put(t_bits, word, some)
        if DENSE and U_BOOL:
            put(t_val, word, true)
