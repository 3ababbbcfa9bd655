// Thread-block clusters: blocks that run at the same time, meet at a barrier and read each other's shared memory.
// GPUs before compute capability 9.0 have no clusters; there a cluster is one block. Launch such a kernel with CLUSTER
// blocks.
#if CLUSTER > 1 && (defined(__CUDA_EMU__) || __CUDA_ARCH__ >= 900)
#define IN_CLUSTER __cluster_dims__(CLUSTER, 1, 1)
#define PEERS CLUSTER
#else
#define IN_CLUSTER
#define PEERS 1
#endif

// Number of this block in its cluster.
__device__ __forceinline__ u32 rank_in_cluster() {
#if PEERS == 1
  return 0;
#elif defined(__CUDA_EMU__)
  return emu_cluster_rank();
#else
  u32 rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
#endif
}

// The same variable in the shared memory of block `rank` of the cluster, which must not have exited.
template <class T> __device__ __forceinline__ T* at_peer(T* shared, u32 rank) {
#if PEERS == 1
  (void)rank;
  return shared;
#elif defined(__CUDA_EMU__)
  return (T*)emu_peer((void*)shared, rank);
#else
  T* there;
  asm("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(shared), "r"(rank));
  return there;
#endif
}

// All threads of the cluster call it. Earlier writes to any memory are visible to all of them afterwards.
__device__ __forceinline__ void meet_in_cluster() {
#if PEERS == 1
  __threadfence();
  __syncthreads();
#elif defined(__CUDA_EMU__)
  emu_cluster_barrier();
#else
  asm volatile("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;" ::: "memory");
#endif
}
