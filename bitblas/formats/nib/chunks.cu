// Starts of the lanes of a degree-binned pull (binning.py), one warp per row: the nibble, and the column before it.
// Of a row's first value it is the column relative to which the value would be a gap.
// A row of ptr[row + 1] - ptr[row] entries consists of the pieces from place[row] on (~0: none), which are at
// sorted[..] among all pieces, grade after grade.
#include "formats/nib/walk.cuh"
#include "formats/nib/graded.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
chunks(i64 n, const i64* heads, const u32* words, const i64* ptr, const u32* place, const u32* sorted, const u32* piece,
       const u32* mark, u32* begin, u32* column) {
  const i64 row = thread_number() / 32;
  if (row >= n || place[row] == ~0u) return;
  const int lane = threadIdx.x & 31;
  const i64 length = ptr[row + 1] - ptr[row];
  Walk<32, true> walk(row_extent(heads, words, row), row, 0);
  while (walk.more()) {
    const i64 word = walk.at + 8 * lane;
    Found found;
    walk.step(words, lane, found);
    i64 start = word - found.open;
    u32 last = found.base;
#pragma unroll 1
    for (int k = 0; k < found.count; ++k) {
      const i64 e = found.entry + k, segment = e / LONGEST, rest = length - segment * LONGEST;
      const u32 inside = (u32)(e % LONGEST), some = rest < LONGEST ? (u32)rest : LONGEST;
      const u32 log = length > LONGEST ? 5 : lanes_of(some), taker = taker_of(some, log, inside);
      if (inside == share_of(some, log, taker).begin) {
        const u32 grade = 5 - log, p = sorted[place[row] + segment];
        const u32 at = mark[grade] + ((p - piece[grade]) << log) + taker;
        begin[at] = (u32)start, column[at] = last;
      }
      last = found.next();
      start = word + found.from;
    }
    if (length <= CHUNK) walk.stop();
  }
}
