// What steps of loops read of nibbles, by rows of the frontier: the marks of long rows too, by which their segments are
// found (marks.cu).
#include "formats/csr/reach.cuh"
#include "formats/nib/walk.cuh"
#define FORM()                                                                                                        \
  const i64 *heads, const u32 *words, const PLACE_T *value_ptr, i64 hubs, const i64 *hub, const i64 *first_mark,      \
    const i64 *mark, const i64 *mark_end
#define FORM_OF() {heads, words, value_ptr, hubs, hub, first_mark, mark, mark_end}

struct Nibbles {
  const i64* heads;
  const u32* words;
  const PLACE_T* value_ptr;
  i64 hubs;
  const i64 *hub, *first_mark, *mark, *mark_end;

  __device__ __forceinline__ Extent row(i64 i) const { return row_extent(heads, words, i); }
  __device__ __forceinline__ i64 number(i64 i) const { return RANKED ? (i64)value_ptr[i] : 0; }
  // A walk along segment `s` of row i, which is a long one.
  __device__ __forceinline__ Walk<32, RANKED> segment(i64 i, u32 s) const {
    i64 low = 0, high = hubs;  // hub[low - 1] < i <= hub[high]
    while (low < high) {
      const i64 middle = (low + high) / 2;
      if (hub[middle] < i) low = middle + 1;
      else high = middle;
    }
    const i64 m = first_mark[low] + s;
    return Walk<32, RANKED>(mark + 3 * m, mark_end[m], number(i));
  }
};
