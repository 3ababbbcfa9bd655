// One round of a fixpoint by patches of PATCH consecutive positions (loop/gpu/patches.py).
// A block takes a patch from the worklist, loads it into shared memory, and pushes along the edges inside it until
// nothing changes; then it pushes along the edges that leave it. Patches that change are queued for the next round.
// RENUMBERED: positions are those of rows in another order.
// state: for each of three rounds in rotation the number of queued and of taken patches, followed by the observed
// values (loop/gpu/patches.cuh). Sums are min or max (JOIN), so the processing order affects only the time.
// Arguments: lists: the three worklists of patches; listed, waiting: flags per patch and per position; outermost:
// counters of the outermost loop; vertices: row numbers (RENUMBERED); d_val: the vector of the fixpoint.
#include "formats/csr/rows.cuh"
#include "kernels/step.cuh"
#include "loop/gpu/patches.cuh"
#define AT_ONCE 4  // entries that a lane loads together
#define HALVES (PATCH / 32)

struct Local {
  C_T cells[PATCH];
  u32 waits[HALVES], changed[HALVES], border[HALVES];
  u16 queue[2][PATCH];
  u32 count[3];  // lengths of the queue, in rotation: read, written, cleared
  u32 patch, odd, borders, gains;
};

// Called by the whole block: writes before it are visible to reads after it.
__device__ __forceinline__ void fence_of_block() {
  __syncthreads();
  if (threadIdx.x == 0) __threadfence();
  __syncthreads();
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_AT_ONCE)
patches(i64 n, i64 size, u32 turn, u32* state, u32* lists, u32* listed, u32* waiting, const i64* outermost,
        const u32* vertices, C_T* d_val, Rows rows, Values a) {
  (void)n, (void)vertices;
  __shared__ Local s;
  const u32 next = turn == 2 ? 0 : turn + 1, after = next == 2 ? 0 : next + 1, all = (u32)((size + PATCH - 1) / PATCH);
  const u32 count = state[2 * turn];
  const bool stops = (outermost[3] != 0) | (state[REFUSED] != 0);
  if (thread_number() == 0) {
    state[2 * after] = state[2 * after + 1] = 0;
    state[ROUNDS_DONE] += count != 0;
  }
  if (blockIdx.x >= count || stops) return;
  u32* const out = lists + (i64)next * all;
  const auto waits_next = [&](u32 r) { out[atomicAdd(&state[2 * next], 1u)] = r; };
  if (threadIdx.x == 0) s.odd = 0;
  for (;;) {
    __syncthreads();
    if (threadIdx.x == 0) {
      const u32 item = atomicAdd(&state[2 * turn + 1], 1u);
      s.patch = item < count ? lists[(i64)turn * all + item] : all;
    }
    if (threadIdx.x < 3) s.count[threadIdx.x] = 0;
    __syncthreads();
    const u32 r = s.patch;
    if (r == all) break;
    const i64 base = (i64)r * PATCH;
    // Later writers of these positions queue the patch again; earlier writes are visible here.
    if (threadIdx.x == 0) {
      s.borders = s.gains = 0;
      *(volatile u32*)(listed + r) = 0;
      __threadfence();
    }
    fence_of_block();
    for (int h = threadIdx.x; h < HALVES; h += THREADS) {
      u32 bits = 0;
      if (base + h * 32 < size && __ldcg(waiting + base / 32 + h)) bits = atomicExch(waiting + base / 32 + h, 0u);
      s.waits[h] = s.changed[h] = bits;
      s.border[h] = 0;
      u32 at = bits ? atomicAdd(&s.count[0], (u32)__popc(bits)) : 0;
      for (; bits; bits &= bits - 1) s.queue[0][at++] = (u16)(h * 32 + __ffs(bits) - 1);
    }
    fence_of_block();
    for (int l = threadIdx.x; l < PATCH; l += THREADS)
      s.cells[l] = base + l < size ? cell_at(d_val + VERTEX(base + l)) : C_T(BEGIN);
    __syncthreads();

    u32 reads = 0, rounds = 0;
    for (int side = 0;; side ^= 1, ++rounds) {
      const u32 writes = reads == 2 ? 0 : reads + 1, clears = writes == 2 ? 0 : writes + 1, queued = s.count[reads];
      if (!queued || rounds == PATCH) break;  // more rounds than positions: a negative cycle
      if (threadIdx.x == 0) s.count[clears] = 0;
      for (u32 x = threadIdx.x / LANES; x < queued; x += THREADS / LANES) {
        const u32 l = s.queue[side][x], from = (u32)(base + l);
        const int lane = threadIdx.x & (LANES - 1);
        const PTR_T end = rows.ptr[base + l + 1];
        PTR_T e = rows.ptr[base + l] + lane;
        if (lane == 0) atomicAnd(&s.waits[l >> 5], ~(1u << (l & 31)));
        __threadfence_block();
        C_T value = lane == 0 ? cell_at(s.cells + l) : C_T(BEGIN);
        if (LANES > 1) value = __shfl_sync(group_mask<LANES>(), value, WARP_LANE & ~(LANES - 1));
        bool leads_out = false;
        for (; e < end; e += AT_ONCE * LANES) {
          bool has[AT_ONCE];
          u32 to[AT_ONCE];
          A_T weight[AT_ONCE];
#pragma unroll
          for (int k = 0; k < AT_ONCE; ++k) {
            has[k] = e + k * LANES < end;
            to[k] = has[k] ? (u32)rows.col.col[e + k * LANES] - (u32)base : 0;
            weight[k] = has[k] ? a.at(e + k * LANES) : A_T(a.iso);
          }
#pragma unroll
          for (int k = 0; k < AT_ONCE; ++k) {
            if (has[k] && to[k] >= PATCH) leads_out = true;
            if (!has[k] || to[k] >= PATCH) continue;
            const C_T z = C_T(mul(weight[k], value, base + to[k], from));
            if (!is_better(z, C_T(BEGIN))) poke(&s.odd, 1u);
            if (!is_better(z, cell_at(s.cells + to[k])) || !improve(s.cells + to[k], z)) continue;
            const u32 bit = 1u << (to[k] & 31);
            __threadfence_block();
            if (atomicOr(&s.waits[to[k] >> 5], bit) & bit) continue;
            s.queue[side ^ 1][atomicAdd(&s.count[writes], 1u)] = (u16)to[k];
            atomicOr(&s.changed[to[k] >> 5], bit);
          }
        }
        if (leads_out) atomicOr(&s.border[l >> 5], 1u << (l & 31));
      }
      __syncthreads();
      reads = writes;
    }

    // What is left on the queue is done in the next round. Edges that leave the patch are listed in the memory of the
    // queue.
    for (int h = threadIdx.x; h < HALVES; h += THREADS) {
      if (s.waits[h]) {
        atomicOr(waiting + base / 32 + h, s.waits[h]);
        __threadfence();
        if (!atomicExch(listed + r, 1u)) waits_next(r);
      }
      u32 bits = s.border[h], at = bits ? atomicAdd(&s.borders, (u32)__popc(bits)) : 0;
      for (; bits; bits &= bits - 1) s.queue[0][at++] = (u16)(h * 32 + __ffs(bits) - 1);
    }
    __syncthreads();
    for (int l = threadIdx.x; l < PATCH; l += THREADS)
      if (s.changed[l >> 5] >> (l & 31) & 1) improve(d_val + VERTEX(base + l), s.cells[l]);
    u32* const gained = (u32*)s.queue[1];
    for (u32 x = threadIdx.x; x < s.borders; x += THREADS) {
      const u32 l = s.queue[0][x], from = (u32)(base + l);
      const C_T value = s.cells[l];
      const PTR_T end = rows.ptr[base + l + 1];
      for (PTR_T e = rows.ptr[base + l]; e < end; e += AT_ONCE) {
        u32 to[AT_ONCE];
        A_T weight[AT_ONCE];
        bool out_of[AT_ONCE];
        C_T* at[AT_ONCE];
        C_T z[AT_ONCE], now[AT_ONCE];
#pragma unroll
        for (int k = 0; k < AT_ONCE; ++k) {
          out_of[k] = e + k < end;
          to[k] = out_of[k] ? (u32)rows.col.col[e + k] : from;
          weight[k] = out_of[k] ? a.at(e + k) : A_T(a.iso);
          out_of[k] = out_of[k] && to[k] / PATCH != r;
        }
#pragma unroll
        for (int k = 0; k < AT_ONCE; ++k) {
          at[k] = d_val + VERTEX(to[k]);
          now[k] = out_of[k] ? cell_at(at[k]) : value;
        }
#pragma unroll
        for (int k = 0; k < AT_ONCE; ++k) {
          if (!out_of[k]) continue;
          z[k] = C_T(mul(weight[k], value, to[k], from));
          if (!is_better(z[k], C_T(BEGIN))) poke(&s.odd, 1u);
          if (!is_better(z[k], now[k]) || !improve(at[k], z[k])) continue;
          const u32 number = atomicAdd(&s.gains, 1u);
          if (number < PATCH / 2) gained[number] = to[k];
          else {  // the list is full
            __threadfence();
            atomicOr(waiting + (to[k] >> 5), 1u << (to[k] & 31));
            __threadfence();
            if (!atomicExch(listed + to[k] / PATCH, 1u)) waits_next(to[k] / PATCH);
          }
        }
      }
    }
    // First values, then flags, then lists: a fence of one thread between two barriers orders all.
    fence_of_block();
    const u32 gains = s.gains < PATCH / 2 ? s.gains : PATCH / 2;
    for (u32 x = threadIdx.x; x < gains; x += THREADS) {
      const u32 j = gained[x];
      if (atomicOr(waiting + (j >> 5), 1u << (j & 31)) >> (j & 31) & 1) gained[x] = ~0u;
    }
    fence_of_block();
    for (u32 x = threadIdx.x; x < gains; x += THREADS) {
      if (gained[x] == ~0u) continue;
      const u32 other = gained[x] / PATCH;
      if (!*(volatile u32*)(listed + other) && !atomicExch(listed + other, 1u)) waits_next(other);
    }
  }
  if (threadIdx.x == 0 && s.odd) poke(state + ODD, 1u);
}
