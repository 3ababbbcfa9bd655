// Basics included by every kernel: integer types, bitsets, memory access helpers, and sums over groups of
// lanes and blocks.
// No CUDA header is included: a heavy one costs more compile time than all kernels together.
// The first argument of every kernel, n, is its number of units of work (words, rows, tiles, entries: see its head).
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

#define BLOCK 256

// A number as a kernel's argument or in a view: complex.cuh passes a complex one as its two parts, so that the fields of
// a view are where they would be as single arguments.
template <class T> struct Argument {
  typedef T type;
};
#define ARGUMENT(T) typename Argument<T>::type
#define ALL_LANES 0xffffffffu

// Call first in a kernel that may be launched while the previous one still runs (device/cuda.py): waits until that
// one is complete and its writes are visible. From here on the next kernel may start in the same way.
__device__ __forceinline__ void await_previous() {
#if !defined(__CUDA_EMU__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

__device__ __forceinline__ i64 thread_number() { return (i64)blockIdx.x * BLOCK + threadIdx.x; }

__device__ __forceinline__ bool bit_of(const u64* bits, i64 i) { return (((const u32*)bits)[i >> 5] >> (i & 31)) & 1u; }

// Load a value that is not read again (streaming load, evicted first).
#ifdef __CUDA_EMU__
template <class T> __device__ __forceinline__ T load_once(const T* p) { return *p; }
#else
template <class T> __device__ __forceinline__ T load_once(const T* p) { return __ldcs(p); }
template <> __device__ __forceinline__ bool load_once(const bool* p) { return *p; }
#endif

// Load x if `needed`, into the same register, so that neither case waits. Compilers would load into another register
// and wait there to copy it.
__device__ __forceinline__ void load_if(u32& x, const u32* p, bool needed) {
#ifdef __CUDA_EMU__
  if (needed) x = *p;
#else
  asm volatile("{\n .reg .pred p;\n setp.ne.u32 p, %2, 0;\n @p ld.global.u32 %0, [%1];\n}"
               : "+r"(x)
               : "l"(p), "r"((u32)needed));
#endif
}

// The same for two adjacent words.
__device__ __forceinline__ void load_pair_if(u32& x, u32& y, const u32* p, bool needed) {  // p: a multiple of 8 bytes
#ifdef __CUDA_EMU__
  if (needed) x = p[0], y = p[1];
#else
  asm volatile("{\n .reg .pred p;\n setp.ne.u32 p, %3, 0;\n @p ld.global.v2.u32 {%0, %1}, [%2];\n}"
               : "+r"(x), "+r"(y)
               : "l"(p), "r"((u32)needed));
#endif
}

// Intentional races: memory that some threads change while others read it. Readers are correct with the old value too
// (a bit of their own in a shared word, or a bit that is only ever set); writers all write the same, or only change
// what is theirs. On a GPU this is a plain access; the emulator's race detector is informed.
#ifdef __CUDA_EMU__
template <class T> __device__ __forceinline__ T peek(const T* p) { return __ldcg(p); }
template <class T> __device__ __forceinline__ void poke(T* p, T x) { __atomic_store(p, &x, __ATOMIC_RELAXED); }
#else
template <class T> __device__ __forceinline__ T peek(const T* p) { return *p; }
template <class T> __device__ __forceinline__ void poke(T* p, T x) { *p = x; }
#endif
__device__ __forceinline__ bool bit_now(const u64* bits, i64 i) {
  return (peek((const u32*)bits + (i >> 5)) >> (i & 31)) & 1u;
}

// Marks a vote whose inputs some lanes overwrite afterwards. The vote itself orders the reads, so a GPU needs no
// instruction.
__device__ __forceinline__ void after_vote() {
#ifdef __CUDA_EMU__
  __syncwarp();
#endif
}

// Load a value that another block has just written.
template <class T> __device__ __forceinline__ T load_fresh(const T* p) { return *(const volatile T*)p; }

// Position of the highest set bit of nonzero x, counted from the left. __clz takes one more instruction, for x = 0.
__device__ __forceinline__ u32 left_bit(u32 x) {
#ifdef __CUDA_EMU__
  return __clz(x);
#else
  u32 place;
  asm("bfind.shiftamt.u32 %0, %1;" : "=r"(place) : "r"(x));
  return place;
#endif
}

// The bytes of a and b (numbers 0 to 3, and 4 to 7) selected by the digits of `pick`. __byte_perm would mask the digits
// first.
__device__ __forceinline__ u32 picked_bytes(u32 a, u32 b, u32 pick) {
#ifdef __CUDA_EMU__
  return __byte_perm(a, b, pick);
#else
  u32 bytes;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(bytes) : "r"(a), "r"(b), "r"(pick));
  return bytes;
#endif
}

