// Rows of intervals and residuals as steps of loops push along them (see formats/csr/rows.cuh): with the marks of long
// rows, by which their parts are found (marks.cu).
#define PER 1  // places of a unit
#include "kernels/reach.cuh"
#include "formats/cgr/range.cuh"
#define TAKEN 2  // what is done with a column takes more than to find it
#include "formats/cgr/walk.cuh"
#define IN_FLIGHT 0  // registers do not suffice to do something else between what is asked for and its use
#define FORM()                                                                                                        \
  const i64 *heads, const u32 *words, i64 segment, const PLACE_T *value_ptr, i64 hubs, const i64 *hub,                \
    const i64 *first_mark, const i64 *mark
#define FORM_OF() {heads, words, segment, value_ptr, hubs, hub, first_mark, mark}

// A row: its number, and where its codes stand.
struct Item {
  u32 unit;
  i64 begin, end;
};

struct Rows {
  const i64* heads;
  const u32* words;
  i64 segment;
  const PLACE_T* value_ptr;
  i64 hubs;
  const i64 *hub, *first_mark, *mark;

  __device__ __forceinline__ Item item(u32 i) const {
    const Extent x = row_extent(heads, words, i);
    return {i, x.at, x.end};
  }
  __device__ __forceinline__ Item item_at(u32 place) const { return item(place); }
  __device__ __forceinline__ i64 work_of(const Item& x) const { return words_of({x.begin, x.end}); }
  __device__ __forceinline__ void ask(const Item&) const {}  // one number says where the next is: for new entries alone

  // More lanes than LANES share a long row: the first 32 read its segments.
  template <class F> __device__ __forceinline__ void along(const Item& x, int lane, int stride, F reached) const {
    const i64 number = RANKED && x.begin < x.end ? (i64)value_ptr[x.unit] : 0;
    const Extent all = {x.begin, x.end};
    if (stride <= LANES) return go(Walk<LANES, RANKED, false>(words, all, segment, x.unit, number, lane), lane, reached);
    Walk<32, RANKED, false> walk(words, all, segment, x.unit, number, lane & 31);
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
    const i64 number = RANKED ? (i64)value_ptr[i] : 0;
    const int lane = threadIdx.x & 31;
    go(Walk<32, RANKED, false>(words, mark + MARK * (first_mark[low] + s), segment, i, number, lane), lane, reached);
  }
  template <class W, class F> __device__ __forceinline__ void go(W walk, int lane, F reached) const {
    while (__any_sync(ALL_LANES, walk.more())) {
      Found of;
      walk.step(words, lane, of);
#pragma unroll 1
      for (int k = 0; k < TAKEN; ++k) {
        const bool has = of.has[0];
        if (!__any_sync(ALL_LANES, has)) break;
        reached(has, of.at[0], of.entry + k);
#pragma unroll
        for (int next = 1; next < TAKEN; ++next) of.has[next - 1] = of.has[next], of.at[next - 1] = of.at[next];
        of.has[TAKEN - 1] = false;
      }
    }
  }
};
