// Small rounds along tile rows (see kernels/rounds.cuh, kernels/listed.cuh, and step.cu for the same by the grid).
#include "formats/b2sr/items.cuh"
#include "kernels/step.cuh"
#include "kernels/cluster.cuh"
#include "formats/b2sr/mark.cuh"

// A tile row and its items, in numbers as narrow as the pointers.
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
  __device__ __forceinline__ Item item_at(u32 place) const {  // of one place: its tile row, by the name of the place
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
};
typedef TileRows Units;

// Pushes along tile rows, an item a lane. The `stride` lanes that share one call it together, all of a warp do. PLACES:
// an item is one entry of u, else all those of its tile row.
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
    const Open open = {mask, mask_stride, mask_invert, u_bits};
    const Items items = form.items(x);
    const i64 tile_row = PLACES ? x.unit / TILE : x.unit;
    const u64 active = PLACES ? 1ull << (x.unit & (TILE - 1)) : x.count ? tile_bits(u_bits, tile_row) : 0ull;
    (void)tile_row, (void)u_val;
    for (i64 item = lane; __any_sync(ALL_LANES, item < items.count); item += stride) {
      i64 j = 0;
      u64 fresh = 0, added = 0;
      bool first = false;
      Item found = {};
      if (item < items.count) {
#if KIND == WORDS
        u64 hit = form.form.reach(items, item, active, j);
#if !PLACES
        found = form.item((u32)j);
        asked(found.tile), asked(found.count);
#endif
        hit &= open[j] & ~tile_bits(t_bits, j);
#if PLACES
        if (hit) added = put.add(j * TILE, hit);
#endif
        if (hit) fresh = mark_tile(t_bits, j, hit, first);
#else
        const auto put_product = [&](i64 at, Z_T z) {
#if PLACES
          added |= put.add(at, 1) << (at & (TILE - 1));
#endif
          put_in_tile(t_bits, t_val, j, at, z, fresh, first);
        };
        form.form.products(items, item, tile_row, active, open, values, values.one, u_val, u_iso, u_stride, j, put_product);
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
    }
  }
  // Asks for what an item begins with, before statements wait for entries of u.
  __device__ __forceinline__ void touch(const Item& x, int lane) const {
#if !PLACES
    if (lane >= x.tiles) return;
    asked(form.form.col[x.tile + lane]);
    asked(*(const u8*)(form.form.bits + ((i64)x.tile + lane) * TILE_WORDS));
#else
    (void)x, (void)lane;
#endif
  }
  // entry(i) for the entries of u that an item has, each by one of the lanes.
  template <class Entry>
  __device__ __forceinline__ void entries(const Item& x, int lane, const u64* u_bits, Entry entry) const {
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
