// Marks of the segments of long rows, `part` words each except for what the first value needs.
// One warp per row rows[h], whose first segment is number first[h].
// A mark has the starting nibble, the column before it, and the number of entries before it in the row. The ends of
// segments are written too.
#include "formats/nib/walk.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
marks(i64 n, const i64* heads, const u32* words, i64 part, const i64* rows, const i64* first, i64* begin, i64* end) {
  const i64 hub = thread_number() / 32;
  if (hub >= n) return;
  const int lane = threadIdx.x & 31;
  const Extent x = row_extent(heads, words, rows[hub]);
  const i64 at = first[hub], count = (words_of(x) + part - 1) / part;
  if (lane == 0) {
    begin[3 * at] = x.at, begin[3 * at + 1] = rows[hub], begin[3 * at + 2] = 0;
    end[at + count - 1] = x.end;
  }
  Walk<32, true> walk(x, rows[hub], 0);
  while (walk.more()) {
    const i64 word = walk.at + 8 * lane;
    Found found;
    walk.step(words, lane, found);
    i64 before = word - found.open;
#pragma unroll 1
    for (int k = 0; k < found.count; ++k) {
      const u32 column = found.next();
      const i64 here = word + found.from;
      const i64 s = (here - x.at) / (8 * part);  // a value contains at most one segment start
      if (s > (before - x.at) / (8 * part) && s < count) {
        i64* mark = begin + 3 * (at + s);
        mark[0] = here, mark[1] = column, mark[2] = found.entry + k + 1;
        end[at + s - 1] = here;
      }
      before = here;
    }
  }
}
