// Rows in the rounds of a device loop: advances on plain or packed rows, pulls of the rows on a worklist, and relaxation by patches.
#include "formats/csr/rows.cuh"

#ifdef KERNEL_rounds
// Small rounds of one advance along rows: a group of LANES lanes pushes along a row.
#include "kernels/cluster.cuh"
#include "kernels/rounds.cuh"
#endif  // KERNEL_rounds

#ifdef KERNEL_worklist_rounds
// Small rounds of a loop body with element-wise kernels and one advance, along rows.
// loop/codegen/cuda_kernels.py generates the text of the element-wise kernels.
#include "kernels/cluster.cuh"
#include "kernels/worklist_rounds.cuh"
#endif  // KERNEL_worklist_rounds

#ifdef KERNEL_advance
// Advance on plain or packed rows, one round of a device loop (kernels/advance_rows.cuh).
// A warp walks up to 32 rows as one concatenated row, and four warps share a segment of a long one.
// Rows that pull try the hub column first, then each lane a few of its own; what is left of a row is searched
// by several lanes, a long row by a warp or a block.
#include "formats/csr/columns.cuh"
#include "formats/csr/search.cuh"
#include "kernels/joined.cuh"
#define FEW 4  // entries that a lane tests at a time
#define ALONE 12  // rows per warp from which on each lane searches its own
#define LOG_PARTS 2  // log2 of the warps per segment
#define MANY 256  // entries of a row from which on a warp searches it,
#define LEFT 8  // or, once a warp has at most this many rows left,
#define FEWER 32  // from this many on
#define TOGETHER 8  // lanes that share each of the other rows
#define PULL_FORM() PullView pulled
#define PULL_FORM_OF() {pulled, matrix.col.width}
#define BY_BLOCK 1
typedef COL_T guess_t;  // the hub column of a row
typedef PTR_T entry_t;  // index of an entry
typedef COL_T number_t;  // number of a row

// take(has, j, e, owner): entries e of rows, AT_ONCE per lane, in columns j; owner: the lane that owns the row.
template <class Take> struct WithColumns {
  const Rows& rows;
  Take& take;
  __device__ __forceinline__ void operator()(const bool* has, const PTR_T* e, const int* owner, u32, u32) const {
    COL_T j[AT_ONCE];
#pragma unroll
    for (int k = 0; k < AT_ONCE; ++k) j[k] = has[k] ? Columns(rows.col, e[k]).at((i64)e[k], 0) : COL_T(0);
    take(has, j, e, owner);
  }
};

template <class Take> __device__ __forceinline__ void walk_rows(const Rows& rows, const Item& mine, Take take) {
  walk_joined(mine.begin, mine.end, WithColumns<Take>{rows, take});
}

__device__ __forceinline__ u32 log_parts_of(u64, i64) { return LOG_PARTS; }
// Part `part` of segment s of row i.
template <class Take>
__device__ __forceinline__ void walk_segment(const Rows& rows, u32 i, u32 s, u32 part, u32, i64 longest, Take take) {
  const i64 size = (longest + (1 << LOG_PARTS) - 1) >> LOG_PARTS, begin = (i64)rows.ptr[i] + s * longest,
            end = rows.ptr[i + 1];
  const i64 first = begin + part * size, last = begin + longest < end ? begin + longest : end;
  walk_row((PTR_T)first, (PTR_T)(first + size < last ? first + size : last), WithColumns<Take>{rows, take});
}

struct pull_row_t {
  PTR_T begin, end;
};

// The rows that pull.
struct PullView {
  const PTR_T* ptr;
  const column_t* col;
  const COL_T* hub_column;  // hub column of each row (`hub_column` in convert.cu)
  const u64* filled;  // bits of the nonempty rows
  i64 guesses;  // 0: `hub_column` and `filled` are not available
  const value_t* val;
};

struct PullRows : PullView {
  i64 width;

