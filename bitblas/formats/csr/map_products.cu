// Products with a map, reduced by row: sum the entries of each row by the key of their column, then choose one key or
// fold the sums. C = A (+).(x) L with at most one entry per row of L, without C.
// Rows are binned by degree. map_short: a thread per row compares all pairs of its keys. map_rows: a warp holds all
// entries of a row. map_tables: a warp or a block with a hash table in shared memory. Hubs: map_parts adds parts of the row
// to a table in global memory, map_slots reduces parts of the table and clears them, map_hubs joins these. Lanes of a warp
// that hold the same key add their products before they touch a table.
// Integer sums are exact in any order. OWNED (floats): each key belongs to one warp, which reads the whole row and adds in
// the order of the entries, 32 at a time, so the order is fixed.
#include "kernels/views.cuh"
#include "formats/csr/columns.cuh"
typedef CsrView<PTR_T, AnyColumn<A_PACKED, COL_T>> MatrixA;

#define NO_KEY 0xffffffffu
#define LARGEST 0
#define SMALLEST 1
#define FIRST 2
#define LAST 3
#define FOLD 4
#define WARPS (THREADS / 32)

// A map: the key of each column (negative: none), and the values of its entries.
struct KeysView {
  const int* key;
  const B_T* values;
  ARGUMENT(B_T) iso;
  i64 stride;
};

// The output, and what a choice reads: x per row and y per key for the score, or x alone for an operator that is applied
// to the sums (APPLIED; 2: a test); the row's own key, which is not chosen; the rows that are computed.
struct ChoiceView {
  const X_T* x;
  const X_T* y;
  const int* own;
  const bool* active;
  K_T* key;
  S_T* score;
  Z_T* own_sum;
};

struct Best {
  bool some;
  S_T score;
  u32 key;
};

__device__ __forceinline__ void join(Best& a, const Best& b) {
  if (!b.some) return;
#if SELECT == FOLD
  if (a.some) a.score = fold(a.score, b.score);
  else a = b;
#else
#if SELECT == LARGEST || SELECT == SMALLEST
  const bool better = SELECT == LARGEST ? b.score > a.score : b.score < a.score;
  const bool before = better || (b.score == a.score && b.key < a.key);
#else
  const bool before = SELECT == FIRST ? b.key < a.key : b.key > a.key;
#endif
  if (!a.some || before) a = b;
#endif
}

template <int G> __device__ __forceinline__ void join_group(Best& best) {
#pragma unroll
  for (int d = G / 2; d; d >>= 1) {
    const Best other = {(bool)shuffle_xor(ALL_LANES, best.some, d), shuffle_xor(ALL_LANES, best.score, d),
                        __shfl_xor_sync(ALL_LANES, best.key, d)};
    join(best, other);
  }
}

// What a row adds to the choice between its keys.
struct Row {
  i64 i;
  X_T x;
  u32 own;
  __device__ __forceinline__ Row(i64 row, bool open, const ChoiceView& to)
      : i(row), x((SCORED || APPLIED) && open ? to.x[SCORED ? row : 0] : X_T()),
        own(OWN && open ? (u32)to.own[row] : NO_KEY) {}

  __device__ __forceinline__ Best candidate(u32 k, Z_T sum, const ChoiceView& to) const {
#if OWN
    if (k == own) {
      to.own_sum[i] = sum;
      return {false, S_T(), k};
    }
#endif
#if APPLIED == 2
    if (!f(sum, x, i, (i64)k)) return {false, S_T(), k};
    const S_T s = score(sum, S_T(), S_T());
#elif APPLIED
    const S_T s = to_score(f(sum, x, i, (i64)k));
#else
    const S_T s = score(sum, x, SCORED ? to.y[k] : X_T());
#endif
    return {SELECT > SMALLEST || s == s, s, k};  // NaN is neither the largest nor the smallest
  }
  __device__ __forceinline__ void write(const Best& best, const ChoiceView& to) const {
    to.key[i] = best.some ? (K_T)best.key : K_T(-1);
    if (SCORES && best.some) to.score[i] = best.score;
  }
};

// The sum of a key: the number of its products if all are equal (COUNT), else their sum.
#if COUNT
typedef u32 sum_t;
__device__ __forceinline__ sum_t joined(sum_t x, sum_t y) { return x + y; }
__device__ __forceinline__ Z_T total(sum_t x, Z_T product) { return repeated(product, (i64)x); }
#else
typedef Z_T sum_t;
__device__ __forceinline__ sum_t joined(sum_t x, sum_t y) { return add(x, y); }
__device__ __forceinline__ Z_T total(sum_t x, Z_T) { return x; }
#endif

struct Entries {
  const MatrixA& A;
  const MatrixValues<A_T>& a;
  const KeysView& keys;

