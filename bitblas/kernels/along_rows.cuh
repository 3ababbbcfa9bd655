// Pushes along rows in small rounds (rounds.cuh, listed.cuh): what the header of a form by rows, which stands before, says
// of its items is all that differs (formats/csr/rows.cuh).
#include "kernels/cluster.cuh"
typedef Rows Units;

// The `stride` lanes that share a row call it together, all of a warp do.
struct Along {
  Units form;
  Values values;
  U_T u_iso;
  i64 u_stride;
  const u64* mask;
  i64 mask_stride;
  u64 mask_invert;

  template <class Put>
  __device__ __forceinline__ void operator()(const Item& x, int lane, int stride, const u64* u_bits,
                                             const STORED(U_T)* u_val, u64* t_bits, C_T* t_val, Put put) const {
    (void)u_bits;
    form.along(x, lane, stride, [&](bool has, i64 j, i64 e) {
      bool fresh = false;
#if PLACES
      u64 added = 0;
      if (has && open(j)) {
        added = put.add(j, 1);
        fresh = reach(t_bits, t_val, j, e, x.unit, values, u_val, u_iso, u_stride);
      }
      put(added, j, fresh);
#else
      Item found = {};
      if (has) {
        found = form.item((u32)j);
        const u32 there = ((const u32*)t_bits)[j >> 5];
        form.ask(found), asked(there);
        fresh = open(j) && (CELLS_BEGIN || !(there >> (j & 31) & 1)) &&
                reach_anew(t_bits, t_val, j, e, x.unit, values, u_val, u_iso, u_stride);
      }
      put(fresh, found);
#endif
    });
  }
  // Asks for what an item begins with.
  __device__ __forceinline__ void touch(const Item&, int) const {}
  // entry(i) for the entries of u that an item has, each by one of the lanes.
  template <class Entry>
  __device__ __forceinline__ void entries(const Item& x, int lane, const u64*, Entry entry) const {
    if (lane == 0) entry((i64)x.unit);
  }
};