  __device__ __forceinline__ COL_T guess(i64 j) const { return guesses ? hub_column[j] : COL_T(0); }
  __device__ __forceinline__ u32 some_of(i64 h) const { return guesses ? ((const u32*)filled)[h] : ~0u; }
  __device__ __forceinline__ bool some(const pull_row_t& x, COL_T) const { return x.begin < x.end; }
  // Position of column j in a row.
  __device__ __forceinline__ i64 place(const pull_row_t& x, i64 j) const {
    return lower_bound(AnyColumn<PACKED, COL_T>(col, width), (i64)x.begin, (i64)x.end, j);
  }
  // Whether u has an entry in a row; called by the whole warp.
  __device__ __forceinline__ Hit search(const pull_row_t& x, const u64* u_bits) const {
    __shared__ PTR_T rest_begin[BLOCK / 32][32], rest_end[BLOCK / 32][32];
    if (!__any_sync(ALL_LANES, x.begin < x.end)) return {false, 0, 0};
    i64 e = x.begin;
    const i64 stop = x.end;
    bool hit = false, left = e < stop;
    i64 from = 0, found = 0;
    // Each lane by itself, as long as many lanes have entries left to test: then other rows cost no additional time.
#pragma unroll 1
    do {
      COL_T first[FEW];
      u32 word[FEW];
      const Columns entry(col, width, e);
#pragma unroll
      for (int few = 0; few < FEW; ++few) first[few] = left && e + few < stop ? entry.at(e, few) : COL_T(0);
#pragma unroll
      for (int few = 0; few < FEW; ++few)
        word[few] = left && e + few < stop ? ((const u32*)u_bits)[first[few] >> 5] : 0;
#pragma unroll
      for (int few = FEW - 1; few >= 0; --few)
        if (word[few] >> (first[few] & 31) & 1) {
          hit = true;
          from = first[few], found = e + few;
        }
      e += FEW;
      left = left && !hit && e < stop;
    } while (__popc(__ballot_sync(ALL_LANES, left)) >= ALONE);
    // The rest: a long row by the warp, the others by groups of lanes, each taking the next row when it is done.
    const int many = __popc(__ballot_sync(ALL_LANES, left)) <= LEFT ? FEWER : MANY;
    const bool is_long = left && stop - e > many;
    if (!__any_sync(ALL_LANES, left)) return {hit, from, found};
    for (u32 rest = __ballot_sync(ALL_LANES, is_long); rest; rest &= rest - 1) {
      const int owner = __ffs(rest) - 1;
      const i64 last = __shfl_sync(ALL_LANES, stop, owner);
      i64 p = __shfl_sync(ALL_LANES, e, owner) + WARP_LANE, place = last;
      while (place == last && p - WARP_LANE < last) {
        COL_T next[FEW];
        bool has[FEW];
#pragma unroll
        for (int few = 0; few < FEW; ++few)
          next[few] = p + few * 32 < last ? Columns(col, width, p + few * 32).at(p + few * 32, 0) : COL_T(0);
#pragma unroll
        for (int few = 0; few < FEW; ++few) has[few] = p + few * 32 < last && bit_of(u_bits, next[few]);
#pragma unroll
        for (int few = 0; few < FEW; ++few, p += 32)
          if (has[few] && place == last) place = p;
        const u32 who = __ballot_sync(ALL_LANES, place < last);
        if (who) place = __shfl_sync(ALL_LANES, place, __ffs(who) - 1);
      }
      if (WARP_LANE == owner) e = place;
    }
    const u32 rest = __ballot_sync(ALL_LANES, left && !is_long);
    const int slot = __popc(rest & ((1u << WARP_LANE) - 1u));
    PTR_T* const begins = rest_begin[threadIdx.x / 32];
    PTR_T* const ends = rest_end[threadIdx.x / 32];
    if (left && !is_long) begins[slot] = (PTR_T)e, ends[slot] = (PTR_T)stop;
    __syncwarp();
    const int count = __popc(rest), in_group = WARP_LANE & (TOGETHER - 1);
    int row = WARP_LANE / TOGETHER;
    PTR_T p = row < count ? begins[row] : 0, last = row < count ? ends[row] : 0;
    while (__any_sync(ALL_LANES, row < count)) {
      PTR_T place = last;
      if (p + in_group < last && bit_of(u_bits, Columns(col, width, p + in_group).at((i64)p + in_group, 0)))
        place = p + in_group;
      const u32 who = __ballot_sync(ALL_LANES, place < last) & group_mask<TOGETHER>();
      after_vote();
      p += TOGETHER;
      if (row >= count || (!who && p < last)) continue;
      if (who ? (who & ((1u << WARP_LANE) - 1u)) == 0 && place < last : in_group == 0) begins[row] = place;
      row += 32 / TOGETHER;
      if (row < count) p = begins[row], last = ends[row];
      else p = last;
    }
    __syncwarp();
    if (left && !is_long) e = begins[slot];
    if (left && e < stop) {
      hit = true;
      from = Columns(col, width, e).at(e, 0), found = e;
    }
    return {hit, from, found};
  }
  // The same for one long row, by the whole block; some of its threads may have a hit already.
  __device__ __forceinline__ Hit search_by_block(const pull_row_t& x, const u64* u_bits) const {
    Hit hit = {false, 0, 0};
    for (i64 first = x.begin;; first += FEW * BLOCK) {
      COL_T next[FEW];
      bool has[FEW];
#pragma unroll
      for (int few = 0; few < FEW; ++few) {
        const i64 p = first + few * BLOCK + threadIdx.x;
        has[few] = p < (i64)x.end;
        next[few] = has[few] ? Columns(col, width, p).at(p, 0) : COL_T(0);
      }
#pragma unroll
      for (int few = 0; few < FEW; ++few)
        if (has[few] && bit_of(u_bits, next[few])) hit = {true, (i64)next[few], first + few * BLOCK + threadIdx.x};
      if (__syncthreads_or(hit.some) || (i64)x.end - first <= FEW * BLOCK) return hit;
    }
  }
};

