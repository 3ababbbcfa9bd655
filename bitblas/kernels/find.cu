// Batched binary search: for each of `wanted` its lower bound in the sorted `keys`, and whether it is present.
// places, hit: output per wanted key.
#include "formats/csr/search.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
find(i64 n, const COL_T* keys, i64 count, const COL_T* wanted, i64* places, u8* hit) {
  const i64 i = thread_number();
  if (i >= n) return;
  const i64 place = lower_bound(keys, 0, count, wanted[i]);
  places[i] = place;
  hit[i] = place < count && keys[place] == wanted[i];
}
