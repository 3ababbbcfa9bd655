// Push along tile rows in small rounds.
// For kernels/rounds.cuh and kernels/listed.cuh. The kernel `step` does the same with the whole grid. Include after the
// definitions of advance.cu.

#if TILE == 64
typedef u64 tile_t;
#else
typedef u32 tile_t;  // the bits of a tile row, in the fewest registers
#endif

// Whether registers suffice to do other work while loads are in flight.
#define IN_FLIGHT (KIND == WORDS && !PACKED && TILE < 64)

// A tile row and its items, in integers as narrow as the pointers.
struct Item {
  u32 unit;
  PTR_T count, tile, tiles;
#if PACKED
  PTR_T near, nears, far;
#endif
};

struct TileRows {
  Form form;
  __device__ __forceinline__ Item item(u32 unit) const {
    const Items x = form.items(unit);
#if PACKED
    return {unit, (PTR_T)x.count, (PTR_T)x.tile, (PTR_T)x.tiles, (PTR_T)x.near, (PTR_T)x.nears, (PTR_T)x.far};
#else
    return {unit, (PTR_T)x.count, (PTR_T)x.tile, (PTR_T)x.tiles};
#endif
  }
#if PLACES
  // The item of one position is its tile row, identified by that position.
  __device__ __forceinline__ Item item_at(u32 place) const {
    Item x = item(place / TILE);
    x.unit = place;
    return x;
  }
#endif
  __device__ __forceinline__ Items items(const Item& x) const {
#if PACKED
    return {x.count, x.tile, x.tiles, x.near, x.nears, x.far};
#else
    return {x.count, x.tile, x.tiles};
#endif
  }
  __device__ __forceinline__ i64 work_of(const Item& x) const { return x.count; }
  __device__ __forceinline__ void ask(const Item& x) const { asked(x.count); }
};
typedef TileRows Units;
#include "kernels/along.cuh"

// Push along tile rows, one item per lane. All lanes of a warp call it; `stride` lanes share a tile row. PLACES: an
// item is one entry of u, otherwise all entries of its tile row. meanwhile(): work to do while the first loads are in
// flight.
struct Along : Operands, Ends {
  template <class Put, class Meanwhile>
  __device__ __forceinline__ void operator()(const Item& x, int lane, int stride, Put put, Meanwhile meanwhile) const {
    const Open open = {mask, u_bits};
    const Items items = form.items(x);
    const i64 tile_row = PLACES ? x.unit / TILE : x.unit;
    const tile_t active = (tile_t)(PLACES ? 1ull << (x.unit & (TILE - 1)) : x.count ? tile_bits(u_bits, tile_row) : 0ull);
    (void)tile_row;
    if (!IN_FLIGHT) meanwhile();
    i64 item = lane;
    do {
      i64 j = 0;
      u64 added = 0;
#if KIND == WORDS
      tile_t fresh = 0;
#else
      u64 fresh = 0;
#endif
      bool first = false;
      Item found = {};
#if KIND == WORDS
      tile_t hit = 0, there = 0;
      if (item < items.count) {
        hit = (tile_t)form.form.reach(items, item, active, j);
#if !PLACES
        found = form.item((u32)j);
        asked(found.tile), asked(found.count);
#endif
        there = (tile_t)part_now<TILE>(t_bits, j);
        asked(there);
        hit &= (tile_t)open[j];
      }
      if (IN_FLIGHT && item == lane) meanwhile();
#endif
      if (item < items.count) {
#if KIND == WORDS
        hit &= ~there;
#if PLACES
        if (hit) added = put.add(j * TILE, hit);
#endif
        if (hit) fresh = (tile_t)mark_tile(t_bits, j, hit, first);
#else
        const auto put_product = [&](i64 at, Z_T z) {
#if PLACES
          added |= put.add(at, 1) << (at & (TILE - 1));
#endif
          put_in_tile(t_bits, t_val, j, at, z, fresh, first);
        };
        form.form.products(items, item, tile_row, active, open, values, *this, j, put_product);
        if (!PLACES && first) found = form.item((u32)j);
#endif
      }
#if PLACES
      (void)found;
      put(added, j * TILE, __popcll(fresh));
#else
      (void)added;
      put(first, found);
#endif
      item += stride;
    } while (__any_sync(ALL_LANES, item < items.count));
  }
  __device__ __forceinline__ U_T at(i64 i) const { return load<U_T>(u_val, u_iso, u_stride, i); }
  // entry(i) for the entries of u in an item, each by one of the lanes.
  template <class Entry>
  __device__ __forceinline__ void entries(const Item& x, int lane, Entry entry) const {
#if PLACES
    if (lane == 0) entry((i64)x.unit);
#else
    for (u64 rest = tile_bits(u_bits, x.unit); rest; rest &= rest - 1) {
      const i64 i = (i64)x.unit * TILE + __ffsll(rest) - 1;
      if ((i & (LANES - 1)) == lane) entry(i);
    }
#endif
  }
};
