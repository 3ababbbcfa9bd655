// Small rounds along rows in nibbles (see kernels/rounds.cuh, kernels/listed.cuh, and step.cu for the same by the grid).
#include "kernels/step.cuh"
#include "kernels/cluster.cuh"
#include "formats/nib/reach.cuh"
#define PER 1

// A row: its number, and where its nibbles stand.
struct Item {
  u32 unit;
  i64 begin, end;
};

struct Rows {
  Nibbles of;
  __device__ __forceinline__ Item item(u32 i) const {
    const Extent x = of.row(i);
    return {i, x.at, x.end};
  }
  __device__ __forceinline__ Item item_at(u32 place) const { return item(place); }
  __device__ __forceinline__ i64 work_of(const Item& x) const { return words_of({x.begin, x.end}); }
};
typedef Rows Units;

// Pushes along rows. The `stride` lanes that share one call it together, all of a warp do; of more than a warp
// (PLACES: long rows) the first 32 decode it.
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
    meanwhile();
    const Extent whole = {x.begin, x.end};
    const i64 number = RANKED && whole.at < whole.end ? form.of.number(x.unit) : 0;
#if PLACES
    if (stride > LANES) {
      Walk<32, RANKED> walk(whole, x.unit, number);
      if (lane >= 32) walk.stop();
      go(walk, x.unit, lane & 31, u_bits, u_val, t_bits, t_val, put);
      return;
    }
#endif
    (void)stride;
    go(Walk<LANES, RANKED>(whole, x.unit, number), x.unit, lane, u_bits, u_val, t_bits, t_val, put);
  }

  template <class W, class Put>
  __device__ __forceinline__ void go(W walk, u32 i, int lane, const u64* u_bits, const STORED(U_T)* u_val, u64* t_bits,
                                     C_T* t_val, Put put) const {
    (void)u_bits;
    while (__any_sync(ALL_LANES, walk.more())) {
      Found of;
      walk.step(form.of.words, lane, of);
#pragma unroll 1
      for (int k = 0; __any_sync(ALL_LANES, k < of.count); ++k) {
        const bool has = k < of.count;
        const i64 j = has ? (i64)of.next() : 0, e = RANKED && has ? of.entry + k : 0;
        bool fresh = false;
#if PLACES
        u64 added = 0;
        if (has && open(j)) {
          added = put.add(j, 1);
          fresh = reach(t_bits, t_val, j, e, i, values, u_val, u_iso, u_stride);
        }
        put(added, j, fresh);
#else
        Item found = {};
        if (has) {
          const u32 there = ((const u32*)t_bits)[j >> 5];
          asked(there);
          found = form.item((u32)j);
          fresh = open(j) && (CELLS_BEGIN || !(there >> (j & 31) & 1)) &&
                  reach_anew(t_bits, t_val, j, e, i, values, u_val, u_iso, u_stride);
        }
        put(fresh, found);
#endif
      }
    }
  }
  // entry(i) for the entries of u that an item has, each by one of the lanes.
  template <class Entry>
  __device__ __forceinline__ void entries(const Item& x, int lane, const u64*, Entry entry) const {
    if (lane == 0) entry((i64)x.unit);
  }
};
