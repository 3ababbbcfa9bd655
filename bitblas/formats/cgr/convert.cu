// Encode and decode CGR rows, and read facts about them.
#include "formats/cgr/code.cuh"

#ifdef KERNEL_encode
// Encode CSR rows as CGR codes (layout.py), one thread per row.
// FILL 0: sizes[row] = its number of bits. FILL 1: write the bits, and where each row ends; ends[row] is the same,
// counted from the start of its group of rows. Words are zero before, because rows share them.
// segment: bits of a segment, or more than any row has. Rows of more than `longest` entries are encoded by a separate
// launch over the list row_of (LISTED): one lane encodes the intervals of a row and a lane of another warp its
// residuals, because a warp whose lanes diverge takes the time of all branches. parts: bits and segments of both,
// which FILL 0 computes.

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
#endif  // KERNEL_encode

#ifdef KERNEL_decode
// Decode CGR codes to CSR rows, one thread per row: all rows, or (row_stride 1) those listed in row_of.
// FILL 0: counts[k] = number of entries of the k-th row. FILL 1: write their columns from counts[k] on, and with ORDER
// the position of each if intervals came first. FILL 2: counts[k] = 1 if the row cannot be decoded within its bits and
// the matrix's columns, else 0.

// Read the intervals of a row, or its residuals, segment by segment in one lane.
struct Part {
  i64 at, area;  // the next bit, and the start of the first segment
  u32 segments, number, left;  // number of segments, the current one, and the codes left in it
  i64 column;                  // the last column

  __device__ __forceinline__ Part(const u32* words, i64 begin, i64 row) : at(begin), number(0), column(row) {
    segments = gamma_at(words, at) + 1;
    area = at;
    left = gamma_at(words, at);
    first = true;
  }
  __device__ __forceinline__ bool more(const u32* words, i64 segment, i64 row) {
    if (!left && number + 1 < segments) {
      at = area + ++number * segment;
      left = gamma_at(words, at);
      column = row, first = true;
    }
    return left != 0;
  }
  // The next column, or the first of an interval of `length` columns.
  __device__ __forceinline__ i64 residual(const u32* words) {
    u32 used = 0;
    const u32 value = zeta_in(window(words, at), used);
    at += used;
    return follow(value);
  }
  __device__ __forceinline__ i64 interval(const u32* words, i64& length) {
    const i64 begin = follow(gamma_at(words, at));
    length = (i64)gamma_at(words, at) + LEAST;
    column = begin + length - 1;
    return begin;
  }

 private:
  bool first;
  __device__ __forceinline__ i64 follow(u32 value) {
    column += first ? (i64)(int)unfolded(value) : (i64)value + 1;
    --left, first = false;
    return column;
  }
};

// Read numbers within limits.
struct Careful {
  const u32* words;
  i64 at, end;
  bool sound;
  __device__ u64 number(bool zeta) {
    if (at >= end) sound = false;
    if (!sound) return 0;
    const u64 bits = window(words, at);
    const int h = __clzll((i64)bits), size = zeta ? 4 * (h + 1) : 2 * h + 1;
    at += size;
    if (h > (zeta ? 10 : 31) || at > end) sound = false;
    if (!sound) return 0;
    const u64 found = zeta ? bits << (h + 1) >> (64 - 3 * (h + 1)) : bits >> (63 - 2 * h);
    if (!found || found - 1 > 0xffffffffull) sound = false;
    return sound ? found - 1 : 0;
  }
  __device__ void part(i64 segment, i64 row, i64 columns, bool runs) {
    const i64 segments = (i64)number(false) + 1, area = at;
    if (segments > 1 && (segments - 1 > (end - at) / segment)) sound = false;
    for (i64 s = 0; s < segments && sound; ++s) {
      if (s) at = area + s * segment;
      const i64 count = (i64)number(false);
      if (count > end - at) sound = false;
      i64 column = row;
      for (i64 k = 0; k < count && sound; ++k) {
        const u64 value = number(!runs);
        column += k ? (i64)value + 1 : (i64)(value >> 1) ^ -(i64)(value & 1);
        const i64 length = runs ? (i64)number(false) + LEAST : 1;
        if (column < 0 || column + length > columns) sound = false;
        column += length - 1;
      }
    }
  }
};

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
decode(i64 n, const i64* row_of, i64 row_stride, i64 columns, i64 segment, const i64* heads, const u32* words, i64* counts,
       int* col, i64* place) {
  (void)columns, (void)col, (void)place;
  const i64 k = thread_number();
  if (k >= n) return;
  const i64 row = row_stride ? row_of[k] : k;
  const Extent x = row_extent(heads, words, row);
#if FILL == 2
  Careful reader = {words, x.at, x.end, true};
  if (x.at < x.end) {
    reader.part(segment, row, columns, true);
    reader.part(segment, row, columns, false);
  }
  counts[k] = !reader.sound;
#else
  if (x.at == x.end) return;
  Part runs(words, x.at, row);
  i64 inside = 0, length = 0;
  while (runs.more(words, segment, row)) runs.interval(words, length), inside += length;
  Part others(words, runs.at, row);
#if FILL == 0
  i64 count = inside;
  for (u32 s = 0; s < others.segments; ++s) {
    i64 at = others.area + s * segment;
    count += gamma_at(words, at);
  }
  counts[k] = count;
#else
  runs = Part(words, x.at, row);
  i64 e = counts[k], j = 0, run = 0;
  i64 in_runs = e, in_others = e + inside;  // positions of the next entry of either kind
  bool some = runs.more(words, segment, row), other = others.more(words, segment, row);
  if (some) run = runs.interval(words, length);
  if (other) j = others.residual(words);
  while (some || other) {
    if (some && (!other || run < j)) {
      for (i64 x = 0; x < length; ++x, ++e) {
        col[e] = (int)(run + x);
        if (ORDER) place[e] = in_runs++;
      }
      some = runs.more(words, segment, row);
      if (some) run = runs.interval(words, length);
    } else {
      col[e] = (int)j;
      if (ORDER) place[e] = in_others++;
      ++e;
      other = others.more(words, segment, row);
      if (other) j = others.residual(words);
    }
  }
#endif
#endif
}
#endif  // KERNEL_decode

