// Single entries of a tile row in Split, and the pull of presence along a range of them.
// One packed number each, J << 2L | r << L | c with T = 2^L (tile column, row and column in the tile), ascending.
// They are in ranges with a packed string each: near entries, in low columns, and far entries.
#include "kernels/product.cuh"
#include "formats/b2sr/tile.cuh"
#define REST_AHEAD 4  // entries that a lane loads before it uses the first
#define EVERY ((place_t)~0ull)

typedef PLACE(PTR_T) place_t;

__device__ __forceinline__ int row_in_tile(u32 code) { return code >> LOG_TILE & (TILE - 1); }
__device__ __forceinline__ u32 column_of(u32 code) { return code >> 2 * LOG_TILE << LOG_TILE | (code & (TILE - 1)); }

// Entry e and the following ones; bit positions are 32-bit offsets from there.
struct Walk {
  const u32* word;
  u32 bit, width;
  __device__ __forceinline__ Walk(const u32* string, u32 bits, i64 e)
      : word(string + ((u64)e * bits >> 5)), bit((u32)((u64)e * bits) & 31), width(bits) {}
  __device__ __forceinline__ u32 at(u32 n) const {
    const u32 from = bit + n * width;
    return __funnelshift_r(word[from >> 5], word[(from >> 5) + 1], from & 31) & low_bits(width);
  }
  __device__ __forceinline__ void skip(u32 n) {
    const u32 from = bit + n * width;
    word += from >> 5;
    bit = from & 31;
  }
};

// The view of all single entries. Part 0 of a tile row is its tiles, the last part its far entries; if there are three,
// the near ones are between them.
struct RestView {
  const u32* near;
  i64 near_width;
  const u32* far;
  i64 far_width, in_tiles, in_near, parts;
  __device__ __forceinline__ bool is_far(int part) const { return part + 1 == (int)parts; }
  __device__ __forceinline__ const u32* string(bool of_far) const { return of_far ? far : near; }
  __device__ __forceinline__ u32 width(bool of_far) const { return (u32)(of_far ? far_width : near_width); }
  __device__ __forceinline__ i64 first_rank(bool of_far) const { return in_tiles + (of_far ? in_near : 0); }
};

// Entries of a range; entry e has the rank `rank` + e.
struct Range {
  const u32* string;
  u32 width;
  place_t begin, end;
  i64 rank;
  // The first `most` entries of a unit's part, or fewer; with none, `starts` and `ends` are not read.
  __device__ __forceinline__ Range(const RestView& rest, int part, const PTR_T* starts, const PTR_T* ends, place_t most)
      : string(rest.string(rest.is_far(part))), width(rest.width(rest.is_far(part))), begin(0), end(0),
        rank(rest.first_rank(rest.is_far(part))) {
    if (!most) return;
    begin = (place_t)starts[part], end = (place_t)ends[part];
    if (end - begin > most) end = begin + most;
  }
};

#if KIND == WORDS && defined(U_FULL)  // products with a vector
// The rows that have a hit here or in `rows`. A lane walks entries with stride LANES. Stops when every open row has one.
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
