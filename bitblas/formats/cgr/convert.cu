// Encode and decode CGR rows, and read facts about them.
#ifdef KERNEL_hub_columns
#undef TWO_PHASES
#define TWO_PHASES 0  // in lockstep, rows would wait for the intervals of a hub and end without an entry
#endif  // KERNEL_hub_columns
#include "formats/cgr/walk.cuh"

#ifdef KERNEL_encode
// Encode CSR rows as CGR codes (layout.py), one thread per row.
// FILL 0: sizes[row] = its number of bits. FILL 1: write the bits, and where each row ends; ends[row] is the same,
// counted from the start of its group of rows. Words are zero before, because rows share them. first: the number of
// the first row.

__device__ __forceinline__ int gamma_size(u32 x) { return 2 * (31 - __clz((int)(x + 1))) + 1; }
__device__ __forceinline__ int zeta_size(u32 x) { return DIGIT * ((31 - __clz((int)(x + 1))) / ZETA + 1); }

__device__ __forceinline__ void put_code(u32* words, i64& at, u64 code, int size) {
  const u64 bits = code << (64 - size);
  const u32 shift = (u32)at & 31;
  u32* word = words + (at >> 5);
  const u32 first = (u32)(bits >> 32 >> shift), second = (u32)(bits >> shift),
            third = shift ? (u32)bits << (32 - shift) : 0;
  if (first) atomicOr(word, first);
  if (second) atomicOr(word + 1, second);
  if (third) atomicOr(word + 2, third);
  at += size;
}
__device__ __forceinline__ void put_gamma(u32* words, i64& at, u32 x) {
  put_code(words, at, (u64)x + 1, gamma_size(x));
}
__device__ __forceinline__ void put_zeta(u32* words, i64& at, u32 x) {
  const int size = zeta_size(x);
  put_code(words, at, 1ull << (size / DIGIT * ZETA) | ((u64)x + 1), size);
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
  __device__ void put(u32* words, i64& at, bool first) const {
    const u32 x = value(first);
    if (!runs) return put_zeta(words, at, x);
    put_gamma(words, at, x);
    put_gamma(words, at, (u32)(end - e) - LEAST);
  }
  // Pass over the codes of a segment of at most `limit` bits. Returns their number, and in `bits` their bits.
  __device__ u32 take(i64 limit, i64& bits) {
    u32 count = 0;
    for (i64 size = 0; some(); next(), ++count) {
      const u32 x = value(count == 0);
      size += runs ? gamma_size(x) + gamma_size((u32)(end - e) - LEAST) : zeta_size(x);
      if (gamma_size(count + 1) + size > limit) break;
      bits = size;
    }
    return count;
  }
};
#define NO_LIMIT (1ll << 62)

// Segments, and bits in total: a segment that is not filled joins the one before.
__device__ u32 segments_of(Items items, i64& bits) {
  Items last = items;
  u32 filled = 0, count = 0;
  for (Items begin = items;; ++filled) {
    bits = 0;
    count = items.take(SEGMENT, bits);
    if (!items.some()) break;
    last = begin, begin = items;
  }
  if (filled) count = last.take(NO_LIMIT, bits);
  const u32 more = filled ? filled - 1 : 0;
  bits += gamma_size(more) + (i64)more * SEGMENT + gamma_size(count);
  return more + 1;
}

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    encode(i64 n, i64 first, const PTR_T* ptr, const int* col, i64* sizes, const i64* heads, const i64* ends,
           u32* words) {
  (void)sizes, (void)heads, (void)ends, (void)words;
  const i64 row = thread_number();
  if (row >= n) return;
  const i64 begin = ptr[row], stop = ptr[row + 1];
#if FILL
  put_end<32>(heads, ends, words, row);
  i64 at = begin < stop ? begin_of<32>(heads, ends, row) : 0;
#else
  i64 size = 0;
#endif
  for (int kind = 0; kind < 2 && begin < stop; ++kind) {
    Items items(col, first + row, begin, stop, !kind);
    i64 bits;
    const u32 segments = segments_of(items, bits);
#if FILL
    put_gamma(words, at, segments - 1);
    const i64 area = at;
    for (u32 s = 1; s <= segments; ++s) {
      at = area + (i64)(s - 1) * SEGMENT;
      const u32 count = Items(items).take(s < segments ? SEGMENT : NO_LIMIT, bits);
      put_gamma(words, at, count);
      for (u32 k = 0; k < count; ++k, items.next()) items.put(words, at, k == 0);
    }
#else
    size += bits;
    (void)segments;
#endif
  }
#if !FILL
  sizes[row] = size;
#endif
}
#endif  // KERNEL_encode

#ifdef KERNEL_decode
// Decode CGR codes to CSR rows, one thread per row: all rows, or (row_stride 1) those listed in row_of.
// FILL 0: counts[k] = number of entries of the k-th row. FILL 1: write their columns from counts[k] on, and with ORDER
// the position of each if intervals came first. FILL 2: counts[k] = 1 if the row cannot be decoded within its bits and
// the matrix's columns, else 0.

// Read the codes of a row from bit `at` on. FILL 2: within limits; `sound` is false after anything else.
struct Reader {
  const u32* words;
  i64 row, at, end, columns;
  bool sound;

