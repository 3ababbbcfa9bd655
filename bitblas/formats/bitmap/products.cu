// Products with a bitmap (SpMM with a multivector): pull by the rows of the result, push by the lines of X. Lines of a
// bitmap: reduce each, assign a scalar at positions, set the bits at positions.
// A line of X or of the result is `words` LINEs of BITS bits each. The sum of a position is stored at the number of
// its bit; BOOL sums are bits.

#ifdef KERNEL_fill
// Assign a scalar at the positions of t: w<mask, replace> = x, word by word.
// A warp takes 32 words and writes the values of each together.
// (merge in kernels/elementwise.cu uses a thread per position; in a bitmap most of them would be idle.)
#include "kernels/views.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    fill(i64 n, const u64* t_bits, ARGUMENT(W_T) x, MaskView mask, i64 replace, u64* w_bits, W_T* w_val) {
  const i64 word = thread_number();
  u64 news = 0;
  if (word < n) {
    const u64 open = mask.word(word);
    news = t_bits[word] & open;
    w_bits[word] = news | (replace ? 0 : w_bits[word] & ~open);
  }
  const int lane = threadIdx.x & 31;
  for (u32 left = __ballot_sync(ALL_LANES, news != 0); left; left &= left - 1) {
    const int k = __ffs(left) - 1;
    const u32 low = __shfl_sync(ALL_LANES, (u32)news, k), high = __shfl_sync(ALL_LANES, (u32)(news >> 32), k);
    W_T* at = w_val + ((word - lane + k) << 6) + lane;
    if (low >> lane & 1) at[0] = x;
    if (high >> lane & 1) at[32] = x;
  }
}
#endif  // KERNEL_fill

#ifdef KERNEL_mark
// Set the bits at a list of distinct positions.

extern "C" __global__ void __launch_bounds__(BLOCK, 4) mark(i64 n, const i64* places, u64* bits) {
  const i64 e = thread_number();
  if (e < n) atomicOr((u32*)bits + (places[e] >> 5), 1u << (places[e] & 31));
}
#endif  // KERNEL_mark

#ifdef BITS
#include "formats/bitmap/lines.cuh"
#endif

#ifdef PACKED
#include "formats/csr/columns.cuh"
typedef AnyColumn<PACKED, COL_T> AllColumns;

#define AHEAD 4  // words or entries that a lane loads before it uses the first
#define UNIT(unit, inside) Unit(unit, inside, longest, rows, words, last, mask)

// A word of a line of T, and the entries of its row.
struct Unit {
  i64 line, number, w, e, stop;
  u64 places;  // allowed by the mask

  __device__ __forceinline__ Unit(i64 unit, bool inside, i64 longest, const RowsView<PTR_T>& rows, i64 words, u64 last,
                                  const LinesMask& mask) {
    number = inside ? unit / words : 0, w = inside ? unit % words : 0;
    line = inside && rows.row_stride ? rows.row_of[number] : number;
    e = inside ? (i64)rows.begin[number] : 0, stop = inside ? (i64)rows.end[number] : 0;
    if (stop - e > longest) stop = e;  // its segments are processed by another launch
    places = inside ? mask.open(last, words, line, w) : 0;
    if (!places) stop = e;
  }
  __device__ __forceinline__ i64 to(i64 words) const {
    return (MODE == PARTS && KIND == VALUES ? number : line) * words + w;
  }
};
#endif

#ifdef KERNEL_pull_full
// The same for an X with an entry at each position and no padding in its lines, whose bits are not read.
// LANES lanes share a word of a line of T. Each computes PIECES times VEC positions, which it loads at once. A sum is
// taken in the order of its row's entries.
#define VEC (BITS / LANES / PIECES)
#define MINE (PIECES * VEC)

#include "kernels/positions.cuh"

