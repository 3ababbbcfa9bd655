// What ranks send each other: nothing, lists of `room` places and values, or all of a vector. All decide alike, by how many
// places each has listed for each (told), and once (known) all of it was sent. One thread. own: what this rank has told, which
// begins anew; sent: the bytes of this rank, to which those of the way are added.
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
  if (lists) {  // none where the host makes the launches
    cudaGraphSetConditional(lists, chosen == 1);
    cudaGraphSetConditional(all, chosen == 2);
  }
#else
  (void)lists, (void)all;
#endif
}
