// Matrix products: row by row (Gustavson: ACM TOMS 4(3), 1978), with kernels that bin rows by size and multiply short and
// long rows; and dot products at the entries of a mask.
#include "formats/csr/columns.cuh"
#include "formats/csr/search.cuh"

#ifdef KERNEL_dot
// Masked dot products: C<M> = A B', computed at the entries of the mask, for A and B by rows.
// A block takes 256 entries of the mask, across row boundaries. If several are in one row, that row of A goes into a
// hash table in shared memory, and a warp per entry looks up the row of B'. The other entries walk the shorter row and
// search in the longer one: GROUP lanes per entry, or the whole block if even the shorter row is long.
// product: the value of all products (KIND COUNT). present, sums: output per entry of the mask.
#include "kernels/views.cuh"
#include "kernels/dots.cuh"
#define AHEAD 4  // loads in flight per lane
typedef AnyColumn<PACKED, COL_T> Longer;
typedef AnyColumn<M_PACKED, MCOL_T> MaskColumn;

// An operand by rows.
template <class P, class T> struct OperandView {
  const P* ptr;
  const column_t* col;
  const T* values;
  ARGUMENT(T) iso;
  i64 stride;

  __device__ __forceinline__ T at(i64 e) const { return stride ? values[e] : T(iso); }
};
typedef OperandView<PTR_T, A_T> LeftView;
typedef OperandView<BPTR_T, B_T> RightView;
// The mask by rows.
struct MaskRows {
  const MPTR_T* ptr;
  i64 rows;
  const MaskColumn::stored* col;
  i64 width;
};

struct Factors {
  i64 width;  // of the columns of both operands
  const LeftView& a;
  const RightView& b;
  __device__ __forceinline__ Z_T product(i64 x, i64 y, i64 i, i64 k, i64 j) const {
    return mul(a.at(x), b.at(y), i, k, j);
  }
};

// One lane's share of an entry: every `lanes`-th position of the shorter row, from `lane` on, is searched for in the
// longer.
__device__ __forceinline__ void search(const Factors& f, i64 i, i64 j, int lane, int lanes, Sum& t) {
  const i64 a = f.a.ptr[i], a_end = f.a.ptr[i + 1], b = f.b.ptr[j], b_end = f.b.ptr[j + 1];
  const bool by_a = a_end - a <= b_end - b;
  const Longer longer(by_a ? f.b.col : f.a.col, f.width);
  const i64 stop = by_a ? a_end : b_end, longer_end = by_a ? b_end : a_end;
  i64 low = by_a ? b : a, p = (by_a ? a : b) + lane;
  for (Columns shorter(by_a ? f.a.col : f.b.col, f.width, p); p < stop; p += lanes, shorter.skip(lanes)) {
    const COL_T k = shorter.at(p, 0);
    low = lower_bound(longer, low, longer_end, k);  // from `low` on, because the near row ascends
    if (low == longer_end) break;
    if (longer[low] != k) continue;
    if (KIND == VALUES) {
      join(t.some, t.sum, true, f.product(by_a ? p : low, by_a ? low : p, i, k, j));
      if (is_final(t.some, t.sum)) break;
    } else {
      ++t.count;
      if (KIND == WORDS) break;
    }
  }
}

