// Push along matrix rows in small rounds inside one cluster (rounds.cuh, listed.cuh).
// Include after the row header of the layout (for example formats/csr/rows.cuh), which defines Item and Rows.
typedef Rows Units;
#include "kernels/along.cuh"

// All lanes of a warp call it; `stride` lanes share a row. meanwhile(): work to do while the first loads are in flight.
struct Along : Operands, Ends {
  template <class Put, class Meanwhile>
  __device__ __forceinline__ void operator()(const Item& x, int lane, int stride, Put put, Meanwhile meanwhile) const {
    if (!IN_FLIGHT) meanwhile();
    bool waiting = IN_FLIGHT;  // the same in all lanes
    form.along(x, lane, stride, [&](bool has, i64 j, i64 e) {
      bool fresh = false;
#if PLACES
      u64 added = 0;
      // Loads that do not depend on j are issued together with it.
      Z_T z = Z_T(BEGIN);
      if (KIND != WORDS && has) z = mul(values.at(e), load<U_T>(u_val, u_iso, u_stride, x.unit), j, x.unit);
      if (waiting) meanwhile();
      if (has && is_open(mask, u_bits, j))
        fresh = reach(t_bits, t_val, j, z, [&] {
          added = put.add(j, 1);
          return mark(t_bits, j);
        });
      put(added, j, fresh);
#else
      Item found = {};
      u32 there = 0;
      bool allowed = false;
      if (has) {
        found = form.item((u32)j);
        there = peek((const u32*)t_bits + (j >> 5));
        allowed = is_open(mask, u_bits, j);
        form.ask(found), asked(there), asked(allowed);
      }
      if (waiting) meanwhile();
      if (allowed)
        fresh = (CELLS_BEGIN || !(there >> (j & 31) & 1)) &&
                reach_anew(t_bits, t_val, j, e, x.unit, values, u_val, u_iso, u_stride);
      put(fresh, found);
#endif
      waiting = false;
    });
    if (waiting) meanwhile();
  }
  // entry(i) for the entries of u in an item, each by one of the lanes.
  template <class Entry>
  __device__ __forceinline__ void entries(const Item& x, int lane, Entry entry) const {
    if (lane == 0) entry((i64)x.unit);
  }
};
