// Small rounds along rows (see kernels/rounds.cuh, kernels/listed.cuh, and step.cu for the same by the grid).
#include "kernels/step.cuh"
#include "kernels/cluster.cuh"
#include "formats/csr/reach.cuh"
#include "formats/csr/columns.cuh"
#define PER 1
#define FORM() const PTR_T *ptr, const column_t *col, i64 width
#define FORM_OF() {ptr, col, width}

// A row: its number, and where its entries stand.
struct Item {
  u32 unit;
  PTR_T begin, end;
};

struct Rows {
  const PTR_T* ptr;
  const column_t* col;
  i64 width;
  __device__ __forceinline__ Item item(u32 i) const { return {i, ptr[i], ptr[i + 1]}; }
  __device__ __forceinline__ Item item_at(u32 place) const { return item(place); }
  __device__ __forceinline__ i64 work_of(const Item& x) const { return (i64)x.end - x.begin; }
};
typedef Rows Units;

// Pushes along rows; meanwhile(): what is done while the first loads are on their way. The `stride` lanes that share one call it together, all of a warp do.
struct Along {
  Units form;
  Values values;
  U_T u_iso;
  i64 u_stride;
  const u64* mask;
  i64 mask_stride;
  u64 mask_invert;

  template <class Put, class Meanwhile>
  __device__ __forceinline__ void operator()(const Item& x, int lane, int stride, const u64* u_bits,
                                             const STORED(U_T)* u_val, u64* t_bits, C_T* t_val, Put put,
                                             Meanwhile meanwhile) const {
    (void)u_bits;
    i64 e = (i64)x.begin + lane;
    const i64 stop = x.end;
    Columns entry(form.col, form.width, e);
    bool first = true;
    do {
      const i64 j = e < stop ? (i64)entry.at(e, 0) : 0;
      bool fresh = false;
#if PLACES
      u64 added = 0;
      if (first) meanwhile();
      if (e < stop && open(j)) {
        added = put.add(j, 1);
        fresh = reach(t_bits, t_val, j, e, x.unit, values, u_val, u_iso, u_stride);
      }
      put(added, j, fresh);
#else
      Item found = {};
      u32 there = 0;
      bool is_open = false;
      if (e < stop) {
        found = form.item((u32)j);
        there = ((const u32*)t_bits)[j >> 5];
        is_open = open(j);
        asked(found.begin), asked(found.end), asked(there), asked(is_open);
      }
      if (first) meanwhile();
      if (is_open)
        fresh = (CELLS_BEGIN || !(there >> (j & 31) & 1)) &&
                reach_anew(t_bits, t_val, j, e, x.unit, values, u_val, u_iso, u_stride);
      put(fresh, found);
#endif
      first = false;
      e += stride;
      entry.skip(stride);
    } while (__any_sync(ALL_LANES, e < stop));
  }
  // entry(i) for the entries of u that an item has, each by one of the lanes.
  template <class Entry>
  __device__ __forceinline__ void entries(const Item& x, int lane, const u64*, Entry entry) const {
    if (lane == 0) entry((i64)x.unit);
  }
};
