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
// For WORDS, LANES lanes share the entries of a row. For values, a group of LANES lanes reads the entries of several rows
// (formats/schedule.py, groups_of) as one sequence, each lane an entry, and lists those with a hit in shared memory. Then
// it processes the list entry by entry, a lane one or two positions, so that values are read side by side. A sum is taken
// in the order of its row's entries.
#if KIND == VALUES
constexpr int BYTES = sizeof(A_T) + PER * sizeof(U_T);  // of a listed entry's values
// Listed entries whose values it loads together: with more, registers spill.
constexpr int AT_ONCE = BYTES > 32 ? 1 : BYTES > 17 ? 2 : BYTES < 8 ? 3 : 5;
#define BLOCKS (BYTES > 32 ? 3 : 4)
#define UNITS (MODE == WHOLE ? LANES : 1)
#define GROUP (u32)(~0ull >> (64 - LANES))

// An entry with a hit: the positions, and in one number the first position of the word of X (below 2^48), the number of
// the unit that reads it, and the number of the entry in the list's part of the sequence.
struct alignas(16) Hit {
  u64 places, at;

  __device__ __forceinline__ i64 first() const { return (i64)(at & ((1ull << 48) - BITS)); }
  __device__ __forceinline__ int unit() const { return (int)at & (BITS - 1); }
  __device__ __forceinline__ u32 number() const { return (u32)(at >> 48); }
};

// The units of a group of lanes, and the entries with a hit among those that it has read.
struct GroupList {
  u64 places[UNITS];
  i64 shift[UNITS], to[UNITS];  // number of an entry less its number in the sequence; word of T
  u32 w[UNITS];
  Hit hits[AHEAD * LANES + AT_ONCE];
};

// The sums of the unit that a group of lanes processes, each at its positions.
struct LineSums {
  Z_T sum[PER];
  u64 found;
  int unit;

  __device__ __forceinline__ void begin(int next) {
    unit = next, found = 0;
#pragma unroll
    for (int p = 0; p < PER; ++p) sum[p] = Z_T();
  }
  // Whether the lane's position number p is one of them.
  __device__ __forceinline__ bool has(u64 places, int p) const {
    return (u32)(places >> (p * LANES & 32)) & 1u << (threadIdx.x & (LANES - 1)) << (p * LANES & 31);
  }
  __device__ __forceinline__ void write(const LinesOutput& t, i64 to) const {
    const int lane = threadIdx.x & (LANES - 1);
#if Z_BOOL
    u64 is_true = 0;
#pragma unroll
    for (int p = 0; p < PER; ++p) {
      const u32 some = __ballot_sync(group_mask<LANES>(), has(found, p) && sum[p]);
      is_true |= (u64)(some >> (threadIdx.x & 31 & ~(LANES - 1)) & GROUP) << p * LANES;
    }
    if (lane == 0) t.values[to] = (LINE_T)is_true;
#else
#pragma unroll
    for (int p = 0; p < PER; ++p)
      if (has(found, p)) t.values[to * BITS + lane + p * LANES] = sum[p];
#endif
    if (lane == 0) t.bits[to] = (LINE_T)found;
  }
};
#else
#define BLOCKS 4
#endif

