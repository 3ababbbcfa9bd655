// Pieces of rows for a degree-binned pull (binning.py), one thread per row.
// Writes the start of the first interval segment, the offset in bits of the first residual segment, and the number of
// segments of each kind (0 if the only one has no codes).
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
