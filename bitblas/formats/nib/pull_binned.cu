// Degree-binned nibble rows (kernels.py): pieces are rows, or segments of 32 CHUNK entries of longer rows.
// A lane takes at most CHUNK entries, so a row gets as many lanes as it needs, a power of two; a segment gets 32.
#include "formats/nib/walk.cuh"
#define CHUNK (1 << LOG_CHUNK)
#define LONGEST (32 * CHUNK)

// log2 of the lanes that share a piece.
__device__ __forceinline__ u32 lanes_of(u32 length) {
  const u32 more = (length - 1) >> LOG_CHUNK;
  return more ? 32 - __clz(more) : 0;
}
// The part of lane number `lane`: entries from `begin` on.
struct Share {
  u32 begin, count;
};
__device__ __forceinline__ Share share_of(u32 length, u32 log_lanes, u32 lane) {
  const u32 least = length >> log_lanes, more = length & ((1u << log_lanes) - 1);
  return {lane * least + (lane < more ? lane : more), least + (lane < more)};
}
// The lane that takes entry e.
__device__ __forceinline__ u32 taker_of(u32 length, u32 log_lanes, u32 e) {
  const u32 least = length >> log_lanes, more = length & ((1u << log_lanes) - 1), wide = more * (least + 1);
  return e < wide ? e / (least + 1) : more + (e - wide) / least;
}

// The 3 low bits of each of eight nibbles, concatenated (walk.cuh: without_stops), by sums of products of bytes.
__device__ __forceinline__ u32 threes_of(u32 w) {
#ifdef __CUDA_EMU__
  return without_stops(w);
#else
  w = (w & 0x07070707u) | (w & 0x70707070u) >> 1;
  const u32 weights = 0x00400001u;  // of the first and second byte of a pair
  return __dp2a_lo(weights, w, 0u) | __dp2a_hi(weights, w, 0u) << 12;
#endif
}

#ifdef KERNEL_chunks
// Starts of the lanes of a degree-binned pull (kernels.py), one warp per row: the nibble, and the column before it.
// Of a row's first value it is the column relative to which the value would be a gap.
// A row of ptr[row + 1] - ptr[row] entries consists of the pieces from place[row] on (~0: none), which are at
// sorted[..] among all pieces, grade after grade.

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    chunks(i64 n, const i64* heads, const u32* words, const i64* ptr, const u32* place, const u32* sorted,
           const u32* piece, const u32* mark, u32* begin, u32* column) {
  const i64 row = thread_number() / 32;
  if (row >= n || place[row] == ~0u) return;
  const int lane = threadIdx.x & 31;
  const i64 length = ptr[row + 1] - ptr[row];
  Walk<32, true> walk(words, row_extent(heads, words, row), row, 0, lane);
  while (walk.more()) {
    const i64 word = walk.at + 8 * lane;
    Found found;
    walk.step(words, lane, found);
    i64 start = word - found.open;
    u32 last = found.base;
#pragma unroll 1
    for (int k = 0; k < found.count; ++k) {
      const i64 e = found.entry + k, segment = e / LONGEST, rest = length - segment * LONGEST;
      const u32 inside = (u32)(e % LONGEST), some = rest < LONGEST ? (u32)rest : LONGEST;
      const u32 log = length > LONGEST ? 5 : lanes_of(some), taker = taker_of(some, log, inside);
      if (inside == share_of(some, log, taker).begin) {
        const u32 grade = 5 - log, p = sorted[place[row] + segment];
        const u32 at = mark[grade] + ((p - piece[grade]) << log) + taker;
        begin[at] = (u32)start, column[at] = last;
      }
      last = found.next();
      start = word + found.from;
    }
    if (length <= CHUNK) walk.stop();
  }
}
#endif  // KERNEL_chunks

#ifdef KERNEL_pull_binned
// Degree-binned pull on nibble rows (formats/binned.cuh). Lanes that share a row have a mark each.
#define PIECES() const u32 *mark, const u32 *begin, const u32 *column, const u16 *length, i64 last
#define CODES() const u32* words
#define PIECES_OF {mark, begin, column, length, (u32)last}

struct Pieces {
  const u32 *mark, *begin, *column;
  const u16* length;
  u32 last;  // the last pair of words
};

struct Lane {
  u32 column, place, length, left;  // place: the first nibble, then the bit in w0
  u32 w0, w1, word;  // the two current words, and the index of the first
  u32 r0, r1;        // the next pair of words

  __device__ __forceinline__ void load(const Pieces& of, u32 grade, u32 number, u32 p) {
    const u32 at = of.mark[grade] + 32 * number + (threadIdx.x & 31);
    length = of.length[p], place = of.begin[at], column = of.column[at];
  }
  __device__ __forceinline__ void open(const Pieces& of, const u32* words, u32 log_lanes) {
    left = share_of(length, log_lanes, threadIdx.x & ((1u << log_lanes) - 1)).count;
    word = place >> 3, place = (place & 7) * 4;
    w0 = words[word], w1 = words[word + 1];
    const u32 pair = (word + 2) / 2 < of.last ? (word + 2) / 2 : of.last;
    load_pair_if(r0, r1, words + 2 * pair, true);
  }
  __device__ __forceinline__ u32 before(u32 log_lanes) const {
    return share_of(length, log_lanes, threadIdx.x & ((1u << log_lanes) - 1)).begin;
  }
  template <class S>
  __device__ __forceinline__ void run(const Pieces& of, const u32* words, S& sums) {
    sums.each(left, [&] {
      refill(words, of.last);
      const u32 w = __funnelshift_r(w0, w1, place), stops = w & STOPS, upto = stops ^ (stops - 1);
      u32 value = threes_of(w & upto);
      place += __popc(upto);
      if (!WIDTH && !stops) {  // a value of more than eight nibbles
        const u32 rest = __funnelshift_r(w1, word & 1 ? r1 : r0, place), ends = rest & STOPS, until = ends ^ (ends - 1);
        value |= threes_of(rest & until) << 24;
        refill(words, of.last);
        place += __popc(until);
      }
      return column += value + 1;
    });
  }

 private:
  __device__ __forceinline__ void refill(const u32* words, u32 last) {
    const bool next = place >= 32, odd = word & 1;
    const u32 one = odd ? r1 : r0, pair = (word + 3) / 2 < last ? (word + 3) / 2 : last;
    place -= next ? 32 : 0;
    w0 = next ? w1 : w0, w1 = next ? one : w1;
    load_pair_if(r0, r1, words + 2 * pair, next && odd);
    word += next;
  }
};
#include "formats/binned.cuh"
#endif  // KERNEL_pull_binned
