// Degree-binned pull on nibble rows (formats/graded_codes.cuh). Lanes that share a row have a mark each.
#include "formats/nib/walk.cuh"
#include "formats/nib/graded.cuh"
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

  __device__ __forceinline__ void ask(const Pieces& of, u32 grade, u32 number, u32 p) {
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
#include "formats/graded_codes.cuh"
