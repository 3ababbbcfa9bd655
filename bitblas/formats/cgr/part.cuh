// Read the intervals of a row, or its residuals, segment by segment in one lane.
#include "formats/cgr/code.cuh"

struct Part {
  i64 at, area;  // the next bit, and where the first segment begins
  u32 segments, number, left;  // in all, which one this is, and what it holds still
  i64 column;                  // the last one

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
  // The next column, or the first one of an interval, which has `length`.
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
