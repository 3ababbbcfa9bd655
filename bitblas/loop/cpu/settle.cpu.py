# After a nested loop, move a vector with rotating buffers back to the first one, from where `steps` advances in each of
# its rounds left it. HELD: whether it has an array of values (1) or of truth values (2). One unit.
# include: kernels/push.cpu.py
ROUND = 0  # of the state (device/kernel_table.py)


@njit(**KERNEL)
def settle(lo, hi, state, steps, bits, bits1, bits2, sums, sums1, sums2, val, val1, val2):
    rotation = at(state, ROUND) * steps % 3
    if rotation != 0:
        blank(0, sums.size, bits, sums)
        w = next_listed(sums1 if rotation == 1 else sums2, 0, sums.size)
        while w < sums.size << 6:
            word = at(bits1, w) if rotation == 1 else at(bits2, w)
            put(bits, w, word)
            note(sums, w, word)
            if HELD == 2:
                put(val, w, at(val1, w) if rotation == 1 else at(val2, w))
            if HELD == 1:
                rest = word
                while rest != 0:
                    i = (w << 6) + np.int64(trailing_zeros(rest))
                    rest = drop_lowest(rest)
                    put(val, i, at(val1, i) if rotation == 1 else at(val2, i))
            w = next_listed(sums1 if rotation == 1 else sums2, w + 1, sums.size)
