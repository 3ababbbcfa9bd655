// Advance along coded rows (coded.py), with marks that cut long rows into parts (the kernel `marks`).
// See formats/csr/rows.cuh for the interface.
// Include after the definitions of a code (coded_kernels.cuh), and for what a lane finds in a step each_found(of,
// reached), and some_found<N>(of, take) for N at a time.
#define IN_FLIGHT 0  // registers do not suffice to do other work while loads are in flight
#define FORM() Rows matrix
#define FORM_OF() matrix

// A row: its number, and the position of its codes.
struct Item {
  u32 unit;
  i64 begin, end;
};

struct Rows {
  const i64* heads;
  const u32* words;
  const PLACE_T* value_ptr;
  i64 hubs;
  const i64 *hub, *first_mark, *mark;

  __device__ __forceinline__ Item item(u32 i) const {
    const Extent x = row_extent(heads, words, i);
    return {i, x.at, x.end};
  }
  __device__ __forceinline__ Item item_at(u32 place) const { return item(place); }
  __device__ __forceinline__ i64 work_of(const Item& x) const { return words_of({x.begin, x.end}); }
  __device__ __forceinline__ void issue_loads(const Item&) const {
  }  // no prefetch: an item is loaded only for new entries
  __device__ __forceinline__ void prefetch_row(const Item&) const {}

  // A long row is shared by more than LANES lanes; the first 32 decode it. reached(has, j, e) for one entry per lane,
  // or N.
  template <int N = 1, class F>
  __device__ __forceinline__ void visit_row(const Item& x, int lane, int stride, F reached) const {
    const i64 number = RANKED && x.begin < x.end ? (i64)value_ptr[x.unit] : 0;
    const Extent all = {x.begin, x.end};
    if (stride <= LANES) return go<N>(Walk<LANES, RANKED>(words, all, x.unit, number, lane), lane, reached);
    const bool decodes = lane < 32;
    lane &= 31;
    Walk<32, RANKED> walk(words, all, x.unit, number, lane);
    if (!decodes) walk.stop();
    go<N>(walk, lane, reached);
  }
  // The same for segment s of the long row i, by a warp.
  template <int N, class F> __device__ __forceinline__ void visit_segment(i64 i, u32 s, F reached) const {
    i64 low = 0, high = hubs;  // hub[low - 1] < i <= hub[high]
    while (low < high) {
      const i64 middle = (low + high) / 2;
      if (hub[middle] < i) low = middle + 1;
      else high = middle;
    }
    const i64 m = first_mark[low] + s, number = RANKED ? (i64)value_ptr[i] : 0;
    const int lane = threadIdx.x & 31;
    go<N>(Walk<32, RANKED>(words, mark + MARK * m, i, number, lane), lane, reached);
  }
  template <int N, class W, class F> __device__ __forceinline__ void go(W walk, int lane, F reached) const {
    while (__any_sync(ALL_LANES, walk.more())) {
      Found of;
      walk.step(words, lane, of);
      if constexpr (N == 1) each_found(of, reached);
      else some_found<N>(of, reached);
    }
  }
};
