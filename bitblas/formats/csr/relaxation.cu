// Relax edges until nothing changes, in one launch of the whole grid (loop/gpu/relaxation.py).
#include "formats/csr/rows.cuh"

#ifdef KERNEL_relaxation
// A block takes active vertices from the near list, pushes along their edges, and goes on with the vertices that it
// improves while they fit into its queue, for up to TURNS turns; then all blocks meet. With WINDOW, vertices whose
// value is beyond `limit` wait on the far list. The limit moves on by `width` whenever fewer than `enough` vertices
// are near, so that a window need not be empty before the next one begins (delta-stepping, Meyer and Sanders 2003;
// near and far lists, Davidson, Baxter, Garland and Owens, IPDPS 2014; a window that keeps the GPU busy, Wang, Fussell
// and Lin, PPoPP 2021). Sums are min or max (JOIN), so the order affects only the time. Whoever improves a vertex
// lists it with its new value; an entry whose vertex has a better value by now is stale. If a list is full, all
// vertices are taken instead.
#include "kernels/grid.cuh"
#include "loop/gpu/relaxation.cuh"

// Numbers of the launch. NEAR, FAR: lengths of lists, each in rotation; STOP: by rounds.
enum { GATE, NEAR, FAR = 4, STOP = 7, ODD = 9, REFUSED };

