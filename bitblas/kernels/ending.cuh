// Epilogue of a product kernel: apply mask, accumulator and `replace` to a row's sum, then write bits and values.
#include "kernels/product.cuh"
#define PRESENCE (KIND == WORDS && !STORE)  // bits only: no values are summed or written

// Epilogue of w<mask, accum, replace> = t in the kernel that computes t (C API 2.1, section 2.3.4). MERGE 0: the result
// is t alone. MERGE 1: where t has no entry, w keeps its own: its old bits and values are read from w_*, and copied if
// the result is in other arrays (moved). STORE: values are written too, not only presence.
struct Epilogue {
  VectorView<W_T> w;
  i64 moved, replace;
  OutputView<W_T> t;
};
struct Ending {
  bool present, value;  // value: the bit, if values are a bitset
};
__device__ __forceinline__ Ending finish(i64 row, bool open, bool some, Z_T sum, const Epilogue& to, i64 replace) {
  const bool had = MERGE && bit_now(to.w.bits, row), news = open && some;
  Ending end = {news || (had && (open ? ACCUM : !replace)), false};
#if STORE
  if (!end.present) return end;
#if MERGE
  if (!news && !W_BOOL && !to.moved) return end;  // the value is already in place
  W_T w = take(sum);
  if (!news || (ACCUM && had)) {
    const W_T old = load_in_place<W_T>(to.w.values, to.w.iso, to.w.stride, row);
    w = news ? accum(old, sum) : old;
  }
#else
  const W_T w = take(sum);
#endif
#if W_BOOL
  end.value = w;
#else
  to.t.values[row] = w;
#endif
#endif
  return end;
}

// Write BITS bits for unit `unit` of the bitset t, provided by the first lane of every group of LANES. All threads of
// the grid call it. It writes whole bytes of a warp's or block's units, and all bytes of the words that hold n units if
// the launch has a group for each of their bits (`pull_blocks`).
template <int BITS> __device__ __forceinline__ void write_bits(u64* t_bits, i64 n, i64 unit, u64 value) {
  const bool first = (threadIdx.x & (LANES - 1)) == 0;
  const bool inside = unit < ((n + 64 / BITS - 1) & -(64 / BITS));  // within the words
  if (BITS == 64) {
    if (first && inside) poke(t_bits + unit, value);
  } else if (BITS == 32) {
    if (first && inside) poke((u32*)t_bits + unit, (u32)value);
  } else if (BITS == 16) {
    if (first && inside) poke((u16*)t_bits + unit, (u16)value);
  } else if (BITS == 8) {
    if (first && inside) poke((u8*)t_bits + unit, (u8)value);
  } else {
    constexpr int wide = 32 / LANES * BITS;  // bits written per warp
    u32 part = first ? (u32)value << ((threadIdx.x & 31) / LANES * BITS) : 0u;
#pragma unroll
    for (int d = 16; d; d >>= 1) part |= __shfl_xor_sync(ALL_LANES, part, d);
    if (wide >= 8) {
      if ((threadIdx.x & 31) == 0 && inside) {
        const i64 at = thread_number() / 32;
        if (wide == 32) poke((u32*)t_bits + at, part);
        else if (wide == 16) poke((u16*)t_bits + at, (u16)part);
        else poke((u8*)t_bits + at, (u8)part);
      }
    } else {
      constexpr int warps = wide < 8 ? 8 / wide : 1, bytes = BLOCK / 32 / warps;  // warps per byte; bytes per block
      __shared__ u8 parts[BLOCK / 32];
      __syncthreads();
      if ((threadIdx.x & 31) == 0) parts[threadIdx.x / 32] = (u8)part;
      __syncthreads();
      if (threadIdx.x < bytes) {
        u32 byte = 0;
#pragma unroll
        for (int k = 0; k < warps; ++k) byte |= (u32)parts[threadIdx.x * warps + k] << (k * wide);
        const i64 at = (i64)blockIdx.x * bytes + threadIdx.x;
        if (at < (n * BITS + 63) / 64 * 8) poke((u8*)t_bits + at, (u8)byte);
      }
    }
  }
}