// Adds the products of AHEAD entries from e on, or (not FULL) of those before `stop`. All are loaded first; missing ones
// repeat the first. FIRST: e is the first of its row. ISO: all values of the matrix are equal; a test in the loop would
// delay the loads that follow.
template <bool FIRST, bool FULL>
__device__ __forceinline__ void add_entries(Share<Z_T>& sum, i64 e, i64 stop, const AllColumns& columns,
                                            const Values& a, const U_T* x, i64 line_size, i64 line, i64 place) {
  COL_T k[AHEAD];
  Share<U_T> v[AHEAD];
  A_T value[AHEAD];
#pragma unroll
  for (int i = 0; i < AHEAD; ++i) {
    const i64 entry = FULL || e + i < stop ? e + i : e;
    k[i] = columns[entry];
    value[i] = ISO ? A_T(a.iso) : a[entry];
  }
#pragma unroll
  for (int i = 0; i < AHEAD; ++i)
    v[i].read(x + (sizeof(COL_T) == 4 ? (i64)((u64)(u32)k[i] * (u32)line_size) : k[i] * line_size));
#pragma unroll
  for (int i = 0; i < AHEAD; ++i) {
    if (!FULL && i && e + i >= stop) break;
#pragma unroll
    for (int j = 0; j < MINE; ++j) {
      const Z_T z = mul(value[i], v[i][j], line, (i64)k[i], place + j / VEC * LANES * VEC + j % VEC);
      sum[j] = FIRST && i == 0 ? z : add(sum[j], z);
    }
  }
}

extern "C" __global__ void __launch_bounds__(BLOCK, BLOCKS)
    pull_full(i64 n, i64 longest, RowsView<PTR_T> rows, ColumnsView all, Values a, i64 words, u64 last, LinesView x,
              LinesMask mask, LinesOutput t, const i64* needed, i64 least, i64 most) {
  if (*needed < least || *needed >= most) return;
  const AllColumns columns(all.col, all.width);
  const i64 unit = thread_number() / LANES;
  if (unit >= n) return;
  const Unit u = UNIT(unit, true);
  const int lane = threadIdx.x & (LANES - 1);
  const i64 to = u.to(words), place = u.w * BITS + lane * VEC;
  const i64 stop = HAS_TERMINAL == 2 && u.stop > u.e ? u.e + 1 : u.stop;  // any: the first entry
  if (lane == 0) t.bits[to] = stop > u.e ? (LINE_T)u.places : 0;
  if (stop <= u.e) return;
  Share<Z_T> sum;
  const U_T* from = x.values + place;
  i64 e = u.e;
  if (e + AHEAD <= stop) add_entries<true, true>(sum, e, stop, columns, a, from, words * BITS, u.line, place);
  else add_entries<true, false>(sum, e, stop, columns, a, from, words * BITS, u.line, place);
  for (e += AHEAD; e + AHEAD <= stop; e += AHEAD)
    add_entries<false, true>(sum, e, stop, columns, a, from, words * BITS, u.line, place);
  if (e < stop) add_entries<false, false>(sum, e, stop, columns, a, from, words * BITS, u.line, place);
  sum.write(t.values + to * BITS + lane * VEC);
}
#endif  // KERNEL_pull_full