  // The key of entry e, and its column.
  __device__ __forceinline__ u32 key(i64 e, i64& column) const {
    column = (i64)A.columns()[e];
    const int k = keys.key[column];
    return k < 0 ? NO_KEY : (u32)k;
  }
  __device__ __forceinline__ sum_t product(i64 e, i64 i, i64 column, u32 k) const {
#if COUNT
    return 1;
#else
    return mul(a.at(e), keys.stride ? keys.values[column] : B_T(keys.iso), i, column, (i64)k);
#endif
  }
};

// The sum over the lanes with the same key, in its lowest lane, in a fixed order. All lanes of the warp call it.
__device__ __forceinline__ sum_t sum_of_peers(u32 peers, sum_t x) {
#if COUNT
  return (u32)__popc(peers);
#else
  const int lane = threadIdx.x & 31;
  u32 rank = __popc(peers & ((1u << lane) - 1u)), after = peers & (0xfffffffeu << lane);
  while (__any_sync(ALL_LANES, after != 0)) {
    const int next = after ? __ffs(after) - 1 : lane;
    const sum_t y = (sum_t)__shfl_sync(ALL_LANES, (typename Travel<sum_t>::type)x, next);
    if (after) x = joined(x, y);
    after &= __ballot_sync(ALL_LANES, !(rank & 1u));
    rank >>= 1;
  }
  return x;
#endif
}

#ifdef KERNEL_map_short
// Rows of at most MOST entries, a thread for each. row_stride 0: the rows are 0 to n - 1, and longer ones are skipped.
extern "C" __global__ void __launch_bounds__(BLOCK)
    map_short(i64 n, const int* rows, i64 row_stride, MatrixA A, MatrixValues<A_T> a, KeysView keys,
              ARGUMENT(Z_T) product, ChoiceView to) {
  await_previous();
  const i64 at = thread_number(), i = at < n ? (row_stride ? (i64)rows[at] : at) : 0;
  if (at >= n || (ACTIVE && !to.active[i])) return;
  const i64 begin = A.ptr[i], size = (i64)A.ptr[i + 1] - begin;
  if (size > MOST) return;
  const Row row(i, true, to);
  const Entries entries = {A, a, keys};
  u32 key[MOST];
  sum_t product_of[MOST];
#pragma unroll
  for (int e = 0; e < MOST; ++e) {
    i64 column = 0;
    key[e] = e < size ? entries.key(begin + e, column) : NO_KEY;
    product_of[e] = key[e] != NO_KEY ? entries.product(begin + e, i, column, key[e]) : sum_t();
  }
  Best best = {false, S_T(), NO_KEY};
#pragma unroll
  for (int e = 0; e < MOST; ++e) {
    if (key[e] == NO_KEY) continue;
    sum_t sum = product_of[e];
#pragma unroll
    for (int later = e + 1; later < MOST; ++later) {
      if (key[later] != key[e]) continue;
      sum = joined(sum, product_of[later]);
      key[later] = NO_KEY;
    }
    join(best, row.candidate(key[e], total(sum, product), to));
  }
  row.write(best, to);
}
#endif  // KERNEL_map_short

#ifdef KERNEL_map_rows
// Rows of at most 32 entries, one for each lane of a warp. row_stride 0: the rows are 0 to n - 1.
extern "C" __global__ void __launch_bounds__(BLOCK)
    map_rows(i64 n, const int* rows, i64 row_stride, MatrixA A, MatrixValues<A_T> a, KeysView keys,
             ARGUMENT(Z_T) product, ChoiceView to) {
  await_previous();
  const int lane = threadIdx.x & 31;
  const i64 at = thread_number() / 32, i = at < n ? (row_stride ? (i64)rows[at] : at) : 0;
  const bool open = at < n && (!ACTIVE || to.active[i]);
  const i64 e = open ? (i64)A.ptr[i] + lane : 0;
  const bool has = open && e < (i64)A.ptr[i + 1];
  const Row row(i, open, to);
  const Entries entries = {A, a, keys};
  i64 column = 0;
  const u32 k = has ? entries.key(e, column) : NO_KEY;
  const u32 peers = __match_any_sync(ALL_LANES, k);
  const sum_t sum = sum_of_peers(peers, k != NO_KEY ? entries.product(e, i, column, k) : sum_t());
  const bool first = (peers & ((1u << lane) - 1u)) == 0;
  Best best = {false, S_T(), NO_KEY};
  if (first && k != NO_KEY) best = row.candidate(k, total(sum, product), to);
  join_group<32>(best);
  if (lane == 0 && open) row.write(best, to);
}
#endif  // KERNEL_map_rows

// ---- Hash tables with linear probing, in shared or global memory.

__device__ __forceinline__ u32 hash(u32 k) { return k * 2654435769u; }