  __device__ __forceinline__ u32 number(bool zeta) {
    if (FILL == 2 && at >= end) sound = false;
    if (!sound) return 0;
    const u64 bits = window(words, at);
    const int h = __clzll((i64)bits);
    at += zeta ? DIGIT * (h + 1) : 2 * h + 1;
    if (FILL == 2 && (h > (zeta ? MOST_DIGITS - 1 : 31) || at > end)) sound = false;
    if (!sound) return 0;
    const u64 found = zeta ? bits << (h + 1) >> (64 - ZETA * (h + 1)) : bits >> (63 - 2 * h);
    if (FILL == 2 && (!found || found > 1ull << 32)) sound = false;
    return (u32)found - 1;
  }
  // segment() at the start of each segment of intervals, or of residuals.
  template <class F> __device__ __forceinline__ void segments(F segment) {
    const i64 more = number(false), area = at;
    if (FILL == 2 && more && more > (end - at) / SEGMENT) sound = false;
    for (i64 s = 0; s <= more && sound; ++s) at = area + s * SEGMENT, segment();
  }
  // f(first column, columns) for each interval (`runs`), or for each residual.
  template <class F> __device__ __forceinline__ void each(bool runs, F f) {
    segments([&] {
      const i64 count = number(false);
      if (FILL == 2 && count > end - at) sound = false;
      i64 column = row;
      for (i64 k = 0; k < count && sound; ++k) {
        const u32 value = number(!runs);
        column += k ? (i64)value + 1 : (i64)(int)unfolded(value);
        const i64 length = runs ? (i64)number(false) + LEAST : 1;
        if (FILL == 2 && (column < 0 || column + length > columns)) sound = false;
        f(column, length);
        column += length - 1;
      }
    });
  }
};

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    decode(i64 n, const i64* row_of, i64 row_stride, i64 columns, const i64* heads, const u32* words, i64* counts,
           int* col, i64* place) {
  (void)col, (void)place;
  const i64 k = thread_number();
  if (k >= n) return;
  const i64 row = row_stride ? row_of[k] : k;
  const Extent x = row_extent(heads, words, row);
  if (x.at == x.end) return;
  const Reader begin = {words, row, x.at, x.end, columns, true};
  Reader reader = begin;
  i64 inside = 0;
  reader.each(true, [&](i64, i64 length) { inside += length; });
#if FILL == 2
  reader.each(false, [](i64, i64) {});
  counts[k] = !reader.sound;
#elif FILL == 0
  reader.segments([&] { inside += reader.number(false); });
  counts[k] = inside;
#else
  // The residuals are written behind the places of the intervals, and move forward when these are read again.
  const i64 first = counts[k];
  i64 e = first, in_runs = first, other = first + inside, end = other;
  reader.each(false, [&](i64 j, i64) { col[end++] = (int)j; });
  reader = begin;
  reader.each(true, [&](i64 run, i64 length) {
    for (; other < end && col[other] < run; ++other, ++e) {
      col[e] = col[other];
      if (ORDER) place[e] = other;
    }
    for (i64 x = 0; x < length; ++x, ++e) {
      col[e] = (int)(run + x);
      if (ORDER) place[e] = in_runs++;
    }
  });
  for (; ORDER && other < end; ++other) place[other] = other;
#endif
}
#endif  // KERNEL_decode

#ifdef KERNEL_marks
// Marks of the parts of long rows, `size` words each. One warp per row rows[h], whose first part is number first[h].
// A mark has, for the intervals and then for the residuals that begin in the part: the start of the first segment, the
// number of segments, and the entries of the row before them.

// Segments of an area that begin before bit `limit`.
__device__ __forceinline__ i64 begun(i64 area, i64 segments, i64 limit) {
  if (limit <= area) return 0;
  const i64 found = (limit - area - 1) / SEGMENT + 1;
  return found < segments ? found : segments;
}

extern "C" __global__ void __launch_bounds__(BLOCK, 3)
    marks(i64 n, const i64* heads, const u32* words, i64 size, const i64* rows, const i64* first, i64* begin) {
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
      i64 at = area + mine * SEGMENT, count = 0;
      if (mine < segments) {
        count = gamma_at(words, at);
        if (!kind) {
          u32 left = (u32)count;
          for (count = 0; left; --left) gamma_at(words, at), count += (i64)gamma_at(words, at) + LEAST;
        }
      }
      const i64 upto = sum_upto<32>(count, lane);
      // The first segment of a part determines how many entries precede it.
      const i64 part = mine < segments ? (area + mine * SEGMENT - x.at) / width : 0;
      if (mine < segments && begun(area, segments, x.at + part * width) == mine)
        begin[MARK * (first[hub] + part) + 3 * kind + 2] = before + upto - count;
      before += __shfl_sync(ALL_LANES, upto, 31);
      end = __shfl_sync(ALL_LANES, at, (int)((segments - 1) & 31));
    }
    for (i64 part = lane; part < parts; part += 32) {
      const i64 low = begun(area, segments, x.at + part * width);
      const i64 high = part + 1 < parts ? begun(area, segments, x.at + (part + 1) * width) : segments;
      i64* mark = begin + MARK * (first[hub] + part) + 3 * kind;
      mark[0] = area + low * SEGMENT, mark[1] = high - low;
      if (low == high) mark[2] = 0;
    }
    place = end;
  }
}
#endif  // KERNEL_marks

#ifdef KERNEL_hub_columns
#define HUB_COLUMNS
#define HUB_STEPS 256
#include "formats/coded_kernels.cuh"
#endif  // KERNEL_hub_columns

#ifdef KERNEL_mirror
#include "kernels/views.cuh"
#define MIRROR
#include "formats/coded_kernels.cuh"
#endif  // KERNEL_mirror
