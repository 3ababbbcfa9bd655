// SpGEMM for short rows of C = A (+).(x) B.
// LANES lanes share a row and keep it in a hash table in shared memory.
// Row i of A is walked in order, and the lanes take the columns of one row of B: every entry is summed in the order of
// k, without atomics on values. FILL = 0: c_ptr[i + 1] is an upper bound (the number of products) before and the
// number of entries after. FILL = 1: the entries are written from c_ptr[i] on, sorted by their ranks. `rows`: the list
// of rows.
// SINGLE: no row of B has more than one entry, so each lane takes an entry of A, and the first of the lanes whose
// products are in the same column adds them up.
// Arguments: rows, the list of rows; A and B by rows (a_*, b_*); the mask by rows (m_*) and mask_kind (0 none, 1
// structural, 2 complement); product, the value of all products (KIND COUNT); output C by rows (c_*).
#include "formats/csr/gustavson.cuh"
#if KIND == COUNT
typedef i64 cell_t;
#else
typedef Z_T cell_t;
#endif

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
short_rows(i64 n, const i64* rows, const PTR_T* a_ptr, const AColumn::stored* a_col, i64 a_width, const A_T* a_val,
           ARGUMENT(A_T) a_iso, i64 a_stride, const BPTR_T* b_ptr, const BColumn::stored* b_col, i64 b_width, const B_T* b_val,
           ARGUMENT(B_T) b_iso, i64 b_stride, const MPTR_T* m_ptr, const MColumn::stored* m_col, i64 m_width, i64 mask_kind,
           ARGUMENT(Z_T) product, i64* c_ptr, COL_T* c_col, Z_T* c_val) {
  __shared__ COL_T all_keys[BLOCK / LANES * SLOTS];
#if FILL
  __shared__ cell_t all_cells[KIND == WORDS ? 1 : BLOCK / LANES * SLOTS];
  cell_t* cells = all_cells + (KIND == WORDS ? 0 : threadIdx.x / LANES * SLOTS);
#endif
  COL_T* keys = all_keys + threadIdx.x / LANES * SLOTS;
  const Factors f = {a_ptr, {a_col, a_width}, a_val, a_iso, a_stride, b_ptr, {b_col, b_width}, b_val, b_iso, b_stride,
                     m_ptr, {m_col, m_width}, mask_kind, product};
  const int lane = threadIdx.x & (LANES - 1);
  const u32 group = group_mask<LANES>();
  const i64 at = thread_number() / LANES;
  const bool inside = at < n;
  const i64 i = inside ? rows[at] : 0, out = FILL && inside ? c_ptr[i] : 0;
  const i64 most = inside ? c_ptr[i + 1] - out : 0;
  int bits = 3;  // a table of at least 8 slots, and a third more than the most entries possible
  while (bits < LOG_SLOTS && 3ll << bits < 4 * most) ++bits;
  const u32 last = (1u << bits) - 1;
  for (u32 slot = lane; slot <= last; slot += LANES) keys[slot] = NO_KEY;
  __syncwarp();

  u32 fresh = 0;
  const i64 a_end = inside ? (i64)a_ptr[i + 1] : 0;
  for (i64 p = inside ? (i64)a_ptr[i] + lane : lane; __any_sync(ALL_LANES, p - lane < a_end); p += LANES) {
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
    const i64 my_k = p < a_end ? (i64)f.a_col[p] : 0;
    const i64 my_begin = p < a_end ? (i64)b_ptr[my_k] : 0, my_end = p < a_end ? (i64)b_ptr[my_k + 1] : 0;
    for (int peer = 0; peer < LANES && __any_sync(ALL_LANES, p - lane + peer < a_end); ++peer) {
      const i64 k = __shfl_sync(ALL_LANES, my_k, peer, LANES);
      const i64 end = __shfl_sync(ALL_LANES, my_end, peer, LANES);
      for (i64 q = __shfl_sync(ALL_LANES, my_begin, peer, LANES) + lane; q < end; q += LANES) {
        const COL_T j = f.b_col[q];
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
    c_col[out + rank] = key;
    if (KIND == VALUES) c_val[out + rank] = cells[e];
    if (KIND == COUNT) c_val[out + rank] = repeated(product, cast<i64>(cells[e]));
  }
#else
  (void)c_col, (void)c_val, (void)group;
#pragma unroll
  for (int d = LANES / 2; d; d >>= 1) fresh += __shfl_xor_sync(ALL_LANES, fresh, d);
  if (inside && lane == 0) c_ptr[i + 1] = fresh;
#endif
}
