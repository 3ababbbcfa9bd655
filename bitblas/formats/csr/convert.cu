// Matrices by rows. Conversions: expand row pointers, check arrays, extract a region, sort keys, distribute entries.
// Facts: symmetry, hub columns, and samples of the structure.
#include "formats/csr/columns.cuh"
#include "formats/csr/search.cuh"
#ifdef PACKED
typedef AnyColumn<PACKED, COL_T> Column;
typedef CsrView<PTR_T, Column> Matrix;
#endif

#ifdef KERNEL_rows
// Expand row pointers: the row number of every entry. One thread per entry.
extern "C" __global__ void __launch_bounds__(BLOCK, 4) rows(i64 n, i64 nrows, const PTR_T* ptr, i64* out) {
  const i64 entry = thread_number();
  if (entry < n) out[entry] = range_of(ptr, nrows, entry);
}
#endif  // KERNEL_rows

#ifdef KERNEL_check
// Validate CSR arrays from outside.
// wrong[0] = 1 if pointers do not rise from 0 to `nvals`, wrong[1] if a column is outside of `ncols`, wrong[2] if
// columns do not ascend within a row. Valid input leaves `wrong` unchanged.
// One thread per entry, and one per row: in rows without an order few row starts coincide with a descent.
extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    check(i64 n, i64 nrows, i64 nvals, i64 ncols, const PTR_T* ptr, const COL_T* col, u8* wrong) {
  const i64 k = thread_number();
  if (k < nrows) {
    const i64 begin = ptr[k], end = ptr[k + 1];
    if (begin > end || (k == 0 && begin != 0) || (k == nrows - 1 && end != nvals)) wrong[0] = 1;
  }
  if (k >= nvals) return;
  const i64 j = col[k];
  if ((u64)j >= (u64)ncols) wrong[1] = 1;
  if (k > 0 && (i64)col[k - 1] >= j && (i64)ptr[range_of(ptr, nrows, k)] != k) wrong[2] = 1;
}
#endif  // KERNEL_check

#ifdef KERNEL_clip
// Extract a region by rows.
// Keeps the part of each row in rows [row_low, row_high), columns [col_low, col_high) and diagonals column - row in
// [diag_low, diag_high]. Columns ascend, so the part is one run, found by binary search.
// FILL = 0 writes the start of each row's run, and its length to out[row + 1]. FILL = 1 copies the runs to the offsets
// in `out`. LANES lanes share a row.
// begin, out: start and length of each row's run; left, places: kept columns, and with ORDER their positions.
extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    clip(i64 n, Matrix A, i64 row_low, i64 row_high, i64 col_low, i64 col_high, i64 diag_low, i64 diag_high,
         PLACE_T* begin, PLACE_T* out, COL_T* left, PLACE_T* places) {
  const i64 row = thread_number() / LANES;
  const int lane = threadIdx.x & (LANES - 1);
  if (row >= n) return;
  const Column column = A.columns();
#if FILL
  const i64 source = begin[row], target = out[row], count = out[row + 1] - target;
  for (i64 k = lane; k < count; k += LANES) {
    left[target + k] = column[source + k];
#if ORDER
    places[target + k] = (PLACE_T)(source + k);
#endif
  }
#else
  if (lane) return;
  i64 first = A.ptr[row], stop = A.ptr[row + 1];
  const i64 low = max(col_low, row + diag_low), high = min(col_high, row + diag_high + 1);
  if (row >= row_low && row < row_high && low < high) {
    first = lower_bound(column, first, stop, low);
    stop = lower_bound(column, first, stop, high);
  } else {
    stop = first;
  }
  begin[row] = (PLACE_T)first;
  out[row + 1] = (PLACE_T)(stop - first);
  if (row == 0) out[0] = 0;
#endif
}
#endif  // KERNEL_clip

