// After the last round of a nested loop, copy a vector that its advances write from one of three buffers back to the first.
// Words of 32 bits. rounds: of the nested loop (kernels/frontier.cuh); steps: advances in each round.
extern "C" __global__ void __launch_bounds__(BLOCK, 8)
settle(i64 n, i64 size, const i64* rounds, i64 steps, u32* first, const u32* second, const u32* third) {
  (void)n;
  const i64 turned = (rounds[2] - rounds[4]) * steps % 3;
  if (turned == 0) return;
  const u32* from = turned == 1 ? second : third;
  for (i64 k = thread_number(); k < size; k += (i64)gridDim.x * BLOCK) first[k] = from[k];
}
