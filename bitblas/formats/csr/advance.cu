// Rows in the rounds of a device loop: advances on plain or packed rows and pulls of the rows on a worklist.
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
#include "formats/csr/advance.cuh"
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
