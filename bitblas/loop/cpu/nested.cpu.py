# Before and after a nested loop: reset its round to 0 (after 0), or pass its fault to the enclosing rounds (after 1).
# One unit.
# include: kernels/views.cpu.py
ROUND, LIMIT, COPY, FAULT, INDEX, RESUMED = 0, 1, 2, 3, 5, 6  # of the state (device/kernel_table.py)


@njit(**KERNEL)
def nested(lo, hi, after, limit, state, around):
    if after == 0:
        put(state, ROUND, 0)
        put(state, LIMIT, limit)
        put(state, COPY, 0)
        put(state, FAULT, 0)
        put(state, RESUMED, 0)
    elif at(state, FAULT) != 0 and at(around, FAULT) == 0:
        put(around, FAULT, at(state, FAULT))
        put(around, INDEX, at(state, INDEX))
