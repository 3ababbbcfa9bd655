// Pull along one range of the single entries of a tile row. A lane walks its entries with stride LANES.
#include "kernels/product.cuh"
#include "formats/split/entries.cuh"
#define REST_AHEAD 4  // entries that a lane loads before it uses the first
#define EVERY ((place_t)~0ull)

typedef PLACE(PTR_T) place_t;

// Entries of a range; entry e has the rank `rank` + e.
struct Range {
  const u32* string;
  u32 width;
  place_t begin, end;
  i64 rank;
  // The first `most` entries of a unit's part, or fewer; with none, `starts` and `ends` are not read.
  __device__ __forceinline__ Range(const RestView& rest, int part, const PTR_T* starts, const PTR_T* ends, place_t most)
      : string(rest.string(part)), width(rest.width(part)), begin(0), end(0), rank(rest.first_rank(part)) {
    if (!most) return;
    begin = (place_t)starts[part], end = (place_t)ends[part];
    if (end - begin > most) end = begin + most;
  }
};

#if KIND == WORDS
// The rows that have a hit here or in `rows`. Stops when every open row has one.
__device__ __forceinline__ u32 hit_rest(u32 rows, u32 open, const Range& of, int lane, const u64* u_bits) {
  place_t e = of.begin, stop = open & ~rows ? of.end : e;
  Walk walk(of.string, of.width, (i64)e + lane);
  for (e += lane; __any_sync(ALL_LANES, e < stop); e += REST_AHEAD * LANES, walk.skip(REST_AHEAD * LANES)) {
    u32 found = 0;
    if (e < stop) {
      u32 code[REST_AHEAD];
#pragma unroll
      // Beyond the end, repeat the first.
      for (int i = 0; i < REST_AHEAD; ++i) code[i] = walk.at(e + i * LANES < stop ? i * LANES : 0);
#pragma unroll
      for (int i = 0; i < REST_AHEAD; ++i)
        found |= (u32)(U_FULL || bit_of(u_bits, column_of(code[i]))) << row_in_tile(code[i]);
    }
#pragma unroll
    for (int d = LANES / 2; d; d >>= 1) found |= shuffle_xor(ALL_LANES, found, d);
    rows |= found;
    if (!(open & ~rows)) stop = 0;
  }
  return rows;
}
#endif