extern "C" __global__ void __launch_bounds__(BLOCK, 4) dot(i64 n, MaskRows m, i64 width, LeftView a, RightView b,
                                                           i64 inner, ARGUMENT(Z_T) product, u8* present, Z_T* sums) {
  (void)inner;
  __shared__ COL_T keys[SLOTS];
  __shared__ u16 places[KIND == VALUES ? SLOTS : 1];  // position of the key in its row of A
  __shared__ i64 row_at[BLOCK];
  __shared__ u8 elsewhere[BLOCK];  // entries that are not searched by GROUP lanes
  __shared__ u16 tables[BLOCK], longs[BLOCK];
  __shared__ int table_count, long_count;
  const Factors f = {width, a, b};
  const MaskColumn mask_column(m.col, m.width);
  const int thread = threadIdx.x, lane = thread & 31;
  const i64 first = (i64)blockIdx.x * BLOCK;
  const int entries = n - first < BLOCK ? (int)(n - first) : BLOCK;
  if (thread == 0) table_count = long_count = 0;
  __syncthreads();
  const i64 top = row_of_warp(m.ptr, m.rows, first);
  if (thread < entries) {
    const i64 i = row_from(m.ptr, top, m.rows, first + thread), j = (i64)mask_column[first + thread];
    const i64 a_size = (i64)a.ptr[i + 1] - a.ptr[i], b_size = (i64)b.ptr[j + 1] - b.ptr[j];
    const i64 begin = max((i64)m.ptr[i] - first, 0ll), end = min((i64)m.ptr[i + 1] - first, (i64)entries);
    const bool tabled = a_size >= TABLE_FROM && a_size <= SLOTS / 2 && end - begin >= TABLE_FOR;
    const bool is_long = !tabled && min(a_size, b_size) > LONG;
    row_at[thread] = i;
    elsewhere[thread] = tabled || is_long;
    if (tabled && begin == thread) tables[atomicAdd(&table_count, 1)] = (u16)thread;
    if (is_long) longs[atomicAdd(&long_count, 1)] = (u16)thread;
  }
  __syncthreads();

  for (int step = 0; step < GROUP; ++step) {  // BLOCK / GROUP entries at a time
    const int e = step * (BLOCK / GROUP) + thread / GROUP;
    const bool active = e < entries && !elsewhere[e];
    if (!__any_sync(ALL_LANES, active)) continue;
    Sum t = {false, IDENTITY, 0};
    if (active) search(f, row_at[e], (i64)mask_column[first + e], thread & (GROUP - 1), GROUP, t);
    gather<GROUP>(t);
    if (active && (thread & (GROUP - 1)) == 0) write(t, first + e, product, present, sums);
  }

  for (int s = 0; s < table_count; ++s) {
    const i64 i = row_at[tables[s]], begin = a.ptr[i];
    const int size = (int)((i64)a.ptr[i + 1] - begin);
    const int end = (int)min((i64)m.ptr[i + 1] - first, (i64)entries);
    int shift = 23;  // 512 slots, or four per key if they fit
    while (32 - shift < LOG_SLOTS && 4 * size > 1 << (32 - shift)) --shift;
    const u32 last = (1u << (32 - shift)) - 1;
    __syncthreads();
    for (u32 slot = thread; slot <= last; slot += BLOCK) keys[slot] = NO_KEY;
    __syncthreads();
    Columns mine(a.col, width, begin + thread);
    for (int p = thread; p < size; p += BLOCK, mine.skip(BLOCK)) {
      const int slot = -1 - insert(keys, last, shift, mine.at(begin + p, 0));
      if (KIND == VALUES) places[slot] = (u16)p;
    }
    __syncthreads();
    for (int e = tables[s] + thread / 32; e < end; e += BLOCK / 32) {
      const i64 j = (i64)mask_column[first + e], stop = b.ptr[j + 1];
      Sum t = {false, IDENTITY, 0};
      i64 q = (i64)b.ptr[j] + lane;
      for (Columns theirs(b.col, width, q); q - lane < stop; q += 32 * AHEAD, theirs.skip(32 * AHEAD)) {
        COL_T k[AHEAD];
#pragma unroll
        for (int u = 0; u < AHEAD; ++u) k[u] = q + 32 * u < stop ? theirs.at(q, 32 * u) : NO_KEY;
#pragma unroll
        for (int u = 0; u < AHEAD; ++u) {
          const int slot = k[u] == NO_KEY ? -1 : lookup(keys, last, shift, k[u]);
          if (slot < 0) continue;
          ++t.count;
          if (KIND == VALUES) join(t.some, t.sum, true, f.product(begin + places[slot], q + 32 * u, i, k[u], j));
        }
        if (KIND == WORDS && __any_sync(ALL_LANES, t.count > 0)) break;
        if (KIND == VALUES && HAS_TERMINAL && __any_sync(ALL_LANES, is_final(t.some, t.sum))) break;
      }
      gather<32>(t);
      if (lane == 0) write(t, first + e, product, present, sums);
    }
  }

  __shared__ Sum part[BLOCK / 32];
  for (int s = 0; s < long_count; ++s) {
    const int e = longs[s];
    Sum t = {false, IDENTITY, 0};
    search(f, row_at[e], (i64)mask_column[first + e], thread, BLOCK, t);
    gather<32>(t);
    __syncthreads();
    if (lane == 0) part[thread / 32] = t;
    __syncthreads();
    if (thread) continue;
    for (int w = 1; w < BLOCK / 32; ++w) {
      join(t.some, t.sum, part[w].some, part[w].sum);
      t.count += part[w].count;
    }
    write(t, first + e, product, present, sums);
  }
}
#endif  // KERNEL_dot