#ifdef KERNEL_pull
// Pull SpMM with a bitmap: T<mask> = A (+).(x) X by rows of A.
// X and T are bitmaps whose lines are the columns and the rows of A.
// A block takes BLOCK / LANES words of lines. For WORDS, LANES lanes share the entries of a row. For values, SHARE
// lanes share a word of a line, one or two positions each, so that values are read side by side. A thread first
// inspects each word; the groups then take words with many positions and long rows. Words with few positions get a
// thread per position: in searches from many sources a word has one or two, and the lanes that share it would idle
// (betweenness of 64 sources on an H200: 73 ms with shared words, 66 with a thread per position on a mesh of 27
// neighbours; 126 and 113 on a Delaunay mesh of 2^20). A sum is taken in the order of its row's entries.
#define AT_ONCE 3  // lines whose values it loads together; with four, registers spill
#define UNITS (BLOCK / LANES)
#define SCANNED 32  // entries of a row that one thread inspects
#define FEW 8  // positions up to which each gets a thread

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    pull(i64 n, i64 longest, RowsView<PTR_T> rows, ColumnsView all, Values a, i64 words, u64 last, LinesView x,
         LinesMask mask, LinesOutput t, const i64* needed, i64 least, i64 most) {
  if (*needed < least || *needed >= most) return;
  const AllColumns columns(all.col, all.width);
#if KIND == WORDS
  const i64 unit = thread_number() / LANES;
  const int lane = threadIdx.x & (LANES - 1);
  const Unit u = UNIT(unit, unit < n);
  u64 found = 0;
  for (i64 e = u.e + lane; e < u.stop && found != u.places; e += AHEAD * LANES) {
    i64 k[AHEAD];
#pragma unroll
    for (int i = 0; i < AHEAD; ++i) k[i] = columns[e + i * LANES < u.stop ? e + i * LANES : e];
#pragma unroll
    for (int i = 0; i < AHEAD; ++i) found |= x.bits[k[i] * words + u.w] & u.places;
  }
#pragma unroll
  for (int d = LANES / 2; d >= 1; d >>= 1) found |= shuffle_xor(ALL_LANES, found, d);
  if (unit >= n || lane) return;
  if (MODE == PARTS) or_places(t.bits, u.to(words), found);
  else t.bits[u.to(words)] = (LINE_T)found;
#else
  const i64 first = (i64)blockIdx.x * UNITS;
  __shared__ u32 left_over, taken, others[UNITS];
  if (threadIdx.x == 0) left_over = taken = 0;
#if MODE == WHOLE
  __shared__ u32 listed;
  __shared__ u16 sums[UNITS * FEW];  // the unit and position of each sum that one thread computes
  if (threadIdx.x == 0) listed = 0;
#endif
  __syncthreads();
  if (threadIdx.x < UNITS && first + threadIdx.x < n) {
    const Unit u = UNIT(first + threadIdx.x, true);
#if MODE == WHOLE
    bool shared = u.stop - u.e > SCANNED;
    u64 places = 0;
    for (i64 e = u.e; !shared && e < u.stop; e += AHEAD) {
#pragma unroll
      for (int i = 0; i < AHEAD; ++i) places |= x.bits[(i64)columns[e + i < u.stop ? e + i : e] * words + u.w];
    }
    places &= u.places;
    shared = shared || __popcll(places) > FEW;
#else
    const bool shared = u.e < u.stop;
    const u64 places = 0;
#endif
    if (shared) {
      others[atomicAdd(&left_over, 1u)] = threadIdx.x;
    } else {
      t.bits[u.to(words)] = (LINE_T)places;
#if Z_BOOL
      t.values[u.to(words)] = 0;
#endif
    }
#if MODE == WHOLE
    u64 todo = shared ? 0 : places;
    u32 at = todo ? atomicAdd(&listed, (u32)__popcll(todo)) : 0;
    for (; todo; todo &= todo - 1) sums[at++] = (u16)(threadIdx.x << 6 | (__ffsll(todo) - 1));
#endif
  }
  __syncthreads();
#if MODE == WHOLE
  for (u32 k = threadIdx.x; k < listed; k += BLOCK) {
    const int b = sums[k] & 63;
    const Unit u = UNIT(first + (sums[k] >> 6), true);
    Z_T sum = Z_T();
    bool some = false;
    for (i64 e = u.e; e < u.stop && !is_final(some, sum); e += AHEAD) {
      i64 k[AHEAD];
      bool has[AHEAD];
      U_T v[AHEAD];
#pragma unroll
      for (int i = 0; i < AHEAD; ++i) k[i] = columns[e + i < u.stop ? e + i : e];
#pragma unroll
      for (int i = 0; i < AHEAD; ++i) has[i] = ((u64)x.bits[k[i] * words + u.w] >> b & 1) && e + i < u.stop;
#pragma unroll
      for (int i = 0; i < AHEAD; ++i) v[i] = has[i] ? x.at((k[i] * words + u.w) * BITS + b) : U_T();
#pragma unroll
      for (int i = 0; i < AHEAD; ++i)
        join(some, sum, has[i], has[i] ? mul(a.at(e + i), v[i], u.line, k[i], u.w * BITS + b) : Z_T());
    }
#if Z_BOOL
    if (sum) or_places(t.values, u.to(words), 1ull << b);
#else
    t.values[u.to(words) * BITS + b] = sum;
#endif
  }
#endif
  const int lane = threadIdx.x & (SHARE - 1), group = threadIdx.x & 31 & ~(SHARE - 1);
  const u64 lanes = ~0ull >> (64 - SHARE);
  while (true) {
    u32 mine = 0;
    if (lane == 0) mine = atomicAdd(&taken, 1u);
    mine = shuffle_from<SHARE>(mine, 0);
    const bool has = mine < left_over;
    if (!__any_sync(ALL_LANES, has)) break;
    const Unit u = UNIT(first + (has ? others[mine] : 0), has);
    Z_T sum[PER];
    bool some[PER];
#pragma unroll
    for (int p = 0; p < PER; ++p) some[p] = false, sum[p] = Z_T();
    for (i64 from = u.e; __any_sync(ALL_LANES, from < u.stop); from += SHARE) {
      const i64 e = from + lane;
      const i64 k = e < u.stop ? (MODE == JOIN ? e : (i64)columns[e]) : 0;
      const u64 bits_of_k = e < u.stop ? x.bits[k * words + u.w] & u.places : 0;
      u32 left = (u32)(__ballot_sync(ALL_LANES, bits_of_k != 0) >> group & lanes);
      while (__any_sync(ALL_LANES, left != 0)) {  // the entries with a hit, AT_ONCE at a time
        U_T v[AT_ONCE][PER];
        u64 bits[AT_ONCE];
        i64 other[AT_ONCE];
        int at[AT_ONCE];
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i) {
          at[i] = left ? __ffs(left) - 1 : 0;
          const u64 there = shuffle_from<SHARE>(bits_of_k, at[i]);
          bits[i] = left ? there : 0;
          other[i] = shuffle_from<SHARE>(k, at[i]);
          left &= left - 1;
#pragma unroll
          for (int p = 0; p < PER; ++p) {
            const int b = lane + p * SHARE;
            if (HAS_TERMINAL == 2 && some[p]) bits[i] &= ~(1ull << b);
            v[i][p] = bits[i] >> b & 1 ? x.at((other[i] * words + u.w) * BITS + b) : U_T();
          }
        }
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i) {
          if (!bits[i]) continue;
          const A_T value = MODE == JOIN ? A_T() : a.at(from + at[i]);
#pragma unroll
          for (int p = 0; p < PER; ++p) {
            const int b = lane + p * SHARE;
            if (!(bits[i] >> b & 1) || (HAS_TERMINAL == 2 && some[p])) continue;
            join(some[p], sum[p], true, mul(value, v[i][p], u.line, other[i], u.w * BITS + b));
          }
        }
      }
    }
    const i64 to = u.to(words);
    u64 found = 0;
