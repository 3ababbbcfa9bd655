// Operands of a push along the items of a layout, for small rounds inside one cluster (rounds.cuh, listed.cuh).
// Include after the layout's header, which defines Units and Item. The including header then defines struct Along,
// which pushes along one item.
#include "kernels/cluster.cuh"

// Input and output of a push; they swap from round to round.
struct Ends {
  const u64* u_bits;
  const STORED(U_T)* u_val;
  u64* t_bits;
  C_T* t_val;
};

// The other operands of a push.
struct Operands {
  Units form;
  Values values;
  U_T u_iso;
  i64 u_stride;
  MaskView mask;
};
