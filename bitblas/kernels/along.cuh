// Pushes along items in small rounds (rounds.cuh, listed.cuh). What stands before says of a form what its Units and Items
// are; what stands after says how they are pushed along (struct Along).
#include "kernels/cluster.cuh"

// Where a push begins and ends, which turns from round to round: t gets what u gives.
struct Ends {
  const u64* u_bits;
  const STORED(U_T)* u_val;
  u64* t_bits;
  C_T* t_val;
};

// What else a push is of.
struct Operands {
  Units form;
  Values values;
  U_T u_iso;
  i64 u_stride;
  const u64* mask;
  i64 mask_stride;
  u64 mask_invert;
};
