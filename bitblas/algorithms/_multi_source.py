"""Multi-source breadth-first search: 64 searches at once, one bit of a 64-bit word per search.

Then, Kaufmann, Chirigati, Hoang-Vu, Pham, Kemper, Neumann, Vo: The more the merrier, efficient multi-source graph
traversal. PVLDB 8 (2014).
"""

WORD = 64


class Searches:
    """State of the searches. seen: for each vertex the bits of the searches that reached it, UINT64, full; fresh: the
    bits added in the last round.
    """

    def __init__(self, A, gb):
        n, UINT64 = A.nrows, gb.dtypes.UINT64
        self.gb, self.ring = gb, gb.semiring.bor_band[UINT64]
        self.seen, self.fresh, self.next = (gb.Vector(UINT64, n) for _ in range(3))
        self.any, self.depth = gb.Scalar(UINT64), gb.Scalar(gb.dtypes.FP64)
        self.going = gb.Scalar(gb.dtypes.BOOL)
        # B = -1 (all bits set), one value for all entries
        self.B = A.apply(gb.unary.one[UINT64]).new()
        self.B << self.B.apply(gb.unary.ainv)

    def start(self, sources):
        """Begin searches from up to 64 vertices."""
        gb = self.gb
        self.seen << 0
        # seen = 0; seen[sources[k]] |= 1 << k; fresh = seen; depth = 0
        bits = [1 << k for k in range(len(sources))]
        self.seen(gb.binary.bor) << gb.Vector.from_coo(sources, bits, gb.dtypes.UINT64, size=self.seen.size)
        self.fresh << self.seen
        self.depth << 0.0
        self.going << True

    def step(self, back):
        """One round, along the edges or backwards. Afterwards depth is the distance of the fresh bits."""
        binary, seen, fresh, t = self.gb.binary, self.seen, self.fresh, self.next
        # t = seen or (B' bor.band fresh)
        t << (self.B if back else self.B.T).mxv(fresh, self.ring)
        t(binary.bor) << seen
        # fresh = t xor seen; seen = t
        fresh << binary.bxor(t & seen)
        seen << t
        # depth += 1; going = any(fresh != 0)
        self.depth << self.depth.apply(binary.plus, right=1.0)
        self.any << fresh.reduce(self.gb.monoid.bor)
        self.going << self.any.apply(binary.ne, right=0)


def batches(n):
    """The vertices in ranges of 64."""
    return [range(first, min(n, first + WORD)) for first in range(0, n, WORD)]


def count_bits(x, t, gb):
    """Statements: x = the number of set bits of each word of x; t is scratch space.

    Warren: Hacker's delight. 2002, section 5-1: sums of 2, 4 and 8 neighbouring bits, then of the 8 bytes.
    """
    UINT64, binary = gb.dtypes.UINT64, gb.binary
    band, shift, plus, times = (x[UINT64] for x in (binary.band, binary.bshift, binary.plus, binary.times))
    # x = x - (x >> 1 & 0101..)
    t << x.apply(shift, right=-1)
    t << t.apply(band, right=0x5555555555555555)
    x << binary.minus(x & t)
    # x = (x & 0011..) + (x >> 2 & 0011..)
    t << x.apply(shift, right=-2)
    t << t.apply(band, right=0x3333333333333333)
    x << x.apply(band, right=0x3333333333333333)
    x << plus(x & t)
    # x = x + (x >> 4) & 00001111..
    t << x.apply(shift, right=-4)
    x << plus(x & t)
    x << x.apply(band, right=0x0F0F0F0F0F0F0F0F)
    # x = the sum of the bytes
    x << x.apply(times, right=0x0101010101010101)
    x << x.apply(shift, right=-56)