#ifdef KERNEL_keys
// Sort keys for a transpose: column, then row.
// With ORDER the number of the entry replaces the row, which gives the same order. One thread per entry.
// shift: bits of the row, or of the entry number; key: output.
extern "C" __global__ void __launch_bounds__(BLOCK, 4) keys(i64 n, i64 rows, i64 shift, Matrix A, u64* key) {
  const i64 entry = thread_number();
  if (entry >= n) return;
#if ORDER
  const i64 second = entry;
#else
  const i64 second = range_of(A.ptr, rows, entry);
#endif
  key[entry] = (u64)A.columns()[entry] << shift | (u64)second;
}
#endif  // KERNEL_keys

#ifdef KERNEL_distribute
// Distribute the entries of a chunk to their rows, in any order within a row.
// Rows are `first` .. `first` + `some` - 1.
// at[row]: the next free slot; it only grows. COUNT: count only. Slots from end[row] on belong to other rows and are
// not written.
extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    distribute(i64 n, const i64* rows, const i64* cols, i64 first, i64 some, i64* at, const i64* end, COL_T* col) {
  const i64 entry = thread_number();
  if (entry >= n) return;
  const i64 row = rows[entry] - first;
  if (row < 0 || row >= some) return;
  const u64 place = atomicAdd((u64*)at + row, 1ull);
#if !COUNT
  if ((i64)place < end[row]) col[place] = (COL_T)cols[entry];
#else
  (void)cols, (void)end, (void)col, (void)place;
#endif
}
#endif  // KERNEL_distribute

#ifdef KERNEL_mirror
// Symmetry test on rows: per chunk of CHUNK entries, the hash difference of entries and mirror images.
// Hashes: kernels/scramble.cuh. A warp takes a chunk.
#include "kernels/views.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4) mirror(i64 n, i64 rows, i64 nvals, Matrix A, u64* sums) {
  const i64 chunk = thread_number() / 32;
  if (chunk >= n) return;
  const i64 end = (chunk + 1) * CHUNK, stop = end < nvals ? end : nvals;
  const Column column = A.columns();
  i64 e = chunk * CHUNK + (threadIdx.x & 31);
  i64 row = e < stop ? range_of(A.ptr, rows, e) : 0;
  u64 sum = 0;
  for (; e < stop; e += 32) {
    for (int near = 0; near < 4 && (i64)A.ptr[row + 1] <= e; ++near) ++row;
    if ((i64)A.ptr[row + 1] <= e) row += range_of(A.ptr + row, rows - row, e);
    sum += unlike_mirror(scramble((u64)row), scramble((u64)column[e]));
  }
#pragma unroll
  for (int d = 16; d; d >>= 1) sum += __shfl_xor_sync(ALL_LANES, sum, d);
  if ((threadIdx.x & 31) == 0) sums[chunk] = sum;
}
#endif  // KERNEL_mirror

#ifdef KERNEL_hub_columns
// Hub columns for pulls: of each row the column, among its first MOST, that has most entries itself: by[j] to by[j + 1]
// of column j. A pull probably hits there if the vector was found along rows. Empty rows get none.
#define MOST 1024

extern "C" __global__ void __launch_bounds__(BLOCK, 4) hub_columns(i64 n, Matrix A, const PTR_T* by, COL_T* best) {
  const i64 row = thread_number() / LANES;
  const Column column = A.columns();
  i64 most = -1;
  COL_T at = 0;
  if (row < n) {
    const i64 begin = A.ptr[row], stop = A.ptr[row + 1], end = stop - begin < MOST ? stop : begin + MOST;
#pragma unroll 4
    for (i64 e = begin + (threadIdx.x & (LANES - 1)); e < end; e += LANES) {
      const COL_T j = column[e];
      const i64 length = (i64)by[j + 1] - (i64)by[j];
      if (length > most) most = length, at = j;
    }
  }
#pragma unroll
  for (int d = LANES / 2; d; d >>= 1) {
    const i64 length = __shfl_xor_sync(ALL_LANES, most, d);
    const COL_T j = __shfl_xor_sync(ALL_LANES, at, d);
    if (length > most) most = length, at = j;
  }
  if (row < n && (threadIdx.x & (LANES - 1)) == 0) best[row] = at;
}
#endif  // KERNEL_hub_columns