#ifdef A_PACKED
// Operands and products of the kernels for short and long rows.
#include "kernels/product.cuh"
typedef CsrView<PTR_T, AnyColumn<A_PACKED, INNER_T>> MatrixA;
typedef CsrView<BPTR_T, AnyColumn<B_PACKED, COL_T>> MatrixB;
typedef CsrView<MPTR_T, AnyColumn<M_PACKED, COL_T>> MatrixM;
struct MatrixC {
  i64* ptr;
  COL_T* col;
  Z_T* values;
};

struct Factors {
  const MatrixA& A;
  const MatrixValues<A_T>& a;
  const MatrixB& B;
  const MatrixValues<B_T>& b;
  const MatrixM& M;
  i64 mask_kind;  // 0: none; 1: structural mask; 2: its complement
  Z_T value;

  // The product of entry p of A at (i, k) and entry q of B at (k, j). KIND COUNT: the value of all products.
  __device__ __forceinline__ Z_T product(i64 p, i64 q, i64 i, i64 k, i64 j) const {
    return KIND == VALUES ? mul(a.at(p), b.at(q), i, k, j) : value;
  }

  // Whether the mask allows C(i, j).
  __device__ __forceinline__ bool allows(i64 i, COL_T j) const {
    if (mask_kind == 0) return true;
    const i64 end = M.ptr[i + 1], at = lower_bound(M.columns(), M.ptr[i], end, j);
    return (at < end && M.columns()[at] == j) == (mask_kind == 1);
  }

#if SINGLE
  // The partner of entry p of row i of A in a B with at most one entry per row: entry q at (k, j), if it exists.
  struct Partner {
    i64 k, q;
    COL_T j;
    bool there;
  };
  __device__ __forceinline__ Partner partner(i64 p, i64 a_end, i64 i) const {
    const i64 k = p < a_end ? (i64)A.columns()[p] : 0, q = p < a_end ? (i64)B.ptr[k] : 0;
    const bool full = p < a_end && q < (i64)B.ptr[k + 1];
    const COL_T j = full ? B.columns()[q] : NO_KEY;
    return {k, q, j, full && allows(i, j)};
  }
#endif
};

#if SINGLE
// The lanes of the group whose partners are in the same column as this lane's; none if it has no partner.
__device__ __forceinline__ u32 peers_of(const Factors::Partner& x, u32 group) {
  const u32 equal = sizeof(COL_T) == 8 ? __match_any_sync(ALL_LANES, (u64)x.j) : __match_any_sync(ALL_LANES, (u32)x.j);
  return __ballot_sync(ALL_LANES, x.there) & (x.there ? equal & group : 0);
}

// sum + the values of the lanes in `others`, in their order. All lanes of the warp call it.
__device__ __forceinline__ Z_T plus_those(Z_T sum, Z_T mine, u32 others) {
  for (; __any_sync(ALL_LANES, others != 0); others &= others - 1) {
    const Z_T theirs = shuffle_from<32>(mine, others ? __ffs(others) - 1 : 0);
    if (others) sum = add(sum, theirs);
  }
  return sum;
}
#endif
#endif

#ifdef KERNEL_sort_rows
// Bin the rows of a product C = A B by size.
// lists[k * n ..] gets the rows with more than limit k - 1 and at most limit k, in any order; counts[k] is their
// number.
// FILL = 0: size is the number of products; before[i] is their number in the rows before i, and c_ptr[i + 1] is set to
// an upper bound of row i. FILL = 1: size is the number of entries, and `before` is c_ptr. A row with more than
// `batches` times as many products (work[i] before row i) as a limit counts as larger, because its products determine
// how many lanes it needs.
extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    sort_rows(i64 n, const i64* before, const i64* work, i64 batches, i64 ncols, i64 limit_0, i64 limit_1, i64 limit_2,
              i64* c_ptr, i64* lists, u64* counts) {
  const i64 i = thread_number();
  i64 size = 0;
  if (i < n) {
#if !FILL
    (void)work, (void)batches;
#endif
    size = min(before[i + 1] - before[i], ncols);
#if !FILL
    c_ptr[i + 1] = size;
#else
    if (size) size = max(size, (work[i + 1] - work[i]) / batches);
#endif
  }
  const int mine = size == 0 ? -1 : size <= limit_0 ? 0 : size <= limit_1 ? 1 : size <= limit_2 ? 2 : 3;
  for (int kind = 0; kind < 4; ++kind) {
    const u32 together = __ballot_sync(ALL_LANES, mine == kind);
    u64 first = 0;
    if (together && (threadIdx.x & 31) == 0) first = atomicAdd(counts + kind, (u64)__popc(together));
    first = __shfl_sync(ALL_LANES, first, 0);
    if (mine == kind) lists[kind * n + (i64)first + __popc(together & ((1u << (threadIdx.x & 31)) - 1))] = i;
  }
}
#endif  // KERNEL_sort_rows

