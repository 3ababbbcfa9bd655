// What a graded pull (grades.py) has to know of rows, a thread a row: where the first segment of intervals begins, how many
// bits later the first one of residuals, and how many there are of each: none where there is one without codes.
#include "formats/cgr/code.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
pieces(i64 n, i64 segment, const i64* heads, const u32* words, i64* begin, i64* later, i64* runs, i64* others) {
  const i64 row = thread_number();
  if (row >= n) return;
  const Extent x = row_extent(heads, words, row);
  if (x.at == x.end) return;
  i64 at = x.at;
  for (int kind = 0; kind < 2; ++kind) {
    const i64 count = (i64)gamma_at(words, at) + 1, area = at;
    at = area + (count - 1) * segment;
    u32 left = gamma_at(words, at);
    const bool some = count > 1 || left;
    if (!kind) {
      begin[row] = area, runs[row] = some ? count : 0;
      for (; left; --left) gamma_at(words, at), gamma_at(words, at);
    } else {
      later[row] = area - begin[row], others[row] = some ? count : 0;
    }
  }
}