#ifdef KERNEL_sample
// Sample a matrix by rows to estimate its structure (formats/sampling.py): tile fill, gaps, row lengths, and search
// depth.
// A block does one of three things, by its number. The first `balls` grow a ball around a vertex that an evenly spaced
// edge leaves. The next ones inspect `samples` entries, a warp each. The last ones read row pointers, in `ranges`
// ranges of rows.
// Output: sizes of balls; ends: per range of rows; seen: per sampled entry.
#include "kernels/views.cuh"

// ---- Breadth-first search from one vertex by one block, as long as its vertices fit a hash table in shared memory. ----
#define MOST (SLOTS / 4 * 3)  // vertices of a ball
#define CLIP 65535  // reported if a ball has more than MOST

// sizes[h]: number of vertices within h edges of `from`, for h up to HOPS; unchanged if more than MOST could be found
// (within one edge it follows from the row length of `from`, unless an edge is a loop).
__device__ __forceinline__ void grow_ball(const Matrix& A, i64 from, i64* sizes) {
  const Column column = A.columns();
  __shared__ COL_T vertices[SLOTS];
  __shared__ u16 queue[MOST];  // their slots, in discovery order
  __shared__ i64 begin[BLOCK];
  __shared__ u32 below[BLOCK], parts[BLOCK / 32], found;
  for (u32 slot = threadIdx.x; slot < SLOTS; slot += BLOCK) vertices[slot] = NO_KEY;
  __syncthreads();
  if (threadIdx.x == 0) {
    queue[0] = (u16)(-1 - insert(vertices, SLOTS - 1, 32 - LOG_SLOTS, (COL_T)from));
    found = 1;
    sizes[0] = 1;
  }
  __syncthreads();
  u32 first = 0, last = 1, total;  // range of the queue whose edges are next
  for (int hop = 1; hop <= HOPS; ++hop) {
    u32 edges = 0;
    for (u32 q = first + threadIdx.x; q < last; q += BLOCK) {
      const i64 length = (i64)A.ptr[vertices[queue[q]] + 1] - (i64)A.ptr[vertices[queue[q]]];
      edges += length < CLIP ? (u32)length : CLIP;
    }
    block_sum_below(edges, parts, total);
    if (last + total > MOST) {
      if (hop == 1 && threadIdx.x == 0) sizes[1] = 1 + (i64)A.ptr[from + 1] - (i64)A.ptr[from];
      return;
    }
    for (u32 some = first; some < last; some += BLOCK) {  // the threads share the edges of BLOCK vertices
      const u32 q = some + threadIdx.x;
      const i64 start = q < last ? (i64)A.ptr[vertices[queue[q]]] : 0;
      const i64 end = q < last ? (i64)A.ptr[vertices[queue[q]] + 1] : 0;
      begin[threadIdx.x] = start;
      below[threadIdx.x] = block_sum_below((u32)(end - start), parts, total);
      __syncthreads();
      for (u32 edge = threadIdx.x; edge < total; edge += BLOCK) {
        const i64 owner = range_of(below, BLOCK, edge);
        const int slot = insert(vertices, SLOTS - 1, 32 - LOG_SLOTS, column[begin[owner] + (edge - below[owner])]);
        if (slot < 0) queue[atomicAdd(&found, 1u)] = (u16)(-1 - slot);
      }
      __syncthreads();
    }
    first = last;
    last = found;
    if (threadIdx.x == 0) sizes[hop] = last;
    __syncthreads();  // reads of `found` are done before it grows
  }
}

