// Rows for an advance.
// Each layout by rows has such a header; it defines Item, Rows and FORM, the interface that the kernels of an advance
// use.
#define PER 1  // positions per unit
#include "kernels/advance.cuh"
#include "formats/csr/columns.cuh"
#define IN_FLIGHT 1  // registers suffice to do other work while loads are in flight
#define READS_AHEAD 1  // the column of a lane's first entry may be loaded before visit_row
#define FORM() Rows matrix
#define FORM_OF() matrix

// A row: its number, and the range of its entries.
struct Item {
  u32 unit;
  PTR_T begin, end;
};

struct Rows {
  const PTR_T* ptr;
  ColumnsView col;
  __device__ __forceinline__ Item item(u32 i) const { return {i, ptr[i], ptr[i + 1]}; }
  __device__ __forceinline__ Item item_at(u32 place) const { return item(place); }
  __device__ __forceinline__ i64 work_of(const Item& x) const { return (i64)x.end - x.begin; }
  // Load what an item consists of, at the same time as neighbouring loads.
  __device__ __forceinline__ void issue_loads(const Item& x) const { issue_load(x.begin), issue_load(x.end); }

  // Prefetch the first columns of an item.
  __device__ __forceinline__ void prefetch_row(const Item& x) const {
#if PACKED
    prefetch(Columns(col, x.begin).words);
#else
    prefetch(col.col + x.begin);
#endif
  }

  // reached(has, j, e) for the entries of a row, each by one of the `stride` lanes that share it. All lanes of a warp
  // call both together; `has` is false for lanes without an entry.
  template <class F> __device__ __forceinline__ void visit_row(const Item& x, int lane, int stride, F reached) const {
    go(x.begin, x.end, lane, stride, reached);
  }
  // The same with the column of the lane's first entry, which was loaded before; the next one is loaded before the last
  // is used.
  __device__ __forceinline__ COL_T first_column(const Item& x, int lane) const {
    return (i64)x.begin + lane < (i64)x.end ? Columns(col, (i64)x.begin + lane).at((i64)x.begin + lane, 0) : COL_T(0);
  }
  template <class F>
  __device__ __forceinline__ void visit_row(const Item& x, int lane, int stride, F reached, COL_T column) const {
    i64 e = (i64)x.begin + lane;
    const i64 stop = x.end;
    for (Columns entry(col, e); __any_sync(ALL_LANES, e < stop); e += stride, entry.skip(stride)) {
      const COL_T next = e + stride < stop ? entry.at(e, stride) : COL_T(0);
      issue_load(next);
      reached(e < stop, (i64)column, e);
      column = next;
    }
  }
  // The same for segment s of the long row i, by a warp.
  template <class F> __device__ __forceinline__ void visit_segment(i64 i, u32 s, i64 longest, F reached) const {
    const i64 begin = ptr[i] + s * longest, end = ptr[i + 1];
    go(begin, begin + longest < end ? begin + longest : end, threadIdx.x & 31, 32, reached);
  }
  template <class F> __device__ __forceinline__ void go(i64 begin, i64 stop, int lane, int stride, F reached) const {
    i64 e = begin + lane;
    for (Columns entry(col, e); __any_sync(ALL_LANES, e < stop); e += stride, entry.skip(stride))
      reached(e < stop, e < stop ? (i64)entry.at(e, 0) : 0, e);
  }
};
