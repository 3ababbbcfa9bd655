// Relax edges until nothing changes, in one launch of the whole grid (loop/gpu/relaxation.py).
#include "formats/csr/rows.cuh"

#ifdef KERNEL_relaxation
// A block takes active vertices from the near list, pushes along their edges, and goes on with the vertices that it
// improves while they fit into its queue, for up to TURNS turns; then all blocks meet. With WINDOW, vertices whose value
// is beyond `limit` wait on the far list until no near one is left; the limit then moves on by `width` (delta-stepping,
// Meyer and Sanders 2003; near and far lists, Davidson, Baxter, Garland and Owens, IPDPS 2014). Sums are min or max
// (JOIN), so the order affects only the time. Whoever improves a vertex lists it, so lists may name a vertex twice. If a
// list is full, all vertices are taken instead.
#include "kernels/grid.cuh"
#include "loop/gpu/relaxation.cuh"

// Numbers of the launch. NEAR: lengths of the near list, in rotation; FAR: of the far list, by turns; STOP: by turns.
enum { GATE, NEAR, FAR = 4, STOP = 6, ODD = 8, REFUSED };

// Lists of up to `capacity` vertices; seen: the last window that a vertex was taken into.
struct Lists {
  u32* near0;
  u32* near1;
  u32* far0;
  u32* far1;
  u32* seen;
  u64 capacity;
  __device__ __forceinline__ u32* near(u32 turn) const { return turn & 1 ? near1 : near0; }
  __device__ __forceinline__ u32* far(u32 turn) const { return turn & 1 ? far1 : far0; }
};

// The vector of the fixpoint, and the active vertices with the same values (HELD).
struct Relaxed {
  u64* bits;
  C_T* values;
  u64* active;
  C_T* held;
};

// The last value of a window that begins at x; all values if there is none.
__device__ __forceinline__ C_T end_of_window(C_T x, C_T width) {
#if JOIN_FLOAT
  const C_T last = x + width;
#else
  const C_T last = C_T((u64)x + (u64)width);
#endif
  return is_better(x, last) ? last : C_T(BEGIN);
}

// Append the vertices of lanes with `add` to a list, as far as there is room; called by the warp.
__device__ __forceinline__ void append_to(bool add, u32 v, u32* list, u64* length, u64 capacity) {
  const u64 at = next_number(add, length);
  if (add && at < capacity) list[at] = v;
}

// The vertices that a block has improved and relaxes itself, with their values.
struct Queue {
  u32 vertices[2][QUEUE];
  C_T values[2][QUEUE];
  u32 lengths[2];
};

extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)
    relaxation(i64 n, i64 size, Lists lists, u64* numbers, C_T* least, Relaxed d, C_T width, i64* rounds, i64 unlimited,
               const i64* outermost, Rows rows, Values a) {
  (void)n;
  __shared__ Queue queue;
  __shared__ u64 base;
  Barrier barrier = {numbers + GATE, 0};
  const int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
  // Begin with the active vertices. Their values (HELD) must be those of d.
  bool refused = rounds[1] != unlimited;
  for (i64 v = first_thread(); v - lane < size; v += all_threads()) {
    const bool has = v < size && bit_of(d.bits, v), waits = v < size && bit_of(d.active, v);
    const C_T value = has ? d.values[v] : C_T(BEGIN);
    if (v < size && !has) d.values[v] = C_T(BEGIN);
    if (waits && (!has || !is_better(value, C_T(BEGIN)))) refused = true;
#if HELD
    if (waits && has && raw_of(d.held[v]) != raw_of(value)) refused = true;
#endif
    if (WINDOW && waits && is_better(value, cell_at(least))) improve(least, value);
    if (WINDOW && v < size) lists.seen[v] = 0;
    append_to(waits, (u32)v, lists.near0, numbers + NEAR, lists.capacity);
  }
  if (refused) poke(numbers + REFUSED, 1ull);
  barrier.meet();
  if (load_fresh(numbers + REFUSED)) return;

  C_T limit = WINDOW ? end_of_window(cell_at(least), width) : C_T(BEGIN);
  u32 round = 0, phase = 0;
  bool stops = false, odd = false, idle = false;  // idle: the last window had no vertex
  while (!stops) {
    u64* const far_length = numbers + FAR + (phase & 1);
    for (u64 count; !stops && (count = load_fresh(numbers + NEAR + round % 3)) != 0; ++round) {
      const u32* now = lists.near(round);
      u32* const next = lists.near(round + 1);
      u64* const after = numbers + NEAR + (round + 1) % 3;
      const bool all = count > lists.capacity;
      if (all) count = (u64)size;
      if (threadIdx.x < 2) queue.lengths[threadIdx.x] = 0;
      __syncthreads();
      u32 side = 0;
      // Lanes with `found` have improved v to x.
      auto put = [&](u32 v, C_T x, bool found) {
        const u32 lanes = __ballot_sync(ALL_LANES, found);
        if (!lanes) return;
        const u32 below = __popc(lanes & lanes_below()), count = __popc(lanes);
        u32 first = 0;
        if (lane == 0) first = atomicAdd(queue.lengths + side, count);
        first = __shfl_sync(ALL_LANES, first, 0);
        const u32 room = first < QUEUE ? QUEUE - first : 0;
        if (found && below < room) queue.vertices[side][first + below] = v, queue.values[side][first + below] = x;
        if (count <= room) return;
        u64 rest = 0;
        if (lane == 0) rest = atomicAdd(after, (u64)(count - room));
        rest = __shfl_sync(ALL_LANES, rest, 0) + below - room;
        if (found && below >= room && rest < lists.capacity) next[rest] = v;
      };
      // Push x along the edges of up to 32 vertices, one in each lane with `has`. The lanes share all edges.
      auto push = [&](bool has, u32 v, C_T x, PTR_T begin, u32 length) {
        u32 ends = has ? length : 0;
#pragma unroll
        for (int k = 1; k < 32; k <<= 1) {
          const u32 below = __shfl_up_sync(ALL_LANES, ends, k);
          if (lane >= k) ends += below;
        }
        const u32 total = __shfl_sync(ALL_LANES, ends, 31);
        const PTR_T shift = begin - (PTR_T)(ends - (has ? length : 0));
        for (u32 k = lane; k - lane < total; k += 32) {
          // The lane whose edges include the k-th one.
          int owner = 0;
#pragma unroll
          for (int q = 16; q; q >>= 1)
            if (__shfl_sync(ALL_LANES, ends, owner + q - 1) <= k) owner += q;
          const PTR_T e = __shfl_sync(ALL_LANES, shift, owner) + (PTR_T)k;
          const C_T value = __shfl_sync(ALL_LANES, x, owner);
          const u32 from = __shfl_sync(ALL_LANES, v, owner);
          bool found = false, far = false;
          u32 to = 0;
          C_T z = C_T(BEGIN);
          if (k < total) {
            to = (u32)rows.col.col[e];
            z = C_T(mul(a.at(e), value, to, from));
            if (!is_better(z, C_T(BEGIN))) odd = true;
            else found = improve(d.values + to, z);
            far = WINDOW && found && is_better(limit, z);
          }
          put(to, z, found && !far);
          if (WINDOW) append_to(far, to, lists.far(phase), far_length, lists.capacity);
        }
      };
      for (u64 at = 32 * (blockIdx.x + (u64)gridDim.x * warp); at < count; at += 32 * (u64)gridDim.x * WARPS) {
        bool has = at + lane < count;
        const u32 v = !has ? 0u : all ? (u32)(at + lane) : now[at + lane];
        C_T x = C_T(BEGIN);
        PTR_T begin = 0, end = 0;
        if (has) x = cell_at(d.values + v), begin = rows.ptr[v], end = rows.ptr[v + 1];
        if (all) has = has && !holds_initial(x) && !(WINDOW && is_better(limit, x));
        push(has, v, x, begin, (u32)(end - begin));
      }
      for (int turn = 0; turn < TURNS; ++turn) {
        __syncthreads();
        const u32 length = queue.lengths[side] < QUEUE ? queue.lengths[side] : QUEUE, full = side;
        if (!length) break;
        side ^= 1;
        if (threadIdx.x == 0) queue.lengths[side] = 0;
        __syncthreads();
        for (u32 at = 32 * warp; at < length; at += THREADS) {
          bool has = at + lane < length;
          const u32 v = has ? queue.vertices[full][at + lane] : 0;
          const C_T x = has ? queue.values[full][at + lane] : C_T(BEGIN);
          PTR_T begin = 0, end = 0;
          // Improved again meanwhile: the better value is in a list, too.
          if (has) begin = rows.ptr[v], end = rows.ptr[v + 1], has = !is_better(cell_at(d.values + v), x);
          push(has, v, x, begin, (u32)(end - begin));
        }
      }
      __syncthreads();
      // What is left in the queue.
      const u32 length = queue.lengths[side] < QUEUE ? queue.lengths[side] : QUEUE;
      if (threadIdx.x == 0) base = length ? atomicAdd(after, (u64)length) : 0;
      __syncthreads();
      for (u32 at = threadIdx.x; at < length; at += THREADS)
        if (base + at < lists.capacity) next[base + at] = queue.vertices[side][at];
      if (first_thread() == 0) {
        numbers[NEAR + (round + 2) % 3] = 0;
        numbers[STOP + (round & 1)] = (u64)(load_fresh(outermost + 3) != 0);
      }
      barrier.meet();
      stops = load_fresh(numbers + STOP + (round & 1)) != 0;
    }
    u64 count = load_fresh(far_length);
    if (!WINDOW || !count || stops) break;
    // Vertices of the far list that the next window includes. They begin the next round: some blocks may still read that
    // this one has none.
    const bool all = count > lists.capacity;
    if (all) count = (u64)size;
    const C_T before = limit;
    limit = end_of_window(idle ? cell_at(least + 1 + (phase & 1)) : limit, width);
    const u32* from = lists.far(phase);
    ++phase, ++round;
    for (u64 at = 32 * (blockIdx.x + (u64)gridDim.x * warp); at < count; at += 32 * (u64)gridDim.x * WARPS) {
      const bool has = at + lane < count;
      const u32 v = !has ? 0u : all ? (u32)(at + lane) : from[at + lane];
      const C_T x = has ? cell_at(d.values + v) : C_T(BEGIN);
      const bool waits = has && !holds_initial(x) && is_better(before, x) && atomicExch(lists.seen + v, phase) != phase;
      const bool late = waits && is_better(limit, x);
      append_to(waits && !late, v, lists.near(round), numbers + NEAR + round % 3, lists.capacity);
      append_to(late, v, lists.far(phase), numbers + FAR + (phase & 1), lists.capacity);
      if (late && is_better(x, cell_at(least + 1 + (phase & 1)))) improve(least + 1 + (phase & 1), x);
    }
    barrier.meet();
    idle = load_fresh(numbers + NEAR + round % 3) == 0;
    if (first_thread() == 0) *far_length = 0, least[2 - (phase & 1)] = C_T(BEGIN), numbers[NEAR + (round + 1) % 3] = 0;
    barrier.meet();
  }
  if (odd) poke(numbers + ODD, 1ull);
  barrier.meet();

  // d gets an entry wherever its cell has changed (FULL: everywhere), and no vertex stays active. If an odd product was
  // seen (NaN, or the largest number), all vertices of d become active for the ordinary rounds.
  odd = load_fresh(numbers + ODD) != 0;
  for (i64 v = first_thread(); v - lane < size; v += all_threads()) {
    const C_T value = v < size ? cell_at(d.values + v) : C_T(BEGIN);
    u32 bits = __ballot_sync(ALL_LANES, v < size && (FULL || !holds_initial(value)));
    if (lane == 0) {
      if (!FULL) ((u32*)d.bits)[v >> 5] = bits |= ((const u32*)d.bits)[v >> 5];
      ((u32*)d.active)[v >> 5] = odd ? bits : 0u;
    }
#if HELD
    if (odd && v < size) d.held[v] = value;
#endif
  }
  if (first_thread() == 0 && round) rounds[0] = rounds[2] = rounds[4] = round;
}
#endif  // KERNEL_relaxation
