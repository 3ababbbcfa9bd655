// Select how ranks exchange a vector: send nothing, lists of `room` (position, value) pairs, or the dense vector. All ranks
// decide alike, by the number of positions that each has listed for each (told), and by whether the whole vector was ever sent
// (known). One thread. own: the counts of this rank, which are reset; sent: bytes sent by this rank, updated by the choice.
#ifndef __CUDA_EMU__
extern "C" __device__ __cudart_builtin__ void CUDARTAPI
cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned int value);
#endif

extern "C" __global__ void __launch_bounds__(BLOCK, 1)
choose(i64 n, const u64* told, i64 width, u64* own, i64 room, u64* known, u64* sent, i64 by_lists, i64 by_all, u64* way,
       u64 lists, u64 all) {
  if (threadIdx.x != 0) return;
  u64 most = 0;
  for (i64 k = 0; k < n; ++k) most = told[k] > most ? told[k] : most;
  for (i64 k = 0; k < width; ++k) own[k] = 0;
  const int chosen = !*known ? 2 : most == 0 ? 0 : most <= (u64)room ? 1 : 2;
  *known = 1;
  *way = chosen;
  *sent += chosen == 1 ? by_lists : chosen == 2 ? by_all : 0;
#ifndef __CUDA_EMU__
  if (lists) {  // 0 if the host makes the launches
    cudaGraphSetConditional(lists, chosen == 1);
    cudaGraphSetConditional(all, chosen == 2);
  }
#else
  (void)lists, (void)all;
#endif
}
