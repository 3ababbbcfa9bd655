// Products on CR2: a warp takes 32 pieces of one group, which all have 2^k entries, and no offset is read.
#include "kernels/product.cuh"
#define UNROLL 4  // entries that a lane loads before it uses the first

// Numbers of 4, 8, 16 or 32 bits in words: none straddles two of them.
__device__ __forceinline__ u32 number_at(const u32* words, i64 k, u32 width) {
  const u64 bit = (u64)k * width;
  return words[bit >> 5] >> (bit & 31) & low_bits(width);
}

// Rows of pieces and columns of entries, inside clusters or between them, as numbers of so many bits.
struct NumbersView {
  const u32* rows;
  const u32* cols;
  i64 width;
};

// The view of a layout. col: the slots of the pieces of each row. runs: three numbers for each run of 64 slots
// (layout.py). first_piece, first_entry: of those between clusters. perm (if ordered): the vertex of each number.
struct PiecesView {
  const COL_T* col;
  const i64* runs;
  NumbersView inside;
  NumbersView between;
  i64 first_piece, first_entry, log_cluster;
  const u32* perm;
  i64 ordered;
};

// A run of up to 64 pieces of a group.
struct Run {
  const PiecesView& of;
  NumbersView numbers;
  i64 entry, piece, base, vertices;  // base: entries that are elsewhere; vertices: before those of the cluster
  int count, log;
  __device__ __forceinline__ Run(const PiecesView& pieces, i64 run) : of(pieces) {
    const i64 shape = pieces.runs[3 * run + 2];
    const bool between = shape >> 15 & 1;
    numbers = between ? pieces.between : pieces.inside;
    entry = pieces.runs[3 * run];
    base = between ? pieces.first_entry : 0;
    piece = pieces.runs[3 * run + 1] - (between ? pieces.first_piece : 0);
    vertices = between ? 0 : (shape >> 16) << pieces.log_cluster;
    count = (int)(shape & 255), log = (int)(shape >> 8 & 127);
  }
  __device__ __forceinline__ i64 vertex(const u32* words, i64 k) const {
    const i64 number = vertices + number_at(words, k, (u32)numbers.width);
    return of.ordered ? (i64)of.perm[number] : number;
  }
  __device__ __forceinline__ i64 row(int slot) const { return vertex(numbers.rows, piece + slot); }
  __device__ __forceinline__ i64 column(i64 e) const { return vertex(numbers.cols, e - base); }
};

#ifdef KERNEL_pull
// The sums of pieces, into their slots: t = P (+).(x) u, where P has a row for each slot. Rows of A are sums of slots,
// which another kernel adds in a fixed order. A warp takes 32 slots, with consecutive entries in consecutive lanes; the
// sums of the lanes of a piece are added as a tree.
__device__ __forceinline__ u32 bits_of_piece(u32 bits, int first, int wide) { return bits >> first & low_bits(wide); }

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    pull(i64 n, i64 longest, RowsView<PTR_T> rows, PiecesView pieces, Values a, VectorView<U_T> u, MaskView mask,
         ARGUMENT(Z_T) product, Epilogue to) {
  const i64 half = thread_number() >> 5;
  if (half >> 1 >= n) return;
  const Run of(pieces, half >> 1);
  const int lane = threadIdx.x & 31, slot = (int)(half & 1) << 5;
  const int count = of.count - slot > 32 ? 32 : of.count - slot > 0 ? of.count - slot : 0;
  const bool open = lane < count && (!mask.stride || mask.allows(of.row(slot + lane)));
  const u32 opened = __ballot_sync(ALL_LANES, open);
  // A round ends `each` pieces: those of 32 entries, or one that is longer.
  const int log = of.log < 5 ? of.log : 5, steps = of.log - log, each = 32 >> log;  // a round has 2^steps steps
  const i64 begin = of.entry + ((i64)slot << of.log);
  const int total = opened ? count << of.log : 0;
  bool some = false;  // of the lane's own piece
#if KIND == VALUES
  bool mine = false;  // of the lane's entries
  Z_T sum = IDENTITY, part = IDENTITY;
#else
  i64 found = 0;
#endif
  (void)a;
  for (int first = 0, step = 0; first < total; first += 32 * UNROLL) {
    bool has[UNROLL];
    i64 j[UNROLL];
#pragma unroll
    for (int k = 0; k < UNROLL; ++k) {
      const int e = first + 32 * k + lane;
      has[k] = e < total && (opened >> (e >> of.log) & 1);
      j[k] = has[k] ? of.column(begin + e) : 0;
    }
#if KIND == VALUES
    A_T x[UNROLL];
    U_T y[UNROLL];
#endif
#pragma unroll
    for (int k = 0; k < UNROLL; ++k) {
      if (!U_FULL) has[k] = has[k] && u.has(j[k]);
#if KIND == VALUES
      x[k] = has[k] ? a.at(begin + first + 32 * k + lane) : A_T(a.iso);
      y[k] = has[k] ? u.at(j[k]) : U_T();
#endif
    }
#pragma unroll
    for (int k = 0; k < UNROLL; ++k, ++step) {
      if (first + 32 * k >= total) break;  // uniform over the warp
      const int ended = (step >> steps) * each;  // pieces of earlier rounds
      const bool here = lane >= ended && lane < ended + each;
      const int place = here ? (lane - ended) << log : 0;  // the first lane of the own piece
#if KIND == VALUES
      const int piece = (first + 32 * k + lane) >> of.log;
      const i64 row = of.row(slot + (piece < count ? piece : 0));  // not loaded unless the product reads it
      if (has[k]) join(mine, part, true, mul(x[k], y[k], row, j[k]));
      if ((step + 1) & ((1 << steps) - 1)) continue;
      for (int d = 1; d < 1 << log; d <<= 1) {
        const bool other = shuffle_xor(ALL_LANES, mine, d);
        const Z_T z = shuffle_xor(ALL_LANES, part, d);
        join(mine, part, other, z);
      }
      const bool had = shuffle_from<32>(mine, place);
      const Z_T z = shuffle_from<32>(part, place);
      if (here) some = had, sum = z;
      mine = false, part = IDENTITY;
#else
      const u32 hits = __ballot_sync(ALL_LANES, has[k]);
      if (here) found += __popc(bits_of_piece(hits, place, 1 << log));
#endif
    }
  }
#if KIND != VALUES
  some = found > 0;
#endif
#if KIND == COUNT
  const Z_T sum = some ? repeated(product, found) : IDENTITY;
#endif
  const u32 bits = __ballot_sync(ALL_LANES, some);
  if (lane == 0) poke((u32*)to.t.bits + half, bits);
#if STORE && W_BOOL
  const u32 truths = __ballot_sync(ALL_LANES, some && take(sum));
  if (lane == 0) poke((u32*)to.t.values + half, truths);
#elif STORE
  if (some) to.t.values[32 * half + lane] = take(sum);
#endif
}
#endif  // KERNEL_pull