#ifdef KERNEL_short_rows
// SpGEMM for short rows of C = A (+).(x) B.
// LANES lanes share a row and keep it in a hash table in shared memory.
// Row i of A is walked in order, and the lanes take the columns of one row of B: every entry is summed in the order of
// k, without atomics on values. FILL = 0: c_ptr[i + 1] is an upper bound (the number of products) before and the
// number of entries after. FILL = 1: the entries are written from c_ptr[i] on, sorted by their ranks. `rows`: the list
// of rows.
// SINGLE: no row of B has more than one entry, so each lane takes an entry of A, and the first of the lanes whose
// products are in the same column adds them up.
#if KIND == COUNT
typedef i64 cell_t;
#else
typedef Z_T cell_t;
#endif

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    short_rows(i64 n, const i64* rows, MatrixA A, MatrixValues<A_T> a, MatrixB B, MatrixValues<B_T> b, MatrixM M,
               i64 mask_kind, ARGUMENT(Z_T) product, MatrixC C) {
  __shared__ COL_T all_keys[BLOCK / LANES * SLOTS];
#if FILL
  __shared__ cell_t all_cells[KIND == WORDS ? 1 : BLOCK / LANES * SLOTS];
  cell_t* cells = all_cells + (KIND == WORDS ? 0 : threadIdx.x / LANES * SLOTS);
#endif
  COL_T* keys = all_keys + threadIdx.x / LANES * SLOTS;
  const Factors f = {A, a, B, b, M, mask_kind, product};
  const int lane = threadIdx.x & (LANES - 1);
  const u32 group = group_mask<LANES>();
  const i64 at = thread_number() / LANES;
  const bool inside = at < n;
  const i64 i = inside ? rows[at] : 0, out = FILL && inside ? C.ptr[i] : 0;
  const i64 most = inside ? C.ptr[i + 1] - out : 0;
  int bits = 3;  // a table of at least 8 slots, and a third more than the most entries possible
  while (bits < LOG_SLOTS && 3ll << bits < 4 * most) ++bits;
  const u32 last = (1u << bits) - 1;
  for (u32 slot = lane; slot <= last; slot += LANES) keys[slot] = NO_KEY;
  __syncwarp();

  u32 fresh = 0;
  const i64 a_end = inside ? (i64)A.ptr[i + 1] : 0;
  for (i64 p = inside ? (i64)A.ptr[i] + lane : lane; __any_sync(ALL_LANES, p - lane < a_end); p += LANES) {
#if SINGLE
    const Factors::Partner x = f.partner(p, a_end, i);
#if FILL && KIND != WORDS
    const u32 peers = peers_of(x, group);
    const bool first = (peers & (0u - peers)) == 1u << (threadIdx.x & 31);
    const int found = first ? insert(keys, last, 32 - bits, x.j) : 0, slot = found < 0 ? -1 - found : found;
    fresh += found < 0;
#if KIND == VALUES
    const Z_T z = x.there ? f.product(p, x.q, i, x.k, (i64)x.j) : Z_T();
    const Z_T sum = plus_those(first && found >= 0 ? add(cells[slot], z) : z, z, first ? peers & (peers - 1) : 0);
    if (first) cells[slot] = sum;
#else
    if (first) cells[slot] = (found < 0 ? 0 : cells[slot]) + __popc(peers);
#endif
#else
    if (x.there) fresh += insert(keys, last, 32 - bits, x.j) < 0;
#endif
    __syncwarp();  // before the next entries
#else
    const i64 my_k = p < a_end ? (i64)A.columns()[p] : 0;
    const i64 my_begin = p < a_end ? (i64)B.ptr[my_k] : 0, my_end = p < a_end ? (i64)B.ptr[my_k + 1] : 0;
    for (int peer = 0; peer < LANES && __any_sync(ALL_LANES, p - lane + peer < a_end); ++peer) {
      const i64 k = __shfl_sync(ALL_LANES, my_k, peer, LANES);
      const i64 end = __shfl_sync(ALL_LANES, my_end, peer, LANES);
      for (i64 q = __shfl_sync(ALL_LANES, my_begin, peer, LANES) + lane; q < end; q += LANES) {
        const COL_T j = B.columns()[q];
        if (!f.allows(i, j)) continue;
        const int found = insert(keys, last, 32 - bits, j), slot = found < 0 ? -1 - found : found;
        fresh += found < 0;
#if FILL && KIND == VALUES
        const Z_T z = f.product(p - lane + peer, q, i, k, (i64)j);
        cells[slot] = found < 0 ? z : add(cells[slot], z);
#elif FILL && KIND == COUNT
        cells[slot] = found < 0 ? 1 : cells[slot] + 1;
#else
        (void)k, (void)slot;
#endif
      }
      __syncwarp();  // before the products of the next k
    }
#endif
  }

#if FILL
  (void)fresh;
  int count = 0;  // move the found columns to the front
  for (u32 base = 0; __any_sync(ALL_LANES, base <= last); base += LANES) {
    const u32 slot = base + lane;
    const COL_T key = slot <= last ? keys[slot] : NO_KEY;
    const cell_t cell = KIND != WORDS && key != NO_KEY ? cells[slot] : cell_t();
    const u32 full = __ballot_sync(ALL_LANES, key != NO_KEY) & group;
    __syncwarp();  // all reads are done before any write
    if (key != NO_KEY) {
      const int place = count + __popc(full & ((1u << (threadIdx.x & 31)) - 1));
      keys[place] = key;
      if (KIND != WORDS) cells[place] = cell;
    }
    count += __popc(full);
    __syncwarp();
  }
  for (int e = lane; e < count; e += LANES) {
    const COL_T key = keys[e];
    int rank = 0;
    for (int other = 0; other < count; ++other) rank += keys[other] < key;
    C.col[out + rank] = key;
    if (KIND == VALUES) C.values[out + rank] = cells[e];
    if (KIND == COUNT) C.values[out + rank] = repeated(product, cast<i64>(cells[e]));
  }
#else
  (void)C.col, (void)C.values, (void)group;
#pragma unroll
  for (int d = LANES / 2; d; d >>= 1) fresh += __shfl_xor_sync(ALL_LANES, fresh, d);
  if (inside && lane == 0) C.ptr[i + 1] = fresh;
#endif
}
#endif  // KERNEL_short_rows