// Keep a loop invariant in a register where the compiler would recompute it. `pinned` blocks the compiler's front end;
// `pinned_by_shuffle` also blocks its assembler, to which a shuffle (called by all lanes) is an unknown value.
__device__ __forceinline__ u32 pinned(u32 x) {
#ifndef __CUDA_EMU__
  asm volatile("" : "+r"(x));
#endif
  return x;
}
template <class T> __device__ __forceinline__ const T* pinned(const T* x) {
#ifndef __CUDA_EMU__
  asm volatile("" : "+l"(x));
#endif
  return x;
}
__device__ __forceinline__ u32 pinned_by_shuffle(u32 x) { return __shfl_sync(ALL_LANES, x, threadIdx.x & 31); }

// The lanes of this thread's group of G consecutive lanes (G a power of two, at most 32).
template <int G> __device__ __forceinline__ u32 group_mask() {
  return G == 32 ? ALL_LANES : ((1u << (G & 31)) - 1u) << ((threadIdx.x & 31) & ~(G - 1));
}

// x of lane `lane ^ d`; values of 1 and 2 bytes are shuffled as int.
template <class T> struct Travel {
  typedef T type;
};
template <> struct Travel<bool> {
  typedef int type;
};
template <> struct Travel<signed char> {
  typedef int type;
};
template <> struct Travel<short> {
  typedef int type;
};
template <> struct Travel<u8> {
  typedef int type;
};
template <> struct Travel<u16> {
  typedef int type;
};
template <class T> __device__ __forceinline__ T shuffle_xor(u32 mask, T x, int d) {
  return (T)__shfl_xor_sync(mask, (typename Travel<T>::type)x, d);
}

// x of lane `lane` of each group of G lanes.
template <int G, class T> __device__ __forceinline__ T shuffle_from(T x, int lane) {
  return (T)__shfl_sync(ALL_LANES, (typename Travel<T>::type)x, lane, G);
}

// The sum of x over the lower lanes of the group.
template <int G> __device__ __forceinline__ u32 group_sum_below(u32 x) {
  const u32 mask = group_mask<G>();
  const int lane = threadIdx.x & (G - 1);
  u32 sum = x;
#pragma unroll
  for (int d = 1; d < G; d <<= 1) {
    const u32 below = __shfl_up_sync(mask, sum, d, G);
    if (lane >= d) sum += below;
  }
  return sum - x;
}

// Sums over the threads of a block.
template <class T> __device__ __forceinline__ T block_sum(T x) {  // once per kernel: `part` is written once
  __shared__ T part[BLOCK / 32];
#pragma unroll
  for (int d = 16; d; d >>= 1) x += __shfl_xor_sync(ALL_LANES, x, d);
  if ((threadIdx.x & 31) == 0) part[threadIdx.x >> 5] = x;
  __syncthreads();
  T sum = 0;
#pragma unroll
  for (int warp = 0; warp < BLOCK / 32; ++warp) sum += part[warp];
  return sum;
}

// The sum of x over the lower threads of the block, and over all of them.
__device__ __forceinline__ u32 block_sum_below(u32 x, u32* parts, u32& total) {
  const u32 below = group_sum_below<32>(x);
  if ((threadIdx.x & 31) == 31) parts[threadIdx.x / 32] = below + x;
  __syncthreads();
  u32 before = 0;
  total = 0;
#pragma unroll
  for (int w = 0; w < BLOCK / 32; ++w) {
    before += w < threadIdx.x / 32 ? parts[w] : 0;
    total += parts[w];
  }
  __syncthreads();
  return before + below;
}
