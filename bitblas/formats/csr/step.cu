// A round of a program by rows: kernels/step_rows.cuh. Rows that pull look at a few entries each, a lane a row, then one row
// after the other is gone through by the warp.
#include "formats/csr/rows.cuh"
#define FEW 4  // entries of a row that its lane looks at alone
#define PULL_FORM() const PTR_T *pull_ptr, const column_t *pull_col, const value_t *pull_val
#define PULL_FORM_OF() {pull_ptr, pull_col, width, pull_val}

struct Back {
  const PTR_T* ptr;
  const column_t* col;
  i64 width;
  const value_t* val;

  // An entry of u in row j, for the lanes that want one; the warp calls it together.
  __device__ __forceinline__ Hit look(i64 j, bool wanted, const u64* u_bits) const {
    i64 e = 0, stop = 0;
    if (wanted) e = ptr[j], stop = ptr[j + 1];
    Hit hit = {};
    Columns entry(col, width, e);
    for (int few = 0; few < FEW && e < stop && !hit.some; ++few, ++e, entry.skip(1)) {
      hit.from = entry.at(e, 0);
      hit.some = bit_of(u_bits, hit.from);
      hit.place = e;
    }
    u32 rest = __ballot_sync(ALL_LANES, !hit.some && e < stop);
    for (; rest; rest &= rest - 1) {
      const int owner = __ffs(rest) - 1;
      const i64 end = __shfl_sync(ALL_LANES, stop, owner);
      u32 who = 0;
      i64 c = 0, p = __shfl_sync(ALL_LANES, e, owner) + WARP_LANE;
      for (Columns mine(col, width, p); !who && p - WARP_LANE < end; p += 32, mine.skip(32)) {
        if (p < end) c = mine.at(p, 0);
        who = __ballot_sync(ALL_LANES, p < end && bit_of(u_bits, c));
      }
      if (!who) continue;
      const i64 from = __shfl_sync(ALL_LANES, c, __ffs(who) - 1);
      const i64 place = __shfl_sync(ALL_LANES, p - 32, __ffs(who) - 1);
      if (WARP_LANE == owner) hit = {true, from, place};
    }
    return hit;
  }
};

#include "kernels/step_rows.cuh"