#if Z_BOOL
    u64 true_ = 0;
#endif
#pragma unroll
    for (int p = 0; p < PER; ++p) {
      found |= (__ballot_sync(ALL_LANES, some[p]) >> group & lanes) << p * SHARE;
#if Z_BOOL
      true_ |= (__ballot_sync(ALL_LANES, some[p] && sum[p]) >> group & lanes) << p * SHARE;
#else
      if (some[p]) t.values[to * BITS + lane + p * SHARE] = sum[p];
#endif
    }
    if (has && lane == 0) {
      t.bits[to] = (LINE_T)found;
#if Z_BOOL
      t.values[to] = (LINE_T)true_;
#endif
    }
  }
#endif
}
#endif  // KERNEL_pull

#ifdef KERNEL_push
// Push SpMM with a bitmap: T<mask> = A' (+).(x) X by the lines of X that have entries.
// X and T are bitmaps whose lines are the rows and the columns of A; the bits of T are zero before.
// A thread inspects each word; a warp walks the rows of the words that have entries. WORDS only: sums of values are
// pulled.
#define AHEAD 4  // entries that a lane loads before it uses the first

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    push(i64 n, i64 longest, RowsView<PTR_T> rows, ColumnsView all, Values a, i64 words, u64 last, LinesView x,
         LinesMask mask, LinesOutput t, const i64* needed, i64 least, i64 most) {
  if (*needed < least || *needed >= most) return;
  const i64 unit = thread_number();
  const bool inside = unit < n;
  const i64 number = inside ? unit / words : 0, mine = inside ? unit % words : 0;
  const u64 some = inside ? x.bits[(rows.row_stride ? rows.row_of[number] : number) * words + mine] : 0;
  const i64 from = some ? (i64)rows.begin[number] : 0;
  i64 until = some ? (i64)rows.end[number] : 0;
  if (until - from > longest) until = from;  // a hub: its segments are processed by another launch
  const AllColumns columns(all.col, all.width);
  for (u32 todo = __ballot_sync(ALL_LANES, from < until); todo; todo &= todo - 1) {
    const int owner = __ffs(todo) - 1;
    const u64 from_x = __shfl_sync(ALL_LANES, some, owner);
    const i64 w = __shfl_sync(ALL_LANES, mine, owner), stop = __shfl_sync(ALL_LANES, until, owner);
    for (i64 e = __shfl_sync(ALL_LANES, from, owner) + (threadIdx.x & 31); e < stop; e += AHEAD * 32) {
      i64 line[AHEAD];
      u64 places[AHEAD];
#pragma unroll
      for (int i = 0; i < AHEAD; ++i) line[i] = columns[e + i * 32 < stop ? e + i * 32 : e];
#pragma unroll
      for (int i = 0; i < AHEAD; ++i) {
        places[i] = from_x & mask.open(last, words, line[i], w);
        places[i] &= ~(u64)load_fresh(t.bits + line[i] * words + w);
      }
#pragma unroll
      for (int i = 0; i < AHEAD; ++i)
        if (places[i]) or_places(t.bits, line[i] * words + w, places[i]);
    }
  }
}
#endif  // KERNEL_push

