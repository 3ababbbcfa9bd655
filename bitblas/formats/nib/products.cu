// Products of nibble rows: pulls, pushes, and dot products under a mask.
#include "formats/nib/walk.cuh"

#ifdef KERNEL_pull
// LANES lanes decode a row together. For presence only, one lane decodes some values at a time until it has a hit.
#include "kernels/pull_rows.cuh"
#if KIND == WORDS
typedef Scan PullWalk;
#else
typedef Walk<LANES, RANKED> PullWalk;
#endif
#define PULL
#define PULL_BLOCKS 4
#include "formats/coded_kernels.cuh"
#endif  // KERNEL_pull

#ifdef KERNEL_push
#include "kernels/product.cuh"
#define PUSH
#include "formats/coded_kernels.cuh"
#endif  // KERNEL_push

#ifdef KERNEL_dot
// Masked dot products: C<M> = A B', computed at the entries of the mask, all in nibbles (see csr/dot.cu).
// A block takes a row of the mask, as many columns at a time as one step of a warp decodes. The row of A goes into a
// hash table in shared memory, half of SLOTS at a time, in which GROUP lanes look up a row of B'. All warps decode the
// rows of the mask and of A, so that none has to wait for another's progress.
// Arguments: heads, words and ranks of the mask, A and B; values of A and B; inner, the common dimension; product, the
// value of all products (KIND COUNT); output: present and sums, per entry of the mask.
#include "formats/csr/search.cuh"
#include "kernels/dots.cuh"
#define AT_ONCE (32 * COMPLETED)  // values per step of a warp

struct Table {
  COL_T* keys;
  u32* places;  // position of a key among the entries of its row of A
  u32 last;
  int shift;
  // Insert as much of the row as fits, from the walk's position on; of the columns that a lane completes, each warp
  // inserts one.
  __device__ __forceinline__ void fill(Walk<32, true>& walk, const u32* words) const {
    for (int filled = 0; walk.more() && filled + AT_ONCE <= SLOTS / 2; filled += AT_ONCE) {
      Found found;
      walk.step(words, threadIdx.x & 31, found);
#pragma unroll 1
      for (int k = 0; k < found.count; ++k) {
        const COL_T key = (COL_T)found.next();
        if (k != threadIdx.x / 32) continue;
        const int slot = -1 - insert(keys, last, shift, key);
        if (KIND == VALUES) places[slot] = (u32)(found.entry + k);
      }
    }
  }
};

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    dot(i64 n, CodesView<MPTR_T> m, CodesView<APLACE_T> a, MatrixValues<A_T> a_values, CodesView<BPLACE_T> b,
        MatrixValues<B_T> b_values, i64 inner, ARGUMENT(Z_T) product, u8* present, Z_T* sums) {
  (void)inner;
  __shared__ COL_T keys[SLOTS];
  __shared__ u32 places[KIND == VALUES ? SLOTS : 1];
  __shared__ u32 columns[AT_ONCE];  // of the mask
  __shared__ Sum sum[AT_ONCE];
  const i64 row = blockIdx.x;
  const Extent at = row_extent(m.heads, m.words, row), own = row_extent(a.heads, a.words, row);
  const int lane = threadIdx.x & (GROUP - 1);
  const Sum none = {false, IDENTITY, 0};
  // A row has at most as many entries as nibbles: 512 slots, or two per nibble if they fit.
  int shift = 23;
  while (32 - shift < LOG_SLOTS && 2 * (own.end - own.at) > 1ll << (32 - shift)) --shift;
  const Table table = {keys, places, (1u << (32 - shift)) - 1, shift};
  const i64 a_first = KIND == VALUES && a_values.stride ? (i64)a.numbers[row] : 0;
  Walk<32, true> mask(m.words, at, row, m.numbers[row], threadIdx.x & 31), mine;
  for (bool whole = false; mask.more();) {  // whole: the entire row of A is in the table
    const i64 first = mask.entry;
    Found found;
    mask.step(m.words, threadIdx.x & 31, found);
    const int count = (int)(mask.entry - first);
    __syncthreads();
    for (int k = 0; threadIdx.x < 32 && k < found.count; ++k) {
      columns[found.entry - first + k] = found.next();
      sum[found.entry - first + k] = none;
    }
    if (!whole) mine = Walk<32, true>(a.words, own, row, 0, threadIdx.x & 31);
    do {
      if (!whole) {
        const bool begins = mine.first;
        for (u32 slot = threadIdx.x; slot <= table.last; slot += BLOCK) keys[slot] = NO_KEY;
        __syncthreads();
        table.fill(mine, a.words);
        whole = begins && !mine.more();
      }
      __syncthreads();
      for (int e = threadIdx.x / GROUP; __any_sync(ALL_LANES, e < count); e += BLOCK / GROUP) {
        const i64 j = e < count ? columns[e] : 0;
        Sum t = e < count && lane == 0 ? sum[e] : none;
        Walk<GROUP, true> theirs;
        if (e < count && !(KIND == WORDS && sum[e].count)) {
          const i64 number = KIND == VALUES && b_values.stride ? (i64)b.numbers[j] : 0;
          theirs = Walk<GROUP, true>(b.words, row_extent(b.heads, b.words, j), j, number, lane);
        }
        while (__any_sync(ALL_LANES, theirs.more())) {
          Found of;
          theirs.step(b.words, lane, of);
#pragma unroll 1
          for (int k = 0; k < of.count; ++k) {
            const u32 column = of.next();
            const int slot = lookup(keys, table.last, shift, (COL_T)column);
            if (slot < 0) continue;
            ++t.count;
            if (KIND == VALUES && !is_final(t.some, t.sum))
              join(t.some, t.sum, true,
                   mul(a_values.at(a_first + places[slot]), b_values.at(of.entry + k), row, column, j));
          }
          const bool done = KIND == WORDS ? t.count > 0 : KIND == VALUES && is_final(t.some, t.sum);
          if (__ballot_sync(ALL_LANES, done) & group_mask<GROUP>()) theirs.stop();
        }
        gather<GROUP>(t);
        __syncwarp();  // all lanes of the group have read the sum
        if (e < count && lane == 0) sum[e] = t;
      }
      __syncthreads();
    } while (!whole && mine.more());
    for (int e = threadIdx.x; e < count; e += BLOCK) write(sum[e], first + e, product, present, sums);
  }
}
#endif  // KERNEL_dot

#ifdef KERNEL_pull_lines
#include "formats/bitmap/lines.cuh"
#define LINES
#define PULL_LINES
#include "formats/coded_kernels.cuh"
#endif  // KERNEL_pull_lines

#ifdef KERNEL_push_lines
#include "formats/bitmap/lines.cuh"
#define LINES
#define PUSH_LINES
#include "formats/coded_kernels.cuh"
#endif  // KERNEL_push_lines