struct Table {
  u32* keys;
  C_T* cells;
  u32 size;

  __device__ __forceinline__ void clear(u32 i) const {
    keys[i] = NO_KEY;
    cells[i] = COUNT ? C_T(0) : back(BEGIN);
  }
  __device__ __forceinline__ u32 slot(u32 k) const {
    u32 i = __umulhi(hash(k), size);
    for (;;) {
      u32 was = peek(keys + i);
      if (was == NO_KEY) was = atomicCAS(keys + i, NO_KEY, k);
      if (was == NO_KEY || was == k) return i;
      if (++i == size) i = 0;
    }
  }
  __device__ __forceinline__ void insert(u32 k, sum_t x) const {
    C_T* cell = cells + slot(k);
#if COUNT
    atomicAdd(cell, x);
#elif OWNED
    *cell = back(add(take(*cell), x));
#elif ATOMIC == 1
    typedef typename Cell<sizeof(C_T)>::type raw_t;  // the sum wraps, signed or not
    atomicAdd((raw_t*)cell, (raw_t)back(x));
#else
    update_cell(cell, [=](C_T old) { return back(add(take(old), x)); });
#endif
  }
  __device__ __forceinline__ sum_t sum(u32 i) const {
#if COUNT
    return cells[i];
#else
    return take(cells[i]);
#endif
  }
};

// Add the entries begin .. end of row i to a table, by all lanes of several warps: lane `me` of `step`. OWNED: only the
// keys of one of `owners`.
__device__ __forceinline__ void insert_entries(const Entries& entries, i64 i, i64 begin, i64 end, int me, int step,
                                               u32 owner, u32 owners, const Table& table) {
  const int lane = threadIdx.x & 31;
  for (i64 e = begin + me; e - lane < end; e += step) {
    i64 column = 0;
    u32 k = e < end ? entries.key(e, column) : NO_KEY;
    if (OWNED && owners > 1 && __umulhi(hash(k ^ 0x5bd1e995u), owners) != owner) k = NO_KEY;
    const u32 peers = __match_any_sync(ALL_LANES, k);
    const sum_t x = sum_of_peers(peers, k != NO_KEY ? entries.product(e, i, column, k) : sum_t());
    if (k != NO_KEY && !(peers & ((1u << lane) - 1u))) table.insert(k, x);
    if (OWNED) __syncwarp();
  }
}

#if WARPS > 1
// The best of a block, in thread 0.
__device__ __forceinline__ void join_block(Best& best, Best* part) {
  join_group<32>(best);
  if ((threadIdx.x & 31) == 0) part[threadIdx.x / 32] = best;
  __syncthreads();
  if (threadIdx.x == 0)
    for (int w = 1; w < WARPS; ++w) join(best, part[w]);
}
#endif

#ifdef KERNEL_map_tables
// Rows of at most SLOTS / 2 entries: a warp or a block of LANES lanes with a table of SLOTS slots.
extern "C" __global__ void __launch_bounds__(THREADS)
    map_tables(i64 n, const int* rows, i64 row_stride, MatrixA A, MatrixValues<A_T> a, KeysView keys,
               ARGUMENT(Z_T) product, ChoiceView to) {
  await_previous();
  extern __shared__ u64 shared[];
  const int lane = threadIdx.x & (LANES - 1), group = threadIdx.x / LANES;
  C_T* cells = (C_T*)shared;
  u32* slots = (u32*)(cells + THREADS / LANES * SLOTS);
  const i64 at = (i64)blockIdx.x * (THREADS / LANES) + group, i = at < n ? (row_stride ? (i64)rows[at] : at) : 0;
  const bool open = at < n && (!ACTIVE || to.active[i]);
  const i64 begin = open ? (i64)A.ptr[i] : 0, end = open ? (i64)A.ptr[i + 1] : 0;
  const Row row(i, open, to);
  const Table table = {slots + group * SLOTS, cells + group * SLOTS, (u32)(2 * (end - begin))};
  for (u32 s = lane; s < table.size; s += LANES) table.clear(s);
  const Entries entries = {A, a, keys};
  Best best = {false, S_T(), NO_KEY};
#if LANES == 32
  __syncwarp();
  insert_entries(entries, i, begin, end, lane, 32, 0, 1, table);
  __syncwarp();
#else
  __syncthreads();
  const u32 warp = threadIdx.x / 32;
  if (OWNED) insert_entries(entries, i, begin, end, lane & 31, 32, warp, WARPS, table);
  else insert_entries(entries, i, begin, end, lane, LANES, 0, 1, table);
  __syncthreads();
#endif
  for (u32 s = lane; s < table.size; s += LANES)
    if (table.keys[s] != NO_KEY) join(best, row.candidate(table.keys[s], total(table.sum(s), product), to));
#if LANES == 32
  join_group<32>(best);
#else
  __shared__ Best part[WARPS];
  join_block(best, part);
#endif
  if (lane == 0 && open) row.write(best, to);
}
#endif  // KERNEL_map_tables

