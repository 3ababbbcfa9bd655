// Shared memory, a queue, and every intrinsic: for the emulator's own tests. Products and relaxations are the library's.
typedef unsigned int u32;
typedef unsigned long long u64;
#define FULL 0xffffffffu

template <class T, int BS> __global__ void block_reduce(const T* x, T* out, int n) {
  __shared__ T s[BS];
  const int i = blockIdx.x * BS + threadIdx.x;
  s[threadIdx.x] = i < n ? x[i] : T(0);
  __syncthreads();
  for (int o = BS / 2; o > 0; o >>= 1) {
    if (threadIdx.x < o) s[threadIdx.x] += s[threadIdx.x + o];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(out, s[0]);
}

// Inclusive scan of a block: shuffles inside a warp, dynamic shared memory across warps.
template <class T> __device__ __forceinline__ T warp_scan(T v, int lane) {
  for (int d = 1; d < 32; d <<= 1) {
    const T u = __shfl_up_sync(FULL, v, d);
    if (lane >= d) v += u;
  }
  return v;
}
template <class T> __global__ void block_scan(const T* x, T* y, int n) {
  extern __shared__ __align__(16) unsigned char dynamic[];
  T* part = (T*)dynamic;
  const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
  const int w = threadIdx.x >> 5, nw = blockDim.x >> 5;
  T v = warp_scan(i < n ? x[i] : T(0), lane);
  if (lane == 31) part[w] = v;
  __syncthreads();
  if (w == 0) {
    const T p = warp_scan(lane < nw ? part[lane] : T(0), lane);
    if (lane < nw) part[lane] = p;
  }
  __syncthreads();
  if (w) v += part[w - 1];
  if (i < n) y[i] = v;
}

// Append to a queue, one atomic per warp.
extern "C" __global__ void compact(const u32* flag, u32* out, int* count, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
  if (i < n && flag[i]) {
    const u32 m = __activemask(), leader = __ffs(m) - 1;
    int base = 0;
    if (lane == leader) base = atomicAdd(count, __popc(m));
    base = __shfl_sync(m, base, leader);
    out[base + __popc(m & ((1u << lane) - 1))] = i;
  }
}

// Every intrinsic once: r[k] is what the test computes for x and y.
extern "C" __global__ void intrinsics(u64 x, u64 y, u64* r, u64* cells, u32* words) {
  const u32 lo = (u32)x, hi = (u32)(x >> 32);
  int k = 0;
  if (threadIdx.x == 0) {
    r[k++] = __popc(lo);
    r[k++] = __popcll(x);
    r[k++] = __clz((int)lo);
    r[k++] = __clzll((long long)x);
    r[k++] = __ffs((int)lo);
    r[k++] = __ffsll((long long)x);
    r[k++] = __brev(lo);
    r[k++] = __brevll(x);
    r[k++] = __funnelshift_r(lo, hi, 37);
    r[k++] = __funnelshift_l(lo, hi, 37);
    r[k++] = __funnelshift_rc(lo, hi, 37);
    r[k++] = __funnelshift_lc(lo, hi, 37);
    r[k++] = __byte_perm(lo, hi, 0x7531);
    r[k++] = __umulhi(lo, hi);
    r[k++] = __umul64hi(x, y);
    r[k++] = __ldcs(cells) + __ldg(cells) + __ldcg(cells) + __ldlu(cells);
    __stcs(r + k++, x);
    __stcg(r + k++, y);
    r[k++] = __float_as_uint(__uint_as_float(lo));
    r[k++] = (u64)__double_as_longlong(__longlong_as_double((long long)x));
  }
  __syncthreads();
  // 64 threads: each operation is commutative, so the sum over the threads does not depend on their order.
  atomicAdd(cells + 1, x);
  atomicOr(cells + 2, 1ull << threadIdx.x);
  atomicAnd(cells + 3, ~(1ull << threadIdx.x));
  atomicXor(cells + 4, 1ull << (threadIdx.x & 15));
  atomicMin(cells + 5, y + threadIdx.x);
  atomicMax(cells + 6, y + threadIdx.x);
  for (u64 seen = cells[7];;) {
    const u64 old = atomicCAS(cells + 7, seen, seen + 2);
    if (old == seen) break;
    seen = old;
  }
  atomicAdd(words + 1, lo);
  atomicOr(words + 2, 1u << (threadIdx.x & 31));
  atomicAnd(words + 3, ~(1u << (threadIdx.x & 15)));
  atomicXor(words + 4, 1u);
  atomicMin(words + 5, 100u + threadIdx.x);
  atomicMax(words + 6, 100u + threadIdx.x);
  const u32 lane = threadIdx.x & 31;
  const u32 sums[6] = {__reduce_add_sync(FULL, lane),
                       __reduce_min_sync(FULL, lane + 3),
                       __reduce_max_sync(FULL, lane),
                       __reduce_or_sync(FULL, 1u << lane),
                       __reduce_and_sync(FULL, ~(1u << (lane & 7))),
                       __reduce_xor_sync(FULL, lane)};
  const u64 wide =
      __shfl_xor_sync(FULL, x + lane, 1) + __shfl_down_sync(FULL, y + lane, 1, 8) + __shfl_sync(FULL, x, 3);
  const u32 thirds = __ballot_sync(FULL, lane % 3 == 0);
  const u32 peers = __match_any_sync(FULL, lane / 5);
  const int all = __all_sync(FULL, lane < 32), any = __any_sync(FULL, lane == 31);
  const int count = __syncthreads_count(lane < 5), some = __syncthreads_or(lane == 40),
            every = __syncthreads_and(lane < 32);
  __syncwarp();
  if (threadIdx.x == 33) {
    for (int i = 0; i < 6; i++) words[8 + i] = sums[i];
    words[7] = thirds;
    words[14] = peers;
    words[15] = all | any << 1 | some << 2 | every << 3 | count << 8;
    cells[8] = wide;
  }
}
