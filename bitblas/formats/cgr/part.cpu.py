# Read the intervals of a row, or its residuals, segment by segment. CPU twin of part.cuh.
# The state of a part: the next bit, the codes left in the segment, the last column, whether the segment's first code
# is still unread, the number of segments, the number of the current one, and the start of the first.
# include: formats/cgr/code.cpu.py


@njit(**FUNCTION)
def open_part(words, place, row):
    more, area = gamma_at(words, place)
    left, place = gamma_at(words, area)
    return place, left, np.int64(row), True, more + 1, np.int64(0), area


@njit(**FUNCTION)
def go_on(words, segment, part, row, place, column):
    """State after a value that ended before bit `place` with that column."""
    _, left, _, _, segments, number, area = part
    if left > 1 or number + 1 >= segments:
        return place, left - 1, column, False, segments, number, area
    left, place = gamma_at(words, area + (number + 1) * segment)
    return place, left, np.int64(row), True, segments, number + 1, area


@njit(**FUNCTION)
def residual(words, segment, part, row):
    """State after the next column, and that column."""
    place, _, column, first, _, _, _ = part
    value, place = zeta_at(words, place)
    column += unfolded(value) if first else value + 1
    return go_on(words, segment, part, row, place, column), column


@njit(**FUNCTION)
def interval(words, segment, part, row):
    """State after the next interval, its first column, and its length."""
    place, _, column, first, _, _, _ = part
    value, place = gamma_at(words, place)
    length, place = gamma_at(words, place)
    column += unfolded(value) if first else value + 1
    length += LEAST
    return go_on(words, segment, part, row, place, column + length - 1), column, length
