// Masked dot products on tiles: C<M> = A B', computed at the bits of the mask, for A and B by rows.
// LANES lanes share a mask tile (I, J), walk the shorter of tile row I of A and tile row J of B, and search in the
// longer one. Each lane owns some bits (r, s) of the mask. A tile column that both rows have is passed to all lanes;
// it adds popcount(row r of A's tile AND row s of B's tile) to each bit. One walk serves LANES * OWN bits. Common
// columns come in ascending k, so the order of every sum is fixed.
// TILE_SUMS (KIND COUNT): the sum of all bits of each mask tile, in place of a sum for each bit.
// Arguments: the mask's tiles (m_*) and their ranks; tiles, ranks and values of A and B; inner, the common dimension; product, the value of
// all products (KIND COUNT); output: present and sums, per entry of the mask.
#include "formats/b2sr/tile.cuh"
#include "kernels/views.cuh"
#include "kernels/product.cuh"
#define OWN 4

// Position of a tile: 32 bits, which are cheaper, if both pointers are.
template <bool narrow> struct Place {
  typedef i64 type;
};
template <> struct Place<true> {
  typedef u32 type;
};
typedef Place<sizeof(PTR_T) + sizeof(BPTR_T) == 8>::type at_t;

__device__ __forceinline__ i64 rank_in(const word_t* bits, i64 tile, int r, int c) {
  i64 rank = __popcll(tile_row_bits(bits, tile, r) & ((1ull << c) - 1));
  for (int above = 0; above < r; ++above) rank += __popcll(tile_row_bits(bits, tile, above));
  return rank;
}

__device__ __forceinline__ int bits_in(const word_t* bits, i64 tile) {
  int count = 0;
#pragma unroll 4
  for (int w = 0; w < TILE_WORDS; ++w) count += __popcll(bits[tile * TILE_WORDS + w]);
  return count;
}

// The position r * TILE + c of a tile's bit number `rank`.
__device__ __forceinline__ int place_of(const word_t* bits, i64 tile, int rank) {
  int w = 0;
  u64 word = bits[tile * TILE_WORDS];
  for (int count = __popcll(word); rank >= count; count = __popcll(word)) {
    rank -= count;
    word = bits[tile * TILE_WORDS + ++w];
  }
  int place = 64 * w;
#pragma unroll
  for (int width = 32; width; width >>= 1) {  // bisection: is it among the lower ones?
    const int count = __popcll(word & ((1ull << width) - 1));
    if (rank < count) continue;
    rank -= count;
    word >>= width;
    place += width;
  }
  return place;
}

// Row r of a tile that was loaded as `word` (up to 64 positions), or is in `bits`.
__device__ __forceinline__ u64 row_bits(u64 word, const word_t* bits, i64 tile, int r) {
  return TILE <= 8 ? word >> (TILE * r & 63) & ROW_MASK : tile_row_bits(bits, tile, r);
}

// Tiles are single arguments: nvcc loads `by_a ? a.col : b.col` of two views by a selected address, which costs registers.
#define RESIDENT \
  (KIND == VALUES ? 2 : KIND == COUNT && sizeof(Z_T) == 8 && !TILE_SUMS ? 5 : 4)  // blocks per multiprocessor

