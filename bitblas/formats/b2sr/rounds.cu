// Small rounds of a program along tile rows (see kernels/rounds.cuh, and step.cu for the same by the grid): LANES lanes
// share a tile row, a lane takes an item of it.
#include "formats/b2sr/items.cuh"
#include "kernels/step.cuh"
#include "formats/b2sr/mark.cuh"
#define PER TILE

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
  __device__ __forceinline__ Items items(const Item& x) const {
#if PACKED
    return {x.count, x.tile, x.tiles, x.near, x.nears, x.far};
#else
    return {x.count, x.tile, x.tiles};
#endif
  }
  __device__ __forceinline__ i64 work_of(const Item& x) const { return x.count; }
};
#include "kernels/rounds.cuh"

extern "C" __global__ void IN_CLUSTER __launch_bounds__(THREADS, 1)
rounds(i64 n, i64 size, i64 longest, u64 most, u64 most_work, i64* rounds, u64* state, u64* old_state, u64* u_bits,
       u64* t_bits, u64* old_bits, C_T* u_val, C_T* t_val, C_T* old_val, u32* list, u32* spill, const u32* old_list,
       u32* segments, const u64* mask, i64 mask_stride, u64 mask_invert, FORM(), const value_t* a_val, A_T a_iso,
       i64 a_stride PARAMETERS) {
  (void)n;
  const TileRows form = {FORM_OF()};
  const Values values = {a_val, a_iso, a_stride};
  (void)values;
  run_rounds(
      form, {u_bits, t_bits, old_bits, u_val, t_val, old_val}, size, longest, most, most_work, rounds, state, old_state,
      list, spill, old_list, segments,
      [&](const Item& x, int lane, const Buffers& b, auto put) {
        const Open open = {mask, mask_stride, mask_invert, b.bits};
        const Items items = form.items(x);
        const u64 active = x.count ? tile_bits(b.bits, x.unit) : 0ull;
        for (i64 item = lane; __any_sync(ALL_LANES, item < items.count); item += LANES) {
          Item found = {};
          u64 fresh = 0;
          bool first = false;
          if (item < items.count) {
            i64 j = 0;
#if KIND == WORDS
            u64 hit = form.form.reach(items, item, active, j);
            found = form.item((u32)j);
            asked(found.tile), asked(found.count);
            hit &= open[j] & ~tile_bits(b.next_bits, j);
            if (hit) fresh = mark_tile(b.next_bits, j, hit, first);
#else
            const auto put_product = [&](i64 at, Z_T z) {
              put_in_tile(b.next_bits, b.next_val, j, at, z, fresh, first);
            };
            form.form.products(items, item, x.unit, active, open, values, a_iso, (const STORED(U_T)*)b.val, U_T(), 1, j,
                               put_product);
            if (first) found = form.item((u32)j);
#endif
          }
          put(first, found, found.count);
        }
      },
      [&](const Item& x, int lane, const Buffers& b, i64 begin, i64 ahead) {
        const i64 rounds[] = {begin};
        (void)rounds, (void)ahead;
        for (u64 rest = tile_bits(b.bits, x.unit); rest; rest &= rest - 1) {
          const i64 i = (i64)x.unit * TILE + __ffsll(rest) - 1;
          if ((i & (LANES - 1)) == lane) {
            AT_ENTRY(i)
          }
        }
      });
}
