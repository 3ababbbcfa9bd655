// Pack an array of bools into a bitset.
extern "C" __global__ void __launch_bounds__(BLOCK, 4) pack(i64 n, i64 size, const bool* flags, u64* bits) {
  const i64 p = thread_number();
  const u32 half = __ballot_sync(ALL_LANES, p < size && flags[p]);
  if ((p & 31) == 0 && p < n * 64) ((u32*)bits)[p >> 5] = half;
}