extern "C" __global__ void __launch_bounds__(BLOCK, RESIDENT)
    dot(i64 n, const MPTR_T* m_ptr, i64 m_rows, const MCOL_T* m_col, const word_t* m_bits, const MPLACE_T* m_ranks,
        const PTR_T* a_ptr, const COL_T* a_col, const word_t* a_bits, const PLACE_T* a_ranks, MatrixValues<A_T> a,
        const BPTR_T* b_ptr, const COL_T* b_col, const word_t* b_bits, const BPLACE_T* b_ranks, MatrixValues<B_T> b,
        i64 inner, ARGUMENT(Z_T) product, u8* present, Z_T* sums) {
  (void)inner;
  const i64 tile = thread_number() / LANES;
  const int lane = threadIdx.x & (LANES - 1), group = threadIdx.x & 31 & ~(LANES - 1);
  const bool inside = tile < n;
  const i64 top = row_of_warp(m_ptr, m_rows, min((thread_number() & ~31ll) / LANES, n - 1));
  const i64 I = inside ? row_from(m_ptr, top, m_rows, tile) : 0, J = inside ? (i64)m_col[tile] : 0;
  const at_t a_begin = inside ? a_ptr[I] : 0, a_end = inside ? a_ptr[I + 1] : 0;
  const at_t b_begin = inside ? b_ptr[J] : 0, b_end = inside ? b_ptr[J + 1] : 0;
  const bool by_a = a_end - a_begin <= b_end - b_begin;
  const COL_T* shorter = by_a ? a_col : b_col;
  const COL_T* longer = by_a ? b_col : a_col;
  const at_t start = by_a ? a_begin : b_begin, stop = by_a ? a_end : b_end, longer_end = by_a ? b_end : a_end;
  const int bits = inside ? bits_in(m_bits, tile) : 0;
#if TILE_SUMS
  i64 total = 0;
#endif
  for (int first = 0; __any_sync(ALL_LANES, first < bits); first += LANES * OWN) {
    int place[OWN];
    bool some[OWN];
    Z_T sum[OWN];
    i64 count[OWN];
#pragma unroll
    for (int o = 0; o < OWN; ++o) {
      const int bit = first + o * LANES + lane;
      place[o] = bit < bits ? place_of(m_bits, tile, bit) : -1;
      some[o] = false, sum[o] = IDENTITY, count[o] = 0;
    }
    bool open = first < bits;  // the group still has bits to compute
    at_t low = by_a ? b_begin : a_begin;
    for (at_t p = start + lane; __any_sync(ALL_LANES, open && p - lane < stop); p += LANES) {
      bool hit = false;
      COL_T k = 0;
      if (open && p < stop) {
        k = shorter[p];
        at_t high = longer_end;
        while (low < high) {
          const at_t middle = (low + high) >> 1;
          if (longer[middle] < k) low = middle + 1;
          else high = middle;
        }
        hit = low < longer_end && longer[low] == k;
      }
      const at_t my_x = by_a ? p : low, my_y = by_a ? low : p;
      u64 a_word = 0, b_word = 0;
      if (TILE <= 8 && hit) a_word = a_bits[my_x], b_word = b_bits[my_y];
      u32 hits = (__ballot_sync(ALL_LANES, hit) & group_mask<LANES>()) >> group;
      for (; __any_sync(ALL_LANES, hits != 0); hits &= hits - 1) {
        const int from = hits ? __ffs(hits) - 1 : 0;
        const u64 a_tile = __shfl_sync(ALL_LANES, a_word, from, LANES);
        const u64 b_tile = __shfl_sync(ALL_LANES, b_word, from, LANES);
        at_t x = 0, y = 0;
        if (KIND == VALUES || TILE > 8)
          x = __shfl_sync(ALL_LANES, my_x, from, LANES), y = __shfl_sync(ALL_LANES, my_y, from, LANES);
        const i64 column = KIND == VALUES ? (i64)__shfl_sync(ALL_LANES, k, from, LANES) * TILE : 0;
#pragma unroll
        for (int o = 0; o < OWN; ++o) {
          if (!hits || place[o] < 0) continue;
          const int r = place[o] / TILE, s = place[o] % TILE;
          u64 common = row_bits(a_tile, a_bits, x, r) & row_bits(b_tile, b_bits, y, s);
          if (KIND == COUNT) count[o] += __popcll(common);
          if (KIND == WORDS) some[o] = some[o] || common;
          for (; KIND == VALUES && common && !is_final(some[o], sum[o]); common &= common - 1) {
            const int c = __ffsll(common) - 1;
            const A_T left = a.stride ? a.values[a_ranks[x] + rank_in(a_bits, x, r, c)] : A_T(a.iso);
            const B_T right = b.stride ? b.values[b_ranks[y] + rank_in(b_bits, y, s, c)] : B_T(b.iso);
            join(some[o], sum[o], true, mul(left, right, I * TILE + r, column + c, J * TILE + s));
          }
        }
      }
      if (KIND == WORDS) {
        bool missing = false;
#pragma unroll
        for (int o = 0; o < OWN; ++o) missing = missing || (place[o] >= 0 && !some[o]);
        const u32 left = __ballot_sync(ALL_LANES, missing) & group_mask<LANES>();
        open = open && left;
      }
    }
#if TILE_SUMS
#pragma unroll
    for (int o = 0; o < OWN; ++o) total += count[o];
#else
#pragma unroll
    for (int o = 0; o < OWN; ++o) {
      if (place[o] < 0) continue;
      const i64 entry = (i64)m_ranks[tile] + first + o * LANES + lane;
      if (KIND == COUNT) some[o] = count[o] > 0;
      present[entry] = some[o];
      if (KIND == VALUES) sums[entry] = sum[o];
      if (KIND == COUNT) sums[entry] = some[o] ? repeated(product, count[o]) : IDENTITY;
    }
#endif
  }
#if TILE_SUMS
#pragma unroll
  for (int d = LANES / 2; d; d >>= 1) total += shuffle_xor(ALL_LANES, total, d);
  if (!inside || lane) return;
  present[tile] = total > 0;
  sums[tile] = total ? repeated(product, total) : IDENTITY;
#endif
}
