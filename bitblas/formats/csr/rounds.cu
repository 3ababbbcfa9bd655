// Small rounds of a program along rows (see kernels/rounds.cuh, and step.cu for the same by the grid): a group of LANES
// lanes pushes along a row.
#include "kernels/step.cuh"
#include "formats/csr/reach.cuh"
#include "formats/csr/columns.cuh"
#define PER 1

struct Item {
  u32 unit;
  PTR_T begin, end;
};

struct Rows {
  const PTR_T* ptr;
  __device__ __forceinline__ Item item(u32 i) const { return {i, ptr[i], ptr[i + 1]}; }
  __device__ __forceinline__ i64 work_of(const Item& x) const { return (i64)x.end - x.begin; }
};
#include "kernels/rounds.cuh"

extern "C" __global__ void IN_CLUSTER __launch_bounds__(THREADS, 1)
rounds(i64 n, i64 size, i64 longest, u64 most, u64 most_work, i64* rounds, u64* state, u64* old_state, u64* u_bits,
       u64* t_bits, u64* old_bits, C_T* u_val, C_T* t_val, C_T* old_val, u32* list, u32* spill, const u32* old_list,
       u32* segments, const u64* mask, i64 mask_stride, u64 mask_invert, const PTR_T* ptr, const column_t* col, i64 width,
       const value_t* a_val, A_T a_iso, i64 a_stride PARAMETERS) {
  (void)n;
  const Rows form = {ptr};
  const Values values = {a_val, a_iso, a_stride};
  run_rounds(
      form, {u_bits, t_bits, old_bits, u_val, t_val, old_val}, size, longest, most, most_work, rounds, state, old_state,
      list, spill, old_list, segments,
      [&](const Item& x, int lane, const Buffers& b, auto put) {
        const u64* const u_bits = b.bits;
        (void)u_bits;
        i64 e = (i64)x.begin + lane;
        const i64 stop = x.end;
        for (Columns entry(col, width, e); __any_sync(ALL_LANES, e < stop); e += LANES, entry.skip(LANES)) {
          Item found = {};
          bool fresh = false;
          if (e < stop) {
            const i64 j = entry.at(e, 0);
            found = form.item((u32)j);
            asked(found.begin), asked(found.end);
            fresh = open(j) && reach(b.next_bits, b.next_val, j, e, x.unit, values, (const STORED(U_T)*)b.val, U_T(), 1);
          }
          put(fresh, found, form.work_of(found));
        }
      },
      [&](const Item& x, int lane, const Buffers& b, i64 begin, i64 ahead) {
        const i64 rounds[] = {begin};
        (void)rounds, (void)ahead, (void)b;
        if (lane == 0) {
          AT_ENTRY(x.unit)
        }
      });
}
