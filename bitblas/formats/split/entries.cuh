// Single entries of a tile row in Split.
// One packed number each, J << 2L | r << L | c with T = 2^L (tile column, row and column in the tile), ascending.
// They are in ranges with a packed string each: near entries, in low columns, and far entries.
#include "kernels/views.cuh"

#if TILE > 16
#error "a lane has one row: tiles of 4, 8 and 16"
#endif

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
  __device__ __forceinline__ const u32* string(int part) const { return is_far(part) ? far : near; }
  __device__ __forceinline__ u32 width(int part) const { return (u32)(is_far(part) ? far_width : near_width); }
  __device__ __forceinline__ i64 first_rank(int part) const { return in_tiles + (is_far(part) ? in_near : 0); }
};