#ifdef KERNEL_push
// Push SpMV: t = A' (+).(x) u by the entries of u, whose pieces are listed. LANES lanes share a row, piece after piece.
extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    push(i64 n, i64 longest, RowsView<PTR_T> rows, PiecesView pieces, Values a, VectorView<U_T> u, MaskView mask,
         ARGUMENT(Z_T) product, i64* counts, OutputView<C_T> t) {
  const i64 unit = thread_number() / LANES;
  if (unit >= n) return;
  const i64 row = rows.row_stride ? rows.row_of[unit] : unit;
  if (!u.has(row)) return;
  const i64 stop = rows.end[unit];
  i64 p = rows.begin[unit];
  if (stop - p > longest) return;  // a hub: its segments are processed by another launch
  for (; p < stop; ++p) {
    const i64 slot = pieces.col[p];
    const Run of(pieces, slot >> 6);
    const i64 first = of.entry + ((slot & 63) << of.log);
    for (i64 e = first + (threadIdx.x & (LANES - 1)); e < first + (1 << of.log); e += LANES) {
      const i64 j = of.column(e);
      if (!mask.allows(j)) continue;
#if KIND == WORDS
      if (!bit_now(t.bits, j)) mark(t.bits, j);
#else
      scatter(t.bits, t.values, j, mul(a.at(e), u.at(row), j, row));
#endif
    }
  }
}
#endif  // KERNEL_push

#ifdef KERNEL_push_pieces
// The same by all pieces, for a u with entries in many rows: a warp takes 32 slots, lanes consecutive entries.
extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    push_pieces(i64 n, i64 longest, RowsView<PTR_T> rows, PiecesView pieces, Values a, VectorView<U_T> u, MaskView mask,
                ARGUMENT(Z_T) product, i64* counts, OutputView<C_T> t) {
  const i64 half = thread_number() >> 5;
  if (half >> 1 >= n) return;
  const Run of(pieces, half >> 1);
  const int lane = threadIdx.x & 31, slot = (int)(half & 1) << 5;
  const int count = of.count - slot > 32 ? 32 : of.count - slot > 0 ? of.count - slot : 0;
  const i64 row = lane < count ? of.row(slot + lane) : 0, begin = of.entry + ((i64)slot << of.log);
  const u32 active = __ballot_sync(ALL_LANES, lane < count && u.has(row));
  for (int first = 0; active && first < count << of.log; first += 32) {
    const int e = first + lane, piece = e >> of.log;
    const i64 source = shuffle_from<32>(row, piece & 31);
    if (e >= count << of.log || !(active >> piece & 1)) continue;
    const i64 j = of.column(begin + e);
    if (!mask.allows(j)) continue;
#if KIND == WORDS
    (void)source;
    if (!bit_now(t.bits, j)) mark(t.bits, j);
#else
    scatter(t.bits, t.values, j, mul(a.at(begin + e), u.at(source), j, source));
#endif
  }
}
#endif  // KERNEL_push_pieces
