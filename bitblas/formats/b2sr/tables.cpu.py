# Tables of partial sums for lanes.cpu.py.
# For each three columns of a tile, the sums over all of their subsets of the products of iso A with u. Units are tile
# columns; missing entries of u add nothing.
# include: formats/b2sr/tile.cpu.py
# include: kernels/product.cpu.py
# include: formats/b2sr/operators.cpu.py


@njit(**FUNCTION)
def joined(sums, z, choices):
    """The sums, with z added to those whose subset has the bit."""
    return where_lanes(mask_lanes(choices), add_lanes(sums, splat(z, 8)), sums)


@njit(**KERNEL)
def tables(lo, hi, a_iso, u_bits, u_val, table):
    nothing = splat(BEGIN, 8)
    a = splat(a_iso, 8)
    for tile_col in range(lo, hi):
        u = np.uint8(tile_bits(u_bits, tile_col))
        z = where_lanes(mask_lanes(u), mul_lanes(a, load_lanes(u_val, tile_col << LOG_TILE, u)), nothing)
        for k in range(3):
            first = 3 * k
            sums = joined(nothing, lane(z, first), np.uint8(0xAA))
            sums = joined(sums, lane(z, first + 1), np.uint8(0xCC))
            if k < 2:
                sums = joined(sums, lane(z, first + 2), np.uint8(0xF0))
            store_lanes(table, tile_col * CHOICES + 8 * k, sums)
