// Rows of nibbles as steps of loops push along them (see formats/csr/rows.cuh): with the marks of long rows, by which
// their segments are found (marks.cu).
#define PER 1  // places of a unit
#include "kernels/reach.cuh"
#include "formats/nib/walk.cuh"
#define IN_FLIGHT 0  // registers do not suffice to do something else between what is asked for and its use
#define FORM()                                                                                                        \
  const i64 *heads, const u32 *words, const PLACE_T *value_ptr, i64 hubs, const i64 *hub, const i64 *first_mark,      \
    const i64 *mark, const i64 *mark_end
#define FORM_OF() {heads, words, value_ptr, hubs, hub, first_mark, mark, mark_end}

// A row: its number, and where its nibbles stand.
struct Item {
  u32 unit;
  i64 begin, end;
};

struct Rows {
  const i64* heads;
  const u32* words;
  const PLACE_T* value_ptr;
  i64 hubs;
  const i64 *hub, *first_mark, *mark, *mark_end;

  __device__ __forceinline__ Item item(u32 i) const {
    const Extent x = row_extent(heads, words, i);
    return {i, x.at, x.end};
  }
  __device__ __forceinline__ Item item_at(u32 place) const { return item(place); }
  __device__ __forceinline__ i64 work_of(const Item& x) const { return words_of({x.begin, x.end}); }
  __device__ __forceinline__ void ask(const Item&) const {}  // one number says where the next is: for new entries alone

  // More lanes than LANES share a long row: the first 32 decode it.
  template <class F> __device__ __forceinline__ void along(const Item& x, int lane, int stride, F reached) const {
    const i64 number = RANKED && x.begin < x.end ? (i64)value_ptr[x.unit] : 0;
    if (stride <= LANES) return go(Walk<LANES, RANKED>({x.begin, x.end}, x.unit, number), lane, reached);
    Walk<32, RANKED> walk({x.begin, x.end}, x.unit, number);
    if (lane >= 32) walk.stop();
    go(walk, lane & 31, reached);
  }
  template <class F> __device__ __forceinline__ void along_segment(i64 i, u32 s, i64, F reached) const {
    i64 low = 0, high = hubs;  // hub[low - 1] < i <= hub[high]
    while (low < high) {
      const i64 middle = (low + high) / 2;
      if (hub[middle] < i) low = middle + 1;
      else high = middle;
    }
    const i64 m = first_mark[low] + s, number = RANKED ? (i64)value_ptr[i] : 0;
    go(Walk<32, RANKED>(mark + 3 * m, mark_end[m], number), threadIdx.x & 31, reached);
  }
  template <class W, class F> __device__ __forceinline__ void go(W walk, int lane, F reached) const {
    while (__any_sync(ALL_LANES, walk.more())) {
      Found of;
      walk.step(words, lane, of);
#pragma unroll 1
      for (int k = 0; __any_sync(ALL_LANES, k < of.count); ++k) {
        const bool has = k < of.count;
        reached(has, has ? (i64)of.next() : 0, RANKED && has ? of.entry + k : 0);
      }
    }
  }
};
