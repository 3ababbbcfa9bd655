// Read the intervals of a row, or its residuals, segment by segment in one lane.
#include "formats/cgr/code.cuh"

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