__device__ __forceinline__ pull_row_t pull_row(const PullRows& back, i64 j) { return {back.ptr[j], back.ptr[j + 1]}; }
__device__ __forceinline__ Hit search_row(const PullRows& back, const pull_row_t& x, i64, const u64* u_bits) {
  return back.search(x, u_bits);
}
// Whether the rows that pull are those that the next advance pushes along, and the length of one.
__device__ __forceinline__ bool is_same(const PullRows& back, const Rows& rows) { return back.ptr == rows.ptr; }
__device__ __forceinline__ i64 pull_row_length(const pull_row_t& x) { return (i64)x.end - x.begin; }

#include "kernels/advance_rows.cuh"
#endif  // KERNEL_advance

#ifdef KERNEL_pull_worklist
// Pull SpMV at the rows on a list: t = A (+).(x) u, for loops whose mask has few rows.
// loop/gpu/compact_frontier.cu prepares t.
// A warp walks some rows as one concatenated row or, if there are few, one after the other, and then takes more: runs
// of rows that are far apart on the list, because neighbours may all be long. PARTS warps share a segment of a long
// row, and all segments of a row are combined in its cell. If u is full, the bits of t are already set.
#include "kernels/joined.cuh"
#define PARTS 4  // warps per segment
#define TAKEN 6  // index in the state: groups of rows taken by warps
#define RUN 8  // consecutive rows of the list that are taken together
#define FEW 4  // rows of a warp up to which it walks them one by one

// The sum of a lane.
struct Partial {
  bool some;
  Z_T sum;
};

// The rows on the list, and the segments of long ones.
struct WorklistRows {
  const u32* list;
  u64* state;
  const u32* segments;
};

struct Operand {
  const Rows& rows;
  const Values& values;
  const VectorView<U_T>& u;

