# Sum and product on SIMD lanes, for the kernels that compute all positions of a tile at once.
from bitblas.kernels.lanes import (
    even_lanes, first_lanes, greatest_lanes, lane, least_lanes, load_lanes, mask_lanes, minus_lanes, odd_lanes,
    picked_lanes, plus_lanes, repeat_lanes, row_counts, row_places, second_lanes, splat, store_lanes, times_lanes,
    where_lanes,
)  # fmt: skip

OPERATORS = (first_lanes, second_lanes, plus_lanes, minus_lanes, times_lanes, least_lanes, greatest_lanes)
if KIND == VALUES:
    add_lanes, multiply_lanes = OPERATORS[ADD], OPERATORS[MUL]
# For each tile column the sums over all subsets of its columns 0 to 2, 3 to 5, and 6 and 7: this many numbers.
CHOICES = 24


@njit(**FUNCTION)
def mul_lanes(a, u):
    return multiply_lanes(u, a) if FLIP else multiply_lanes(a, u)