// ---- Hubs, some at a time. Hub h has the parts first[h] .. first[h + 1] and the slots base[h] .. base[h + 1].

#ifdef KERNEL_map_parts
// Add the parts from part0 on to the tables: PART entries of a hub, counted in shared memory first; OWNED: the keys of one
// share, of all entries. hub: of each part.
extern "C" __global__ void __launch_bounds__(THREADS)
    map_parts(i64 n, i64 part0, i64 base0, const int* hub, const i64* rows, const i64* first, const i64* base,
              MatrixA A, MatrixValues<A_T> a, KeysView keys, const bool* active, u32* slots, C_T* cells) {
  await_previous();
  (void)n;
  const i64 p = part0 + blockIdx.x, h = hub[p], i = rows[h], number = p - first[h];
  if (ACTIVE && !active[i]) return;
  const i64 begin = A.ptr[i], end = A.ptr[i + 1], at = base[h] - base0;
  const Table table = {slots + at, cells + at, (u32)(base[h + 1] - base[h])};
  const Entries entries = {A, a, keys};
  const u32 warp = threadIdx.x / 32;
#if OWNED
  const u32 owners = (u32)(first[h + 1] - first[h]) * WARPS;
  insert_entries(entries, i, begin, end, threadIdx.x & 31, 32, (u32)number * WARPS + warp, owners, table);
#else
  (void)warp;
  extern __shared__ u64 shared[];
  const Table mine = {(u32*)((C_T*)shared + 2 * PART), (C_T*)shared, 2 * PART};
  for (u32 s = threadIdx.x; s < mine.size; s += THREADS) mine.clear(s);
  __syncthreads();
  const i64 low = begin + number * PART, high = low + PART < end ? low + PART : end;
  insert_entries(entries, i, low, high, threadIdx.x, THREADS, 0, 1, mine);
  __syncthreads();
  for (u32 s = threadIdx.x; s < mine.size; s += THREADS)
    if (mine.keys[s] != NO_KEY) table.insert(mine.keys[s], mine.sum(s));
#endif
}
#endif  // KERNEL_map_parts

#ifdef KERNEL_map_slots
// Reduce PART slots of a hub's table, and clear them for the next one. chunk_hub: of each chunk of slots, chunk_first: the chunks of each hub.
extern "C" __global__ void __launch_bounds__(THREADS)
    map_slots(i64 n, i64 chunk0, i64 base0, const int* chunk_hub, const i64* rows, const i64* chunk_first,
              const i64* base, u32* slots, C_T* cells, ARGUMENT(Z_T) product, ChoiceView to, int* found_key,
              S_T* found) {
  await_previous();
  (void)n;
  __shared__ Best part[WARPS];
  const i64 c = chunk0 + blockIdx.x, h = chunk_hub[c], from = base[h] - base0 + (c - chunk_first[h]) * PART;
  const i64 stop = base[h + 1] - base0 < from + PART ? base[h + 1] - base0 : from + PART;
  const Row row(rows[h], true, to);
  const Table table = {slots, cells, 0};
  Best best = {false, S_T(), NO_KEY};
  for (i64 first = from; first < stop; first += THREADS) {
    const i64 s = first + threadIdx.x;
    const u32 k = s < stop ? slots[s] : NO_KEY;
    if (k != NO_KEY) join(best, row.candidate(k, total(table.sum((u32)s), product), to));
    // Whole lines of memory, because parts of them would be read first
    if (__any_sync(ALL_LANES, k != NO_KEY) && s < stop) table.clear((u32)s);
  }
  join_block(best, part);
  if (threadIdx.x) return;
  found_key[c] = best.some ? (int)best.key : -1;
  found[c] = best.score;
}
#endif  // KERNEL_map_slots

#ifdef KERNEL_map_hubs
// The choice of each hub from those of its chunks, by a warp.
extern "C" __global__ void __launch_bounds__(BLOCK)
    map_hubs(i64 n, const i64* rows, const i64* chunk_first, const int* found_key, const S_T* found, ChoiceView to) {
  await_previous();
  const i64 h = thread_number() / 32;
  Best best = {false, S_T(), NO_KEY};
  for (i64 c = h < n ? chunk_first[h] + (threadIdx.x & 31) : 0; h < n && c < chunk_first[h + 1]; c += 32)
    join(best, {found_key[c] >= 0, found[c], (u32)found_key[c]});
  join_group<32>(best);
  if (h < n && (threadIdx.x & 31) == 0) Row(rows[h], false, to).write(best, to);
}
#endif  // KERNEL_map_hubs