  // The products of entries e of rows i; `has` is cleared where u has no entry.
  __device__ __forceinline__ void products(bool* has, const PTR_T* e, const u32* i, Z_T* z) const {
    COL_T j[AT_ONCE];
    A_T a[AT_ONCE];
#pragma unroll
    for (int k = 0; k < AT_ONCE; ++k) {
      j[k] = has[k] ? Columns(rows.col, e[k]).at((i64)e[k], 0) : COL_T(0);
      a[k] = has[k] ? values.at(e[k]) : A_T(values.iso);
    }
#pragma unroll
    for (int k = 0; k < AT_ONCE; ++k) {
      if (!U_FULL) has[k] = has[k] && u.has(j[k]);
      z[k] = has[k] ? mul(a[k], u.at(j[k]), i[k], j[k]) : Z_T(BEGIN);
    }
  }
  // The sum over entries [e, stop) of row i, by a warp.
  __device__ __forceinline__ Partial sum(PTR_T e, PTR_T stop, u32 i) const {
    Partial x = {false, Z_T(BEGIN)};
    u32 row[AT_ONCE];
#pragma unroll
    for (int k = 0; k < AT_ONCE; ++k) row[k] = i;
    walk_row(e, stop, [&](const bool* there, const PTR_T* at, const int*, u32, u32) {
      bool has[AT_ONCE];
      Z_T z[AT_ONCE];
#pragma unroll
      for (int k = 0; k < AT_ONCE; ++k) has[k] = there[k];
      products(has, at, row, z);
#pragma unroll
      for (int k = 0; k < AT_ONCE; ++k) join(x.some, x.sum, has[k], z[k]);
    });
    join_lanes(x.some, x.sum, 1);
    return x;
  }
};

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    pull_worklist(i64 n, i64 longest, Control control, WorklistRows rows, VectorView<U_T> u, Rows A, Values a,
                  OutputView<C_T> t) {
  (void)n;
  const bool runs = control.runs();
  const u32 list_length = (u32)rows.state[LIST_LENGTH];
  const i64 parts = (i64)rows.state[SEGMENTS] * PARTS;
  if (!runs) return;
  const Operand of = {A, a, u};
  const u32 warp = (u32)(thread_number() / 32), warps = gridDim.x * (BLOCK / 32);
  __shared__ Z_T staged[BLOCK / 32][32 * AT_ONCE];
  __shared__ bool marked[BLOCK / 32][32 * AT_ONCE];
  Z_T* const here = staged[threadIdx.x / 32];
  bool* const there = marked[threadIdx.x / 32];

  // Rows per warp, such that every warp has some.
  u32 share = (list_length + warps - 1) / warps;
  if (share > RUN) share = share < 32 ? (share + RUN - 1) / RUN * RUN : 32;
  const u32 run = share < RUN ? share : RUN;
  const u32 groups = share ? (list_length + share - 1) / share : 0;
  u32 next = 0;
  for (u32 group = warp; group < groups; group = next) {
    next = groups;  // prefetched
    if (groups > warps && WARP_LANE == 0) next = warps + (u32)atomicAdd(rows.state + TAKEN, 1ull);
    const u64 at = (u64)(WARP_LANE / run) * run * groups + (u64)group * run + WARP_LANE % run;
    const bool mine = WARP_LANE < share && at < list_length;
    const u32 i = mine ? rows.list[at] : 0;
    Item row = {};
    if (mine) row = A.item(i);
    if (A.work_of(row) > longest) row = {};  // processed as segments
    Partial x = {false, Z_T(BEGIN)};
    if (share <= FEW) {
      for (u32 k = 0; k < share; ++k) {
        const Partial all = of.sum(__shfl_sync(ALL_LANES, row.begin, k), __shfl_sync(ALL_LANES, row.end, k),
                                   __shfl_sync(ALL_LANES, i, k));
        if (WARP_LANE == k) x = all;
      }
    } else {
      walk_joined(row.begin, row.end, [&](const bool* all, const PTR_T* at, const int* owner, u32 low, u32 high) {
        bool has[AT_ONCE];
        u32 row_of[AT_ONCE];
        Z_T z[AT_ONCE];
#pragma unroll
        for (int k = 0; k < AT_ONCE; ++k) has[k] = all[k], row_of[k] = __shfl_sync(ALL_LANES, i, owner[k]);
        of.products(has, at, row_of, z);
#pragma unroll
        for (int k = 0; k < AT_ONCE; ++k) here[k * 32 + WARP_LANE] = z[k], there[k * 32 + WARP_LANE] = has[k];
        __syncwarp();
        for (u32 k = low; k < high; ++k) join(x.some, x.sum, U_FULL || there[k], here[k]);
        __syncwarp();
      });
    }
    if (mine && x.some) {
      t.values[i] = C_T(x.sum);
      if (!U_FULL) set_bit(t.bits, i);
    }
    next = __shfl_sync(ALL_LANES, next, 0);
  }
  for (i64 s = warp; s < parts; s += warps) {
    const u32 i = rows.segments[2 * (s / PARTS)];
    const i64 size = (longest + PARTS - 1) / PARTS,
              begin = (i64)A.ptr[i] + rows.segments[2 * (s / PARTS) + 1] * longest;
    const i64 end = A.ptr[i + 1], last = begin + longest < end ? begin + longest : end, from = begin + s % PARTS * size;
    const Partial x = of.sum((PTR_T)from, (PTR_T)(from + size < last ? from + size : last), i);
    if (WARP_LANE == 0 && x.some) {
      join_is_first(t.values + i, x.sum, cell_at(t.values + i));
      if (!U_FULL) set_bit(t.bits, i);
    }
  }
}
#endif  // KERNEL_pull_worklist