// Vertices with their values: two near lists, then two far lists, of up to `capacity` entries each.
struct Lists {
  u32* vertices;
  C_T* values;
  u64 capacity, enough;
  __device__ __forceinline__ u64 near(u32 round) const { return (round & 1) * capacity; }
  __device__ __forceinline__ u64 far(u32 phase) const { return (2 + (phase & 1)) * capacity; }
  __device__ __forceinline__ void put(u64 list, u64 at, u32 v, C_T x) const {
    if (at < capacity) vertices[list + at] = v, values[list + at] = x;
  }
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

// The vertices that a block has improved, with their values: those that it relaxes itself, in this turn and in the next,
// with their rows; and those beyond the limit.
struct Queue {
  PTR_T begins[2][QUEUE];
  C_T values[2][QUEUE], far_values[QUEUE];
  u32 vertices[2][QUEUE], degrees[2][QUEUE], far_vertices[QUEUE];
  u32 lengths[3], far_length;
};

extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)
    relaxation(i64 n, i64 size, Lists lists, u64* numbers, C_T* least, Relaxed d, C_T width, i64* rounds, i64 unlimited,
               const i64* outermost, Rows rows, Values a) {
  (void)n;
  __shared__ Queue queue;
  __shared__ u64 bases[2];
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
    if (WINDOW && waits && is_better(value, cell_at(least))) accumulate(least, value);
    const u64 at = next_number(waits, numbers + NEAR);
    if (waits) lists.put(lists.near(0), at, (u32)v, value);
  }
  if (refused) poke(numbers + REFUSED, 1ull);
  barrier.meet();
  if (load_fresh(numbers + REFUSED)) return;

  C_T limit = WINDOW ? end_of_window(cell_at(least), width) : C_T(BEGIN);
  // So many lanes share the edges of a vertex: as many as an average row has, in powers of two.
  u32 lanes = 16;
  while (lanes > 1 && (u64)rows.ptr[size] * 2 <= (u64)size * lanes) lanes /= 2;
  const u32 share = 32 / lanes, member = lane / lanes, first_edge = lane % lanes;
  u32 round = 0, phase = 0;
  bool odd = false, idle = false;  // idle: the last round had no near vertex
  for (bool stops = false; !stops; ++round) {
    u64 count = load_fresh(numbers + NEAR + round % 3), waiting = load_fresh(numbers + FAR + phase % 3);
    const bool scans = WINDOW && count < lists.enough;
    const C_T before = limit;
    u64 from = 0;
    if (scans) {
      const C_T first = idle && !count ? cell_at(least + phase % 3) : C_T(BEGIN);
      limit = end_of_window(holds_initial(first) ? limit : first, width);
      from = lists.far(phase);
      ++phase;
    } else {
      waiting = 0;  // no longer constant: other blocks append
    }
    if (!count && !waiting) break;
    idle = !count;
    const u64 now = lists.near(round), next = lists.near(round + 1), far = lists.far(phase);
    u64* const after = numbers + NEAR + (round + 1) % 3;
    u64* const far_length = numbers + FAR + phase % 3;
    if (threadIdx.x == 0) queue.lengths[1] = queue.lengths[2] = queue.far_length = 0;
    __syncthreads();
    u32 turn = 0;
    // Lanes with `found` have improved v, whose row is (begin, degree), to x, which the limit includes, or does not.
    auto put = [&](u32 v, C_T x, PTR_T begin, u32 degree, bool found) {
      if (!__any_sync(ALL_LANES, found)) return;
      const u32 at = next_number(found, queue.lengths + (turn + 1) % 3), side = (turn + 1) & 1;
      const bool fits = found && at < QUEUE;
      if (fits) {
        queue.vertices[side][at] = v, queue.values[side][at] = x;
        queue.begins[side][at] = begin, queue.degrees[side][at] = degree;
      }
      const bool left = found && !fits;
      const u64 place = next_number(left, after);
      if (left) lists.put(next, place, v, x);
    };
    auto put_far = [&](u32 v, C_T x, bool found) {
      if (!__any_sync(ALL_LANES, found)) return;
      const u32 at = next_number(found, &queue.far_length);
      const bool fits = found && at < QUEUE;
      if (fits) queue.far_vertices[at] = v, queue.far_values[at] = x;
      const bool left = found && !fits;
      const u64 place = next_number(left, far_length);
      if (left) lists.put(far, place, v, x);
    };
    // Push x along the row of v, the same in the lanes that share it.
    auto push = [&](bool has, u32 v, C_T x, PTR_T begin, u32 degree) {
      const C_T current = has ? cell_at(d.values + v) : x;  // better than x: improved again, and listed again
      if (!has) degree = 0;
      // EDGES edges of a lane are in flight. Rows of the ends are looked up meanwhile, whether or not they improve.
      for (u32 k = first_edge; __any_sync(ALL_LANES, k < degree); k += EDGES * lanes) {
        u32 to[EDGES];
        A_T weight[EDGES];
        C_T z[EDGES], old[EDGES];
        PTR_T row[EDGES], end[EDGES];
#pragma unroll
        for (int q = 0; q < EDGES; ++q) {
          const u32 at = k + q * lanes;
          to[q] = 0, weight[q] = A_T();
          if (at < degree) to[q] = (u32)rows.col.col[begin + at], weight[q] = a.at(begin + at);
        }
#pragma unroll
        for (int q = 0; q < EDGES; ++q) {
          old[q] = z[q] = C_T(BEGIN), row[q] = end[q] = 0;
          if (k + q * lanes < degree && !is_better(current, x)) {
            z[q] = C_T(mul(weight[q], x, to[q], v));
            row[q] = rows.ptr[to[q]], end[q] = rows.ptr[to[q] + 1];
            if (is_better(z[q], C_T(BEGIN))) old[q] = accumulate(d.values + to[q], z[q]);
            else odd = true;
          }
        }
#pragma unroll
        for (int q = 0; q < EDGES; ++q) {
          const bool found = is_better(z[q], old[q]), late = WINDOW && found && is_better(limit, z[q]);
          put(to[q], z[q], row[q], (u32)(end[q] - row[q]), found && !late);
          if (WINDOW) put_far(to[q], z[q], late);
        }
      }
    };
    // Waiting vertices that the limit now includes go into the queue; the others wait on.
    {
      const bool all = waiting > lists.capacity;
      if (all) waiting = (u64)size;
      // In pieces of 8, so that a short list is shared by all blocks.
      for (u64 at = 8 * (blockIdx.x + gridDim.x * (threadIdx.x / 8ull)) + threadIdx.x % 8;
           __any_sync(ALL_LANES, at < waiting); at += all_threads()) {
        const bool has = at < waiting;
        const u32 v = !has ? 0u : all ? (u32)at : lists.vertices[from + at];
        const C_T current = has ? cell_at(d.values + v) : C_T(BEGIN),
                  x = !has || all ? current : lists.values[from + at];
        const bool waits = has && (all ? !holds_initial(x) && is_better(before, x) : !is_better(current, x));
        const bool late = waits && is_better(limit, x);
        PTR_T row = 0, end = 0;
        if (waits && !late) row = rows.ptr[v], end = rows.ptr[v + 1];
        put(v, x, row, (u32)(end - row), waits && !late);
        put_far(v, x, late);
        C_T* const first = least + phase % 3;
        if (idle && late && is_better(x, cell_at(first))) accumulate(first, x);
      }
    }
    {
      const bool all = count > lists.capacity;
      if (all) count = (u64)size;
      for (u64 at = share * (blockIdx.x + (u64)gridDim.x * warp); at < count; at += share * (u64)gridDim.x * WARPS) {
        const u64 place = at + member;
        bool has = place < count;
        const u32 v = !has ? 0u : all ? (u32)place : lists.vertices[now + place];
        C_T x = C_T(BEGIN);
        PTR_T begin = 0, end = 0;
        if (has)
          x = all ? cell_at(d.values + v) : lists.values[now + place], begin = rows.ptr[v], end = rows.ptr[v + 1];
        if (all) has = has && !holds_initial(x) && !(WINDOW && is_better(limit, x));
        push(has, v, x, begin, (u32)(end - begin));
      }
    }
    for (turn = 1; turn <= TURNS; ++turn) {
      __syncthreads();
      const u32 found = queue.lengths[turn % 3], length = found < QUEUE ? found : QUEUE, side = turn & 1;
      if (!length) break;
      if (threadIdx.x == 0) queue.lengths[(turn + 2) % 3] = 0;
      for (u32 at = share * warp; at < length; at += share * WARPS) {
        const bool has = at + member < length;
        const u32 place = has ? at + member : 0;
        push(has, queue.vertices[side][place], queue.values[side][place], queue.begins[side][place],
             queue.degrees[side][place]);
      }
    }
    // What is left in the queue, and what waits.
    __syncthreads();
    const u32 found = queue.lengths[turn % 3], length = found < QUEUE ? found : QUEUE, side = turn & 1;
    const u32 late = queue.far_length < QUEUE ? queue.far_length : QUEUE;
    if (threadIdx.x == 0) bases[0] = length ? atomicAdd(after, (u64)length) : 0;
    if (threadIdx.x == 32) bases[1] = late ? atomicAdd(far_length, (u64)late) : 0;
    __syncthreads();
    for (u32 at = threadIdx.x; at < length; at += THREADS)
      lists.put(next, bases[0] + at, queue.vertices[side][at], queue.values[side][at]);
    for (u32 at = threadIdx.x; at < late; at += THREADS)
      lists.put(far, bases[1] + at, queue.far_vertices[at], queue.far_values[at]);
    if (first_thread() == 0) {
      numbers[NEAR + (round + 2) % 3] = 0;
      if (scans) numbers[FAR + (phase + 1) % 3] = 0, least[(phase + 1) % 3] = C_T(BEGIN);
      numbers[STOP + (round & 1)] = (u64)(load_fresh(outermost + 3) != 0);
    }
    barrier.meet();
    stops = load_fresh(numbers + STOP + (round & 1)) != 0;
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