extern "C" __global__ void __launch_bounds__(BLOCK, BLOCKS)
    pull(i64 n, i64 longest, RowsView<PTR_T> rows, ColumnsView all, Values a, i64 words, u64 last, LinesView x,
         LinesMask mask, LinesOutput t, const i64* needed, i64 least, i64 most) {
  if (*needed < least || *needed >= most) return;
  const AllColumns columns(all.col, all.width);
#if KIND == WORDS
  const i64 unit = thread_number() / LANES;
  const int lane = threadIdx.x & (LANES - 1);
  const Unit u = UNIT(unit, unit < n);
  u64 found = 0, places = u.places;
  // Other segments of the row have found some.
  if (MODE == PARTS && places) places &= ~(u64)load_fresh(t.bits + u.to(words));
  for (i64 e = u.e + lane; e < u.stop && found != places; e += AHEAD * LANES) {
    i64 k[AHEAD];
#pragma unroll
    for (int i = 0; i < AHEAD; ++i) k[i] = columns[e + i * LANES < u.stop ? e + i * LANES : e];
#pragma unroll
    for (int i = 0; i < AHEAD; ++i) found |= x.bits[k[i] * words + u.w] & places;
  }
#pragma unroll
  for (int d = LANES / 2; d >= 1; d >>= 1) found |= shuffle_xor(ALL_LANES, found, d);
  if (unit >= n || lane || (MODE == PARTS && !found)) return;
  if (MODE == PARTS) or_places(t.bits, u.to(words), found);
  else t.bits[u.to(words)] = (LINE_T)found;
#else
  // A group of lanes takes up to UNITS words of lines, whose entries it reads as one sequence: of whole lines those
  // from rows.row_of[number] to rows.row_of[number + 1].
  const int lane = threadIdx.x & (LANES - 1);
  const i64 number = thread_number() / LANES;
  i64 unit = number, end = number + 1;
  if (MODE == WHOLE && number < n) unit = rows.row_of[number] * words, end = rows.row_of[number + 1] * words;
  unit += lane;
  const bool has_unit = number < n && unit < end;
  const Unit u = UNIT(unit, has_unit);
  const u32 length = (u32)(u.stop - u.e), before = group_sum_below<LANES>(length);
  const u32 total = shuffle_from<LANES>(before + length, LANES - 1);
  __shared__ GroupList lists[BLOCK / LANES];
  GroupList& list = lists[threadIdx.x / LANES];
  if (lane < UNITS) list.places[lane] = u.places, list.shift[lane] = u.e - before;
  if (lane < UNITS) list.to[lane] = u.to(words), list.w[lane] = (u32)u.w;
  if (has_unit) t.bits[u.to(words)] = 0;
#if Z_BOOL
  if (has_unit) t.values[u.to(words)] = 0;
#endif
  __syncwarp();
  LineSums sums;
  sums.begin(-1);
  for (u32 from = 0; __any_sync(ALL_LANES, from < total); from += AHEAD * LANES) {
    // List the entries with a hit, in order.
    COL_T k[AHEAD];
    u64 owners = 0;  // the unit of each entry, in five bits
    u64 places[AHEAD];
    const auto owner_of = [&](int i) { return (int)(owners >> 5 * i) & 31; };
    const auto word_at = [&](COL_T j, int i) { return (i64)j * words + (words > 1 ? list.w[owner_of(i)] : 0); };
#pragma unroll
    for (int i = 0; i < AHEAD; ++i) {
      const u32 number = from + i * LANES + lane;
      int owner = 0;  // the last unit with at most that many entries before its own
#pragma unroll
      for (int d = UNITS / 2; d; d >>= 1)
        if (shuffle_from<LANES>(before, owner + d) <= number) owner += d;
      owners |= (u64)owner << 5 * i;
      const i64 e = list.shift[owner] + number;
      k[i] = number < total ? MODE == JOIN ? (COL_T)e : columns[e] : 0;
    }
#pragma unroll
    for (int i = 0; i < AHEAD; ++i)
      places[i] = from + i * LANES + lane < total ? x.bits[word_at(k[i], i)] & list.places[owner_of(i)] : 0;
    u32 count = 0;
#pragma unroll
    for (int i = 0; i < AHEAD; ++i) {
      const u32 some = __ballot_sync(ALL_LANES, places[i] != 0) >> (threadIdx.x & 31 & ~(LANES - 1)) & GROUP;
      const u64 number = i * LANES + lane, at = number << 48 | (u64)(word_at(k[i], i) * BITS + owner_of(i));
      if (places[i]) list.hits[count + __popc(some & ((1u << lane) - 1))] = {places[i], at};
      count += __popc(some);
    }
    __syncwarp();  // entries without positions fill the list up to a multiple of AT_ONCE
    if (count && lane < AT_ONCE - 1) list.hits[count + lane] = {0, list.hits[count - 1].at};
    __syncwarp();
    for (u32 h = 0; __any_sync(ALL_LANES, h < count); h += AT_ONCE) {
      const bool more = LANES == 32 || h < count;
      const auto hit_at = [&](int i) {
        Hit hit = list.hits[more ? h + i : 0];
        if (!more) hit.places = 0;
        return hit;
      };
      A_T value[AT_ONCE];
      U_T v[AT_ONCE][PER];
      if (x.stride) {
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i) {
          const Hit hit = hit_at(i);
          const i64 at = hit.first() + lane;
#pragma unroll
          for (int p = 0; p < PER; ++p)
            if (sums.has(hit.places, p)) v[i][p] = load<U_T>(x.values, U_T(), 1, at + p * LANES);
        }
      } else {
#pragma unroll
        for (int i = 0; i < AT_ONCE * PER; ++i) v[i / PER][i % PER] = x.iso;
      }
      if (a.stride) {
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i) {
          const Hit hit = hit_at(i);
          if (hit.places) value[i] = a.at(list.shift[hit.unit()] + from + hit.number());
        }
      }
      __syncwarp();  // so that hits are read again, instead of kept in registers
#pragma unroll
      for (int i = 0; i < AT_ONCE; ++i) {
        const Hit hit = hit_at(i);
        if (more && hit.unit() != sums.unit) {
          if (sums.unit >= 0) sums.write(t, list.to[sums.unit]);
          sums.begin(hit.unit());
        }
#pragma unroll
        for (int p = 0; p < PER; ++p) {
          const bool had = sums.has(sums.found, p);
          if (!sums.has(hit.places, p) || (HAS_TERMINAL == 2 && had)) continue;
          const i64 to = list.to[sums.unit], line = MODE == PARTS ? rows.row_of[to / words] : to / words;
          const i64 other = hit.first() / BITS / words, place = to % words * BITS + lane;  // unused by most products
          const Z_T z = mul(a.stride ? value[i] : A_T(a.iso), v[i][p], line, other, place + p * LANES);
          sums.sum[p] = had ? add(sums.sum[p], z) : z;
        }
        sums.found |= hit.places;
      }
    }
    __syncwarp();  // the list has been read
  }
  if (sums.unit >= 0) sums.write(t, list.to[sums.unit]);
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