#ifdef KERNEL_patches
// One round of a fixpoint by patches of PATCH consecutive positions (loop/gpu/patches.py).
// A block takes a patch from the worklist, loads it into shared memory, and pushes along the edges inside it until
// nothing changes; then it pushes along the edges that leave it. Patches that change are queued for the next round.
// RENUMBERED: positions are those of rows in another order.
// state: for each of three rounds in rotation the number of queued and of taken patches, followed by the observed
// values (loop/gpu/patches.cuh). Sums are min or max (JOIN), so the processing order affects only the time.
// Arguments: lists: the three worklists of patches; in_worklist, waiting: flags per patch and per position; outermost:
// counters of the outermost loop; vertices: row numbers (RENUMBERED); d_val: the vector of the fixpoint.
#include "kernels/advance.cuh"
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
    patches(i64 n, i64 size, u32 phase, u32* state, u32* lists, u32* in_worklist, u32* waiting, const i64* outermost,
            const u32* vertices, C_T* d_val, Rows rows, Values a) {
  (void)n, (void)vertices;
  __shared__ Local s;
  const u32 next = phase == 2 ? 0 : phase + 1, after = next == 2 ? 0 : next + 1,
            all = (u32)((size + PATCH - 1) / PATCH);
  const u32 count = state[2 * phase];
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
      const u32 item = atomicAdd(&state[2 * phase + 1], 1u);
      s.patch = item < count ? lists[(i64)phase * all + item] : all;
    }
    if (threadIdx.x < 3) s.count[threadIdx.x] = 0;
    __syncthreads();
    const u32 r = s.patch;
    if (r == all) break;
    const i64 base = (i64)r * PATCH;
    // Later writers of these positions queue the patch again; earlier writes are visible here.
    if (threadIdx.x == 0) {
      s.borders = s.gains = 0;
      *(volatile u32*)(in_worklist + r) = 0;
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
        if (!atomicExch(in_worklist + r, 1u)) waits_next(r);
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
            if (!atomicExch(in_worklist + to[k] / PATCH, 1u)) waits_next(to[k] / PATCH);
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
      if (!*(volatile u32*)(in_worklist + other) && !atomicExch(in_worklist + other, 1u)) waits_next(other);
    }
  }
  if (threadIdx.x == 0 && s.odd) poke(state + ODD, 1u);
}
#endif  // KERNEL_patches