// ---- Samples of entries and of row lengths. ----
// Sample one entry: number of entries in its tile of size 4, 8, 16, 32, 64; bit length of its column; in 6 bits from
// bit 8 on, bit length of its gap from the previous entry of its row, less 1 (for the first of a row: of twice its
// distance from the diagonal; formats/nib); above them 1 if it is among four consecutive columns, 2 if it is the first
// of them (formats/cgr).
__device__ __forceinline__ void sample_around(const Matrix& A, i64 rows, i64 row, i64 e, u16* seen) {
  const Column column = A.columns();
  const i64 col = column[e], low = col & ~63LL, end = (row | 63) + 1 < rows ? (row | 63) + 1 : rows;
  const int lane = threadIdx.x & 31;
  u64 counts = 0;  // 12 bits each: entries that share a tile of 4, of 8 but not of 4, ..
  for (i64 r = (row & ~63LL) + lane; r < end; r += 32) {
    const i64 stop = A.ptr[r + 1];
    for (i64 e = lower_bound(column, A.ptr[r], stop, low); e < stop; ++e) {
      const i64 there = column[e];
      if (there - low > 63) break;
      const u32 apart = (u32)((r ^ row) | (there ^ col));
      counts += 1ull << 12 * ((apart > 3) + (apart > 7) + (apart > 15) + (apart > 31));
    }
  }
#pragma unroll
  for (int d = 16; d; d >>= 1) counts += __shfl_xor_sync(ALL_LANES, counts, d);
  u32 sum = 0;
#pragma unroll
  for (int k = 0; k < 5; ++k) {
    sum += (u32)(counts >> 12 * k) & 4095;
    if (lane == k) seen[k] = (u16)sum;
  }
  if (lane == 5) {
    const bool first = e == (i64)A.ptr[row];
    const i64 apart = col - (first ? row : (i64)column[e - 1] + 1);
    const int gap = 64 - __clzll(first ? apart < 0 ? -2 * apart - 1 : 2 * apart : apart);
    i64 low_end = e, high_end = e + 1;  // run of consecutive columns around it, as far as four need
    while (low_end > (i64)A.ptr[row] && e - low_end < 3 && (i64)column[low_end - 1] == col - (e - low_end) - 1)
      --low_end;
    while (high_end < (i64)A.ptr[row + 1] && high_end - e < 4 && (i64)column[high_end] == col + (high_end - e))
      ++high_end;
    const int run = high_end - low_end < 4 ? 0 : low_end == e ? 2 : 1;
    seen[5] = (u16)(64 - __clzll(col) | gap << 8 | run << 14);
  }
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    sample(i64 n, i64 rows, i64 nvals, Matrix A, i64 balls, i64 samples, i64 ranges, i64* sizes, i64* ends, u16* seen) {
  (void)n;
  const i64 sampling = (samples + BLOCK / 32 - 1) / (BLOCK / 32);
  i64 unit = blockIdx.x;
  if (unit < balls) {
    grow_ball(A, range_of(A.ptr, rows, (2 * unit + 1) * nvals / (2 * balls)), sizes + unit * (HOPS + 1));
    return;
  }
  unit -= balls;
  if (unit < sampling) {
    const i64 k = unit * (BLOCK / 32) + threadIdx.x / 32;
    if (k >= samples) return;
    const i64 first = k * nvals / samples, next = (k + 1) * nvals / samples;  // one of these, chosen by hash
    const i64 e = first + (i64)(scramble((u64)k) % (u64)(next - first));
    sample_around(A, rows, range_of(A.ptr, rows, e), e, seen + 6 * k);
    return;
  }
  unit -= sampling;
  __shared__ i64 heads[BLOCK / 32], longest[BLOCK / 32];
  i64 head = 0, most = 0;
  for (i64 r = unit * rows / ranges + threadIdx.x; r < (unit + 1) * rows / ranges; r += BLOCK) {
    const i64 length = (i64)A.ptr[r + 1] - (i64)A.ptr[r];
    head += length < HEAD ? length : HEAD;
    most = length > most ? length : most;
  }
#pragma unroll
  for (int d = 16; d; d >>= 1) {
    const i64 other = __shfl_xor_sync(ALL_LANES, most, d);
    head += __shfl_xor_sync(ALL_LANES, head, d);
    most = other > most ? other : most;
  }
  if ((threadIdx.x & 31) == 0) heads[threadIdx.x / 32] = head, longest[threadIdx.x / 32] = most;
  __syncthreads();
  if (threadIdx.x) return;
#pragma unroll
  for (int warp = 1; warp < BLOCK / 32; ++warp) {
    head += heads[warp];
    most = longest[warp] > most ? longest[warp] : most;
  }
  ends[2 * unit] = head;
  ends[2 * unit + 1] = most;
}
#endif  // KERNEL_sample