#ifdef KERNEL_marks
// Marks of the parts of long rows, `size` words each. One warp per row rows[h], whose first part is number first[h].
// A mark has, for the intervals and then for the residuals that begin in the part: the start of the first segment, the
// number of segments, and the entries of the row before them.
#include "formats/cgr/walk.cuh"

// Segments of an area that begin before bit `limit`.
__device__ __forceinline__ i64 begun(i64 area, i64 segments, i64 segment, i64 limit) {
  if (limit <= area) return 0;
  const i64 found = (limit - area - 1) / segment + 1;
  return found < segments ? found : segments;
}

extern "C" __global__ void __launch_bounds__(BLOCK, 3)
marks(i64 n, i64 segment, const i64* heads, const u32* words, i64 size, const i64* rows, const i64* first, i64* begin) {
  const i64 hub = thread_number() / 32;
  if (hub >= n) return;
  const int lane = threadIdx.x & 31;
  const Extent x = row_extent(heads, words, rows[hub]);
  const i64 width = 32 * size, parts = (words_of(x) + size - 1) / size;
  i64 place = x.at, before = 0;
  for (int kind = 0; kind < 2; ++kind) {
    const i64 segments = (i64)gamma_at(words, place) + 1, area = place;
    i64 end = 0;
    for (i64 s = 0; s < segments; s += 32) {
      const i64 mine = s + lane;
      i64 at = area + mine * segment, count = 0;
      if (mine < segments) {
        count = gamma_at(words, at);
        if (!kind) {
          u32 left = (u32)count;
          for (count = 0; left; --left) gamma_at(words, at), count += (i64)gamma_at(words, at) + LEAST;
        }
      }
      i64 upto = count;
#pragma unroll
      for (int d = 1; d < 32; d <<= 1) {
        const i64 below = __shfl_up_sync(ALL_LANES, upto, d);
        if (lane >= d) upto += below;
      }
      // The first segment of a part determines how many entries precede it.
      const i64 part = mine < segments ? (area + mine * segment - x.at) / width : 0;
      if (mine < segments && begun(area, segments, segment, x.at + part * width) == mine)
        begin[MARK * (first[hub] + part) + 3 * kind + 2] = before + upto - count;
      before += __shfl_sync(ALL_LANES, upto, 31);
      end = __shfl_sync(ALL_LANES, at, (int)((segments - 1) & 31));
    }
    for (i64 part = lane; part < parts; part += 32) {
      const i64 low = begun(area, segments, segment, x.at + part * width);
      const i64 high = part + 1 < parts ? begun(area, segments, segment, x.at + (part + 1) * width) : segments;
      i64* mark = begin + MARK * (first[hub] + part) + 3 * kind;
      mark[0] = area + low * segment, mark[1] = high - low;
      if (low == high) mark[2] = 0;
    }
    place = end;
  }
}
#endif  // KERNEL_marks

#ifdef KERNEL_likely
// Hub columns for pulls: of each row the column, among its first ones, whose own row has most words (`length`).
// A pull most likely hits there if the vector was found along rows. ~0 for an empty row. One lane per row.
// best: output.
#define TWO_PHASES 0  // in lockstep, rows would wait for the intervals of a hub and end without an entry
#include "formats/cgr/walk.cuh"
#define STEPS 256  // per row; the rest of longer rows is skipped

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
likely(i64 n, const i64* heads, const u32* words, i64 segment, const i64* length, u32* best) {
  const i64 row = thread_number();
  Extent x = {0, 0};
  if (row < n) x = row_extent(heads, words, row);
  Walk<1, false, false> walk(words, x, segment, row, 0, 0);
  i64 most = -1;
  u32 at = ~0u;
  for (int step = 0; step < STEPS && __any_sync(ALL_LANES, walk.more()); ++step) {
    Found found;
    walk.step(words, 0, found);
#pragma unroll
    for (int k = 0; k < TAKEN; ++k) {
      const i64 here = found.has[k] ? length[found.at[k]] : -1;
      if (here > most) most = here, at = found.at[k];
    }
  }
  if (row < n) best[row] = at;
}
#endif  // KERNEL_likely
