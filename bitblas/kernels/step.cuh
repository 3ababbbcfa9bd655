// What the steps of every format share: products of a frontier by pushing, which give a frontier.
#include "kernels/push.cuh"
#include "kernels/frontier.cuh"

// Bit j of a mask; ALSO: the entries of u count as set, because AT_ENTRY sets them while others read.
#define open(j) \
  (((((mask_stride ? ((const u32*)mask)[(j) >> 5] : 0u) | (ALSO ? ((const u32*)u_bits)[(j) >> 5] : 0u)) ^             \
     (u32)mask_invert) >>                                                                                            \
    ((j) & 31)) & 1u)

// Bits and cells of the frontier that is no longer needed are cleared: t of the round after begins with none.
#if KIND == VALUES && HAS_TERMINAL != 2
#define CELLS_BEGIN 1  // products are joined to what the cell holds
#else
#define CELLS_BEGIN 0
#endif
