// Sums of rows of nibbles graded by their length: formats/graded_codes.cuh. Lanes that share a row have a mark each.
#include "formats/nib/walk.cuh"
#include "formats/nib/graded.cuh"
#define PIECES() const u32 *mark, const u32 *begin, const u32 *column, const u16 *length
#define CODES() const u32* words
#define PIECES_OF {mark, begin, column, length}

struct Pieces {
  const u32 *mark, *begin, *column;
  const u16* length;
};

struct Lane {
  u32 column, place, length, left;  // place: the nibble where it begins, then the bit of w0
  u32 w0, w1, w2, word;             // the words from the one on in which it is

  __device__ __forceinline__ void ask(const Pieces& of, u32 grade, u32 number, u32 p) {
    const u32 at = of.mark[grade] + 32 * number + (threadIdx.x & 31);
    length = of.length[p], place = of.begin[at], column = of.column[at];
  }
  __device__ __forceinline__ void open(const Pieces&, const u32* words, u32 log_lanes) {
    const u32 share = share_of(length, log_lanes), done = (threadIdx.x & ((1u << log_lanes) - 1)) * share;
    left = length <= done ? 0 : length - done < share ? length - done : share;
    word = place >> 3, place = (place & 7) * 4;
    w0 = words[word], w1 = words[word + 1], w2 = words[word + 2];
  }
  template <class Each, class Range>
  __device__ __forceinline__ void run(const Pieces&, const u32* words, Each each, Range) {
    each(left, [&] {
      u32 w = window(words), size = __ffs(w & STOPS), low = 0, lows = 0;
      if (!size) {  // a value of more than eight nibbles
        low = without_stops(w), lows = 24, place += 32;
        w = window(words), size = __ffs(w & STOPS);
      }
      place += size;
      column += (without_stops(w & ~0u >> (32 - size)) << lows | low) + 1;
      return column;
    });
  }

 private:
  __device__ __forceinline__ u32 window(const u32* words) {
    if (place >= 32) {
      place -= 32, ++word;
      w0 = w1, w1 = w2, w2 = words[word + 2];
    }
    return __funnelshift_r(w0, w1, place);
  }
};
#include "formats/graded_codes.cuh"
