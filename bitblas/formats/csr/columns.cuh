// Read column numbers of rows, plain or packed.
#include "kernels/views.cuh"

// The column of any entry by its number, outside of a walk through a row.
// Plain numbers of type C, or packed ones of `width` bits (P). The two operands of a kernel may differ in that.
template <int P, class C> struct AnyColumn {
  typedef C stored;  // element type of the array
  const C* col;
  __device__ __forceinline__ AnyColumn(const C* numbers, i64) : col(numbers) {}
  __device__ __forceinline__ C operator[](i64 e) const { return col[e]; }
};

template <class C> struct AnyColumn<1, C> {
  typedef u32 stored;
  const u32* string;
  u32 width;
  __device__ __forceinline__ AnyColumn(const u32* words, i64 bits) : string(words), width((u32)bits) {}
  __device__ __forceinline__ C operator[](i64 e) const { return (C)packed_at(string, e, width); }
};

// The structure of a matrix by rows, for kernels that read the columns of any entries.
template <class P, class C> struct CsrView {
  const P* ptr;
  const typename C::stored* col;
  i64 width;

  __device__ __forceinline__ C columns() const { return C(col, width); }
};

#ifdef PACKED
// A walk through a row, if PACKED applies to all operands.
// Plain columns are of type COL_T, PACKED ones have `width` bits (kernels/views.cuh), as in the listings of the MPLG paper
// (Azami and Burtscher). A walk finds its first bit by one 64-bit multiplication; from there on, bit positions are
// 32-bit offsets from a nearby word.
#if PACKED
typedef u32 column_t;  // element type of the array
#define SIDE_BY_SIDE 1
#else
typedef COL_T column_t;
#define SIDE_BY_SIDE 0
#endif

// The view of all columns: plain numbers, or the words of packed ones and the bits of a number.
struct ColumnsView {
  const column_t* col;
  i64 width;
};

#if PACKED

// Entry e and the following ones, for a lane that walks a row. Cost of a column in inner loops for sm_90, in
// instructions more than a plain column, loads included: `read` 6 (25 for four, which share one `skip`); `once` with n
// a multiple of 32, in binned pulls, 10; `at` and `skip` together, in pushes, 11.
struct Columns {
  const u32* words;
  u32 first, width;  // entry e begins at bit `first` of words[0]: below 32
  __device__ __forceinline__ Columns(const u32* string, i64 bits, u64 e)
      : words(string + (e * (u32)bits >> 5)), first((u32)e * (u32)bits & 31), width((u32)bits) {}
  __device__ __forceinline__ Columns(const ColumnsView& all, u64 e) : Columns(all.col, all.width, e) {}
  // The word in which entry e + n begins; n * width is below 2^32.
  __device__ __forceinline__ const u32* word(u32 n) const {
    return n % 32 == 0 ? words + n / 32 * width : words + ((first + n * width) >> 5);
  }
  __device__ __forceinline__ COL_T cut(u32 low, u32 high, u32 n) const {
    return (COL_T)(__funnelshift_r(low, high, n % 32 == 0 ? first : first + n * width) & low_bits(width));
  }
  // The column of entry e + n.
  __device__ __forceinline__ COL_T at(i64, u32 n) const { return cut(word(n)[0], word(n)[1], n); }
  __device__ __forceinline__ COL_T once(i64, u32 n) const { return cut(load_once(word(n)), load_once(word(n) + 1), n); }
  // N adjacent columns share their words: at most N + 1 loads, not 2 N. Only `count` of them exist (at least one); the
  // others repeat the first.
  template <int N> __device__ __forceinline__ void read(COL_T* column, u32 count) const {
    u32 w[N + 1];
    const u32 end = first + (count < N ? count : N) * width;
#pragma unroll
    for (int i = 0; i <= N; ++i) w[i] = i < 2 || end > 32u * i ? words[i] : 0;
#pragma unroll
    for (int i = 0; i < N; ++i) w[i] = __funnelshift_r(w[i], w[i + 1], first);
#pragma unroll
    for (int i = 0; i < N; ++i) {
      const COL_T next = (COL_T)(w[0] & low_bits(width));
      column[i] = i == 0 || i < count ? next : column[0];
#pragma unroll
      for (int k = 0; k + 1 < N - i; ++k) w[k] = __funnelshift_rc(w[k], w[k + 1], width);
    }
  }
  __device__ __forceinline__ void skip(u32 n) {
    words = word(n);
    if (n % 32) first = (first + n * width) & 31;
  }
};
#else
struct Columns {
  const COL_T* col;
  __device__ __forceinline__ Columns(const COL_T* numbers, i64, i64) : col(numbers) {}
  __device__ __forceinline__ Columns(const ColumnsView& all, i64) : col(all.col) {}
  template <class E> __device__ __forceinline__ COL_T at(E e, u32 n) const { return col[e + n]; }
  template <class E> __device__ __forceinline__ COL_T once(E e, u32 n) const { return load_once(col + (e + n)); }
  __device__ __forceinline__ void skip(u32) {}
};
#endif
#endif
