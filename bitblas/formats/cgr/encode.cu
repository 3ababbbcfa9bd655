// Encode CSR rows as CGR codes (layout.py), one thread per row.
// FILL 0: sizes[row] = its number of bits. FILL 1: write the bits, and where each row ends; ends[row] is the same,
// counted from the start of its group of rows. Words are zero before, because rows share them.
// segment: bits of a segment, or more than any row has. Rows of more than `longest` entries are encoded by a separate
// launch over the list row_of (LISTED): one lane encodes the intervals of a row and a lane of another warp its
// residuals, because a warp whose lanes diverge takes the time of all branches. parts: bits and segments of both,
// which FILL 0 computes.
#include "formats/cgr/code.cuh"

__device__ __forceinline__ int gamma_size(u32 x) { return 2 * (31 - __clz((int)(x + 1))) + 1; }
__device__ __forceinline__ int zeta_size(u32 x) { return 4 * ((31 - __clz((int)(x + 1))) / 3 + 1); }

__device__ __forceinline__ void put_code(u32* words, i64& at, u64 code, int size) {
  const u64 bits = code << (64 - size);
  const u32 shift = (u32)at & 31;
  u32* word = words + (at >> 5);
  const u32 first = (u32)(bits >> 32 >> shift), second = (u32)(bits >> shift), third = shift ? (u32)bits << (32 - shift) : 0;
  if (first) atomicOr(word, first);
  if (second) atomicOr(word + 1, second);
  if (third) atomicOr(word + 2, third);
  at += size;
}
__device__ __forceinline__ void put_gamma(u32* words, i64& at, u32 x) { put_code(words, at, (u64)x + 1, gamma_size(x)); }
__device__ __forceinline__ void put_zeta(u32* words, i64& at, u32 x) {
  const int size = zeta_size(x);
  put_code(words, at, 1ull << (size / 4 * 3) | ((u64)x + 1), size);
}

// The intervals of a row (`runs`), or its residuals, one after the other.
struct Items {
  const int* col;
  i64 row, e, stop;
  bool runs;
  i64 end;   // end of the run of consecutive columns around entry e
  int last;  // the previous column

  __device__ Items(const int* columns, i64 of, i64 begin, i64 stop, bool runs)
      : col(columns), row(of), e(begin), stop(stop), runs(runs), end(begin), last(0) {
    seek();
  }
  __device__ void seek() {
    for (; e < stop; e = end) {
      end = e + 1;
      while (end < stop && col[end] == col[end - 1] + 1) ++end;
      if ((end - e >= LEAST) == runs) return;
    }
  }
  __device__ bool some() const { return e < stop; }
  __device__ void next() {
    last = runs ? col[end - 1] : col[e];
    e = runs ? end : e + 1;
    if (e == end) seek();
  }
  __device__ u32 value(bool first) const {
    if (!first) return (u32)(col[e] - last) - 1;
    const int apart = col[e] - (int)row;
    return apart >= 0 ? 2 * (u32)apart : 2 * (u32)(-(apart + 1)) + 1;
  }
  __device__ i64 size(bool first) const {
    const u32 x = value(first);
    return runs ? gamma_size(x) + gamma_size((u32)(end - e) - LEAST) : zeta_size(x);
  }
  __device__ void put(u32* words, i64& at, bool first) const {
    const u32 x = value(first);
    if (!runs) return put_zeta(words, at, x);
    put_gamma(words, at, x);
    put_gamma(words, at, (u32)(end - e) - LEAST);
  }
};

// Segments, and bits in total: a segment that is not filled joins the one before.
__device__ u32 segments_of(Items items, i64 segment, i64& bits) {
  u32 segments = 0, count = 0, full = 0;
  // Bits of the last segment: on its own, as part of the previous one; and of the previous one.
  i64 size = 0, joined = 0, before = 0;
  for (; items.some(); items.next()) {
    i64 more = items.size(count == 0);
    if (gamma_size(count + 1) + size + more > segment) {
      before = size, full = count, ++segments;
      size = joined = count = 0;
      more = items.size(true);
    }
    joined += count == 0 ? items.size(segments == 0) : more;
    size += more, ++count;
  }
  if (segments) bits = gamma_size(segments - 1) + (segments - 1) * segment + gamma_size(full + count) + before + joined;
  else bits = gamma_size(0) + gamma_size(count) + size, segments = 1;
  return segments;
}

__device__ void put_items(Items items, i64 segment, u32 segments, u32* words, i64& at) {
  put_gamma(words, at, segments - 1);
  const i64 area = at;
  for (u32 s = 1; s <= segments; ++s) {
    u32 count = 0;
    i64 size = 0;
    for (Items ahead = items; ahead.some(); ahead.next(), ++count) {
      size += ahead.size(count == 0);
      if (s < segments && gamma_size(count + 1) + size > segment) break;
    }
    put_gamma(words, at, count);
    for (u32 k = 0; k < count; ++k, items.next()) items.put(words, at, k == 0);
    if (s < segments) at = area + s * segment;
  }
}

#define SEGMENTS_BITS 27

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
encode(i64 n, i64 segment, i64 longest, const i64* row_of, i64* parts, const PTR_T* ptr, const int* col, i64* sizes,
       const i64* heads, const i64* ends, u32* words) {
  (void)sizes, (void)heads, (void)ends, (void)words, (void)row_of, (void)parts, (void)longest;
#if LISTED
  const i64 h = thread_number() / LANES;
  const bool runs = !(thread_number() & 32);
  if (h >= n || (threadIdx.x & 31)) return;
  const i64 row = row_of[h], begin = ptr[row], stop = ptr[row + 1];
  const Items items(col, row, begin, stop, runs);
  i64* part = parts + 2 * h;
#if FILL
  i64 at = begin_of<32>(heads, ends, row) + (runs ? 0 : part[0] >> SEGMENTS_BITS);
  put_items(items, segment, (u32)part[!runs] & ((1u << SEGMENTS_BITS) - 1), words, at);
#else
  i64 bits;
  const u32 segments = segments_of(items, segment, bits);
  part[!runs] = bits << SEGMENTS_BITS | segments;
  atomicAdd((u64*)sizes + row, (u64)bits);
#endif
#else
  const i64 row = thread_number();
  if (row >= n) return;
  const i64 begin = ptr[row], stop = ptr[row + 1];
#if FILL
  put_end<32>(heads, ends, words, row);
  if (begin == stop || stop - begin > longest) return;
  i64 at = begin_of<32>(heads, ends, row);
#else
  if (stop - begin > longest) return;
  i64 size = 0;
#endif
  for (int kind = 0; kind < 2 && begin < stop; ++kind) {
    const Items items(col, row, begin, stop, !kind);
    i64 bits;
    const u32 segments = segments_of(items, segment, bits);
#if FILL
    put_items(items, segment, segments, words, at);
#else
    (void)segments;
    size += bits;
#endif
  }
#if !FILL
  sizes[row] = size;
#endif
#endif
}
