// Decode CGR codes to CSR rows, one thread per row: all rows, or (row_stride 1) those listed in row_of.
// FILL 0: counts[k] = number of entries of the k-th row. FILL 1: write their columns from counts[k] on, and with ORDER
// the position of each if intervals came first. FILL 2: counts[k] = 1 if the row cannot be decoded within its bits and
// the matrix's columns, else 0.
#include "formats/cgr/part.cuh"

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
