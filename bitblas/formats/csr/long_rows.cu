// SpGEMM for long rows of C = A (+).(x) B.
// A block takes one row after the other and marks its columns in a bitset, so they come out in order without sorting.
// FILL = 0 counts them: c_ptr[i + 1]. FILL = 1 writes them from c_ptr[i] on and adds each product at the rank of its
// column. BLOCK / 32 rows of B are processed at a time, one per warp, in turns; long ones one by one. The order of
// additions to a cell depends on the entries alone.
// SINGLE: no row of B has more than one entry, so each thread takes an entry of A; threads of a warp whose products
// are in the same column first add them up.
// `found` and `ranks` (words of the bitset, per block) are in shared memory if SHARED_WORDS hold a row.
// Arguments: rows, row_count and next, the list of rows and the shared counter; A and B by rows (a_*, b_*); the mask
// by rows (m_*) and mask_kind (0 none, 1 structural, 2 complement); product, the value of all products (KIND COUNT);
// output C by rows (c_*).
#include "formats/csr/gustavson.cuh"
#include "kernels/blocks.cuh"
#define WARPS (BLOCK / 32)
#define SUMS (FILL && KIND != WORDS)
#define SHORT 64  // entries of a row of B up to which one warp takes it

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
long_rows(i64 n, const i64* rows, i64 row_count, u64* next, u64* all_found, u32* all_ranks, i64 words,
          const PTR_T* a_ptr, const AColumn::stored* a_col, i64 a_width, const A_T* a_val, ARGUMENT(A_T) a_iso, i64 a_stride,
          const BPTR_T* b_ptr, const BColumn::stored* b_col, i64 b_width, const B_T* b_val, ARGUMENT(B_T) b_iso, i64 b_stride,
          const MPTR_T* m_ptr, const MColumn::stored* m_col, i64 m_width, i64 mask_kind, ARGUMENT(Z_T) product, i64* c_ptr,
          COL_T* c_col, Z_T* c_val) {
  (void)n;
#if SHARED_WORDS
  __shared__ u64 found[SHARED_WORDS];
#if SUMS
  __shared__ u32 ranks[SHARED_WORDS];
#endif
  for (i64 w = threadIdx.x; w < words; w += BLOCK) found[w] = 0;
#else
  u64* found = all_found + blockIdx.x * words;  // zero before, and zero again when the block is done
#if SUMS
  u32* ranks = all_ranks + blockIdx.x * words;
#endif
#endif
  (void)all_found, (void)all_ranks, (void)c_col, (void)c_val;
  __shared__ i64 row;
#if SUMS && !SINGLE
  __shared__ i64 begin[WARPS], end[WARPS], inner[WARPS];
#endif
  __shared__ u32 parts[WARPS];
  const Factors f = {a_ptr, {a_col, a_width}, a_val, a_iso, a_stride, b_ptr, {b_col, b_width}, b_val, b_iso, b_stride,
                     m_ptr, {m_col, m_width}, mask_kind, product};
  const int warp = threadIdx.x / 32, lane = threadIdx.x & 31;
  (void)warp, (void)lane;
  for (;;) {
    __syncthreads();
    if (threadIdx.x == 0) {
      const u64 taken = atomicAdd(next, 1ull);
      row = taken < (u64)row_count ? rows[taken] : -1;
    }
    __syncthreads();
    const i64 i = row;
    if (i < 0) return;
    const i64 a = a_ptr[i], a_end = a_ptr[i + 1];
    const auto mark = [&](COL_T j) {
      const u64 bit = 1ull << (j & 63);
      // Another thread may set it at the same time, which is harmless.
      if (!(((const volatile u64*)found)[j >> 6] & bit) && f.allows(i, j)) atomicOr(&found[j >> 6], bit);
    };
#if SINGLE
    for (i64 p = a + threadIdx.x; p < a_end; p += BLOCK) {
      const i64 k = (i64)f.a_col[p], q = b_ptr[k];
      if (q < (i64)b_ptr[k + 1]) mark(f.b_col[q]);
    }
#else
    for (i64 p = a + warp; p < a_end; p += WARPS) {
      const i64 k = (i64)f.a_col[p], stop = b_ptr[k + 1];
      for (i64 q = (i64)b_ptr[k] + lane; q < stop; q += 32) mark(f.b_col[q]);
    }
#endif
    __syncthreads();
#if FILL
    const i64 out = c_ptr[i];
#endif
    u32 count = 0;
    for (i64 base = 0; base < words; base += BLOCK) {
      const i64 w = base + threadIdx.x;
      u64 word = w < words ? found[w] : 0;
#if FILL
      u32 total;
      const u32 rank = count + block_sum_below(__popcll(word), parts, total);
#if SUMS
      if (w < words) ranks[w] = rank;
#endif
      for (i64 place = out + rank; word; ++place, word &= word - 1) {
        c_col[place] = (COL_T)(w * 64 + __ffsll(word) - 1);
        if (SUMS) c_val[place] = BEGIN;
      }
      count += total;
#else
      count += __popcll(word);
      if (w < words) found[w] = 0;
#endif
    }
#if !FILL
    u32 total;
    block_sum_below(count, parts, total);
    if (threadIdx.x == 0) c_ptr[i + 1] = total;
#elif SUMS
    // The cell of column j, null if the mask excludes it.
    const auto cell_of = [&](COL_T j) -> Z_T* {
      const u64 word = found[j >> 6], bit = 1ull << (j & 63);
      return word & bit ? c_val + out + ranks[j >> 6] + __popcll(word & (bit - 1)) : nullptr;
    };
    // `any` keeps the first product, so it is written last.
    const auto put = [](Z_T* cell, Z_T z) {
      if (cell) *cell = HAS_TERMINAL == 2 ? z : add(*cell, z);
    };
#if SINGLE
    __syncthreads();
    const i64 turns = (a_end - a + BLOCK - 1) / BLOCK;
    for (i64 turn = 0; turn < turns; ++turn) {
      const i64 p = a + (HAS_TERMINAL == 2 ? turns - 1 - turn : turn) * BLOCK + threadIdx.x;
      const Factors::Partner x = f.partner(p, a_end, i);
      const u32 peers = peers_of(x, ALL_LANES);
      const bool is_first = (peers & (0u - peers)) == 1u << lane;
      const Z_T z = x.there ? f.product(p, x.q, i, x.k, (i64)x.j) : Z_T();
      const Z_T sum = plus_those(z, z, is_first ? peers & (peers - 1) : 0);
      Z_T* cell = is_first ? cell_of(x.j) : nullptr;
      for (int w = 0; w < WARPS; ++w) {
        if (warp == (HAS_TERMINAL == 2 ? WARPS - 1 - w : w)) put(cell, sum);
        __syncthreads();
      }
    }
#else
    for (i64 first = a; first < a_end; first += WARPS) {
      const i64 mine = first + warp, p = HAS_TERMINAL == 2 ? a_end - 1 - (mine - a) : mine;
      __syncthreads();
      if (lane == 0) {
        const i64 k = mine < a_end ? (i64)f.a_col[p] : 0;
        inner[warp] = k;
        begin[warp] = mine < a_end ? (i64)b_ptr[k] : 0;
        end[warp] = mine < a_end ? (i64)b_ptr[k + 1] : 0;
      }
      __syncthreads();
      bool all_short = true;
#pragma unroll
      for (int w = 0; w < WARPS; ++w) all_short = all_short && end[w] - begin[w] <= SHORT;
      if (all_short) {
        Z_T z[SHORT / 32];
        Z_T* cell[SHORT / 32];
#pragma unroll
        for (int u = 0; u < SHORT / 32; ++u) {
          const i64 q = begin[warp] + lane + 32 * u;
          const COL_T j = q < end[warp] ? f.b_col[q] : 0;
          cell[u] = q < end[warp] ? cell_of(j) : nullptr;
          if (cell[u]) z[u] = f.product(p, q, i, inner[warp], (i64)j);
        }
        for (int w = 0; w < WARPS; ++w) {
#pragma unroll
          for (int u = 0; u < SHORT / 32; ++u)
            if (w == warp) put(cell[u], z[u]);
          __syncthreads();
        }
      } else {
        for (int w = 0; w < WARPS; ++w) {
          const i64 at = HAS_TERMINAL == 2 ? p + warp - w : p + w - warp;
          for (i64 q = begin[w] + threadIdx.x; q < end[w]; q += BLOCK) {
            const COL_T j = f.b_col[q];
            Z_T* cell = cell_of(j);
            if (cell) put(cell, f.product(at, q, i, inner[w], (i64)j));
          }
          __syncthreads();
        }
      }
    }
#endif
#endif
#if FILL
    __syncthreads();
    for (i64 w = threadIdx.x; w < words; w += BLOCK) found[w] = 0;
#endif
  }
}