#ifdef KERNEL_long_rows
// SpGEMM for long rows of C = A (+).(x) B.
// A block takes one row after the other and marks its columns in a bitset, so they come out in order without sorting.
// FILL = 0 counts them: c_ptr[i + 1]. FILL = 1 writes them from c_ptr[i] on and adds each product at the rank of its
// column. BLOCK / 32 rows of B are processed at a time, one per warp, in turns; long ones one by one. The order of
// additions to a cell depends on the entries alone.
// SINGLE: no row of B has more than one entry, so each thread takes an entry of A; threads of a warp whose products
// are in the same column first add them up.
// `found` and `ranks` (words of the bitset, per block) are in shared memory if SHARED_WORDS hold a row.
// rows, row_count and next: the list of rows and the shared counter.
#define WARPS (BLOCK / 32)
#define SUMS (FILL && KIND != WORDS)
#define SHORT 64  // entries of a row of B up to which one warp takes it

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    long_rows(i64 n, const i64* rows, i64 row_count, u64* next, u64* all_found, u32* all_ranks, i64 words, MatrixA A,
              MatrixValues<A_T> a, MatrixB B, MatrixValues<B_T> b, MatrixM M, i64 mask_kind, ARGUMENT(Z_T) product,
              MatrixC C) {
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
  (void)all_found, (void)all_ranks, (void)C.col, (void)C.values;
  __shared__ i64 row;
#if SUMS && !SINGLE
  __shared__ i64 begin[WARPS], end[WARPS], inner[WARPS];
#endif
  __shared__ u32 parts[WARPS];
  const Factors f = {A, a, B, b, M, mask_kind, product};
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
    const i64 a_begin = A.ptr[i], a_end = A.ptr[i + 1];
    const auto mark = [&](COL_T j) {
      const u64 bit = 1ull << (j & 63);
      // Another thread may set it at the same time, which is harmless.
      if (!(((const volatile u64*)found)[j >> 6] & bit) && f.allows(i, j)) atomicOr(&found[j >> 6], bit);
    };
#if SINGLE
    for (i64 p = a_begin + threadIdx.x; p < a_end; p += BLOCK) {
      const i64 k = (i64)A.columns()[p], q = B.ptr[k];
      if (q < (i64)B.ptr[k + 1]) mark(B.columns()[q]);
    }
#else
    for (i64 p = a_begin + warp; p < a_end; p += WARPS) {
      const i64 k = (i64)A.columns()[p], stop = B.ptr[k + 1];
      for (i64 q = (i64)B.ptr[k] + lane; q < stop; q += 32) mark(B.columns()[q]);
    }
#endif
    __syncthreads();
#if FILL
    const i64 out = C.ptr[i];
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
        C.col[place] = (COL_T)(w * 64 + __ffsll(word) - 1);
        if (SUMS) C.values[place] = BEGIN;
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
    if (threadIdx.x == 0) C.ptr[i + 1] = total;
#elif SUMS
    // The cell of column j, null if the mask excludes it.
    const auto cell_of = [&](COL_T j) -> Z_T* {
      const u64 word = found[j >> 6], bit = 1ull << (j & 63);
      return word & bit ? C.values + out + ranks[j >> 6] + __popcll(word & (bit - 1)) : nullptr;
    };
    // `any` keeps the first product, so it is written last.
    const auto add_to_cell = [](Z_T* cell, Z_T z) {
      if (cell) *cell = HAS_TERMINAL == 2 ? z : add(*cell, z);
    };
#if SINGLE
    __syncthreads();
    const i64 batches = (a_end - a_begin + BLOCK - 1) / BLOCK;
    for (i64 batch = 0; batch < batches; ++batch) {
      const i64 p = a_begin + (HAS_TERMINAL == 2 ? batches - 1 - batch : batch) * BLOCK + threadIdx.x;
      const Factors::Partner x = f.partner(p, a_end, i);
      const u32 peers = peers_of(x, ALL_LANES);
      const bool is_first = (peers & (0u - peers)) == 1u << lane;
      const Z_T z = x.there ? f.product(p, x.q, i, x.k, (i64)x.j) : Z_T();
      const Z_T sum = plus_those(z, z, is_first ? peers & (peers - 1) : 0);
      Z_T* cell = is_first ? cell_of(x.j) : nullptr;
      for (int w = 0; w < WARPS; ++w) {
        if (warp == (HAS_TERMINAL == 2 ? WARPS - 1 - w : w)) add_to_cell(cell, sum);
        __syncthreads();
      }
    }
#else
    for (i64 first = a_begin; first < a_end; first += WARPS) {
      const i64 mine = first + warp, p = HAS_TERMINAL == 2 ? a_end - 1 - (mine - a_begin) : mine;
      __syncthreads();
      if (lane == 0) {
        const i64 k = mine < a_end ? (i64)A.columns()[p] : 0;
        inner[warp] = k;
        begin[warp] = mine < a_end ? (i64)B.ptr[k] : 0;
        end[warp] = mine < a_end ? (i64)B.ptr[k + 1] : 0;
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
          const COL_T j = q < end[warp] ? B.columns()[q] : 0;
          cell[u] = q < end[warp] ? cell_of(j) : nullptr;
          if (cell[u]) z[u] = f.product(p, q, i, inner[warp], (i64)j);
        }
        for (int w = 0; w < WARPS; ++w) {
#pragma unroll
          for (int u = 0; u < SHORT / 32; ++u)
            if (w == warp) add_to_cell(cell[u], z[u]);
          __syncthreads();
        }
      } else {
        for (int w = 0; w < WARPS; ++w) {
          const i64 at = HAS_TERMINAL == 2 ? p + warp - w : p + w - warp;
          for (i64 q = begin[w] + threadIdx.x; q < end[w]; q += BLOCK) {
            const COL_T j = B.columns()[q];
            Z_T* cell = cell_of(j);
            if (cell) add_to_cell(cell, f.product(at, q, i, inner[w], (i64)j));
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
#endif  // KERNEL_long_rows
