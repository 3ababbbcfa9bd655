// Masked dot products: C<M> = A B', computed at the entries of the mask, for A and B by rows.
// A block takes 256 entries of the mask, across row boundaries. If several are in one row, that row of A goes into a
// hash table in shared memory, and a warp per entry looks up the row of B'. The other entries walk the shorter row and
// search in the longer one: GROUP lanes per entry, or the whole block if even the shorter row is long.
// product: the value of all products (KIND COUNT). present, sums: output per entry of the mask.
#include "formats/csr/search.cuh"
#include "formats/csr/table.cuh"
#include "kernels/views.cuh"
#include "kernels/dots.cuh"
#include "formats/csr/any_column.cuh"
#include "formats/csr/columns.cuh"
#define AHEAD 4  // loads in flight per lane
typedef AnyColumn<PACKED, COL_T> Far;
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
  __device__ __forceinline__ Z_T product(i64 x, i64 y, i64 i, i64 k, i64 j) const { return mul(a.at(x), b.at(y), i, k, j); }
};

// One lane's share of an entry: every `lanes`-th position of the shorter row, from `lane` on, is searched for in the
// longer.
__device__ __forceinline__ void search(const Factors& f, i64 i, i64 j, int lane, int lanes, Sum& t) {
  const i64 a = f.a.ptr[i], a_end = f.a.ptr[i + 1], b = f.b.ptr[j], b_end = f.b.ptr[j + 1];
  const bool by_a = a_end - a <= b_end - b;
  const Far far(by_a ? f.b.col : f.a.col, f.width);
  const i64 stop = by_a ? a_end : b_end, far_end = by_a ? b_end : a_end;
  i64 low = by_a ? b : a, p = (by_a ? a : b) + lane;
  for (Columns near(by_a ? f.a.col : f.b.col, f.width, p); p < stop; p += lanes, near.skip(lanes)) {
    const COL_T k = near.at(p, 0);
    low = lower_bound(far, low, far_end, k);  // from `low` on, because the near row ascends
    if (low == far_end) break;
    if (far[low] != k) continue;
    if (KIND == VALUES) {
      join(t.some, t.sum, true, f.product(by_a ? p : low, by_a ? low : p, i, k, j));
      if (is_final(t.some, t.sum)) break;
    } else {
      ++t.count;
      if (KIND == WORDS) break;
    }
  }
}

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
dot(i64 n, MaskRows m, i64 width, LeftView a, RightView b, i64 inner, ARGUMENT(Z_T) product, u8* present, Z_T* sums) {
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