#ifdef KERNEL_reduce_columns
// Reduce each line of a bitmap (row or column reduction of a multivector) with LANES lanes.
// The bits of t are zero before the launch.
// KIND COUNT: all values are `product`. The order of additions depends only on the shape.

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    reduce_columns(i64 n, i64 words, LinesView x, ARGUMENT(Z_T) product, OutputView<Z_T> t) {
  const i64 line = thread_number() / LANES;
  const int lane = threadIdx.x & (LANES - 1);
  bool some = false;
  Z_T sum = product;
  i64 count = 0;
  for (i64 w = 0; line < n && w < words; ++w) {
    const u64 there = x.bits[line * words + w];
    if constexpr (KIND == COUNT) {
      count += __popcll(there);
    } else {
      for (int b = lane; b < BITS; b += LANES)
        if (there >> b & 1) join(some, sum, true, cast<Z_T>(x.at((line * words + w) * BITS + b)));
    }
  }
  if (KIND == COUNT) {
    some = count > 0;
    if (some) sum = repeated(product, count);
  } else {
    join_lanes(some, sum, 1);
  }
  if (lane || !some) return;
  const u32 bit = 1u << (line & 31);
  atomicOr((u32*)t.bits + (line >> 5), bit);
#if Z_BOOL
  if (sum) atomicOr((u32*)t.values + (line >> 5), bit);
#else
  t.values[line] = sum;
#endif
}
#endif  // KERNEL_reduce_columns
