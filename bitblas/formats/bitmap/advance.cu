// Rounds of a device loop on multivectors. A frontier lists the 64-bit words of its bitmap that have entries: with 64
// columns, its rows; with more, pairs of a row and a word; with fewer, a word has several rows. So a round costs what is
// active, not all rows.
#include "formats/bitmap/words.cuh"

#ifdef KERNEL_advance
// Advance of a multivector: t<mask> = A' any.pair u, presence only. The bits of t are zero before.
// The fused element-wise statements run at the entries of u (AT_WORD, AT_ENTRY; codegen/cuda_kernels.py). ALSO 1: they
// add these entries to the mask, which meanwhile counts them as set; 2: the mask's bits have them already (add_frontier
// below), and get those of t. CLEARS: then nothing else reads u, and a round that pushes clears its words.
// Small frontiers push along the rows of their words: a warp takes up to 32 of them as one concatenated row, and the
// thread that makes a word of t nonzero lists it. Large ones pull: LANES lanes share a word of the result. Long rows are
// cut into segments, which warps process. `old` is the frontier of the previous round; it is cleared for the next round.
#include "formats/csr/columns.cuh"
#define VALUES 2  // as in kernels/product.cuh: not the KIND of this kernel
#include "kernels/joined.cuh"
typedef AnyColumn<PACKED, COL_T> AllColumns;
#define AHEAD 4  // entries that a lane of a pull loads before it uses the first
#define FEW 4  // entries of a word up to which a lane runs the statements by itself

// Rows, and the segments of those with more than `longest` entries.
struct SegmentedRows {
  const PTR_T* ptr;
  const column_t* col;
  i64 width;
  const PTR_T* begin;
  const PTR_T* end;
  const i64* row_of;
  i64 segments, longest;

  __device__ __forceinline__ AllColumns columns() const { return AllColumns(col, width); }
};

// The places of a row that N lanes share: those of the columns of entries e, e + N, ..
template <int N, class Line>
__device__ __forceinline__ u64 pulled(i64 e, i64 stop, u64 places, const AllColumns& columns, Line line) {
  u64 found = 0;
  for (; e < stop && found != places; e += AHEAD * N) {
    i64 k[AHEAD];
#pragma unroll
    for (int i = 0; i < AHEAD; ++i) k[i] = columns[e + i * N < stop ? e + i * N : e];
#pragma unroll
    for (int i = 0; i < AHEAD; ++i) found |= line(k[i]) & places;
  }
#pragma unroll
  for (int d = N / 2; d >= 1; d >>= 1) found |= shuffle_xor(ALL_LANES, found, d);
  return found;
}

// The statements at the entries of a word from each lane: by the lane itself if all have few, else 32 entries at a time.
template <class At> __device__ __forceinline__ void at_places(u64 places, u32 word, At at) {
  if (!__any_sync(ALL_LANES, __popcll(places) > FEW)) {
    for (u64 todo = places; todo; todo &= todo - 1) at((i64)word * 64 + __ffsll(todo) - 1);
    return;
  }
  each_place(places, word, [&](bool inside, u32 of, int place) {
    if (inside) at((i64)of * 64 + place);
  });
}

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    advance(i64 n, WordsOf words, u64 most_work, Control control, NextList u, NextList t, NextList old, MaskView mask,
            SegmentedRows rows, SegmentedRows back PARAMETERS) {
  await_previous();
  const i64 begun = control.rounds[0];
  const u64 u_length = u.state[LIST_LENGTH], old_length = old.state[LIST_LENGTH], u_work = u.state[WORK];
  const u64 u_dense = u.state[DENSE], old_dense = old.state[DENSE];
  const u64 old_work = CLEARS ? old.state[WORK] : 0;
  const bool runs = control.runs();
  if (!runs_with(runs, u_length, old_length, u_work, u_dense, old_dense, old_work)) return;
  if (thread_number() == 0) control.rounds[2] = begun + control.ahead + 1;
  const bool pull = u_work > most_work;
  u32 entries = 0, work = 0;  // work: nonempty words, because rows are about as long
  __shared__ Stage stage;
  begin_stage(stage);
  const u32 warp = blockIdx.x + gridDim.x * (threadIdx.x / 32), warps = gridDim.x * (BLOCK / 32);

  const u64 count = u_dense ? (u64)n : u_length;
  u64 share = (count + warps - 1) / warps;  // words that a warp takes at a time
  share = share < 32 ? share : 32;
  const auto word_at = [&](u64 k) { return WARP_LANE < share && k < count ? u_dense ? (u32)k : u.list[k] : 0; };
  u32 next_word = word_at(warp * share + WARP_LANE);
  issue_load(next_word);

  // From the last thread on: small frontiers push with the first ones.
  const u64 cleared = CLEARS && old_work <= most_work ? 0 : old_dense ? (u64)n : old_length;
  for (u64 k = warps * 32 - 1 - thread_number(); k < cleared; k += warps * 32)
    old.bits[old_dense ? k : old.list[k]] = 0;

  const auto allowed = [&](i64 word) { return mask.part<64>(word, ALSO == 1 ? peek(u.bits + word) : 0); };
  const auto reached = [&](i64 word, u64 places) {
    if (ALSO == 2 && places) atomicOr((u64*)mask.bits + word, places);
  };
  if (!pull || STATEMENTS) {
    const AllColumns columns = rows.columns();
    u64 places = 0;  // of the line of this lane
    i64 of_line = 0;  // the number of its word within the line
    const auto push = [&](const bool* has, const PTR_T* e, const int* owner, u32, u32) {
      u64 news[AT_ONCE], there[AT_ONCE];
      u32 at[AT_ONCE];
      bool add[AT_ONCE];
#pragma unroll
      for (int k = 0; k < AT_ONCE; ++k) {
        const u64 from = __shfl_sync(ALL_LANES, places, owner[k]);
        const i64 word = __shfl_sync(ALL_LANES, of_line, owner[k]);
        const i64 j = has[k] ? (i64)columns[e[k]] : 0;
        at[k] = (u32)words.at(j, word), news[k] = has[k] ? words.shifted(from, j) : 0;
      }
#pragma unroll
      for (int k = 0; k < AT_ONCE; ++k) news[k] &= news[k] ? allowed(at[k]) : 0;
#pragma unroll
      for (int k = 0; k < AT_ONCE; ++k) there[k] = news[k] ? atomicOr(t.bits + at[k], news[k]) : ~0ull;
#pragma unroll
      for (int k = 0; k < AT_ONCE; ++k) {
        entries += __popcll(news[k] & ~there[k]);
        reached(at[k], news[k] & ~there[k]);
        add[k] = there[k] == 0;
        work += add[k];
      }
      append_staged<AT_ONCE>(stage, add, at, t.list, t.state + LIST_LENGTH);
    };
    for (u64 first = warp * share; first < count; first += warps * share) {
      const bool mine = WARP_LANE < share && first + WARP_LANE < count;
      const u32 word = next_word;
      const i64 row0 = words.row(word, 0);
      PTR_T begin = mine ? rows.ptr[row0] : 0, end = mine ? rows.ptr[row0 + 1] : 0;
      const u64 x = mine ? u.bits[word] : 0;  // later statements may have removed entries
      next_word = word_at(first + warps * share + WARP_LANE);
      issue_load(begin), issue_load(end), issue_load(next_word);
      if (!__any_sync(ALL_LANES, x != 0)) continue;
#if STATEMENTS
      const i64 ahead = control.ahead, *const rounds = &begun;
      (void)ahead, (void)rounds;
      at_places(x, word, [&](i64 i) { AT_ENTRY(i) });
      __syncwarp();
      if (x) AT_WORD((i64)word, x)
      if (pull) continue;
#endif
      if (CLEARS && x) u.bits[word] = 0;
#pragma unroll 1
      for (int line = 0; line < LINES_IN_WORD; ++line) {
        places = words.places_of(x, line), of_line = words.of_line(word);
        if (line) {
          const i64 row = places ? words.row(word, line) : 0;
          begin = places ? rows.ptr[row] : 0, end = places ? rows.ptr[row + 1] : 0;
        }
        if (!places || (i64)end - (i64)begin > rows.longest) end = begin;
        walk_joined(begin, end, push);
      }
    }
    for (i64 s = warp; s < rows.segments * words.per_line && !pull; s += warps) {
      const i64 row = rows.row_of[s / words.per_line];
      of_line = s % words.per_line, places = words.line(u.bits, row, of_line);
      if (places) walk_row(rows.begin[s / words.per_line], rows.end[s / words.per_line], push);
    }
  }
  if (pull) {
    const AllColumns columns = back.columns();
    const i64 all = words.lines * words.per_line;
    const int lane = threadIdx.x & (LANES - 1);
    // The warps of a block take consecutive rows, which have columns in common.
    const i64 own = blockIdx.x * (BLOCK / 32) + threadIdx.x / 32;
    for (i64 first = own * (32 / LANES); first < all; first += (i64)warps * (32 / LANES)) {
      const i64 unit = first + WARP_LANE / LANES, row = unit / words.per_line, w = unit % words.per_line;
      const u64 places = unit < all ? words.open(allowed(words.at(row, w)), row, w) : 0;
      i64 e = places ? (i64)back.ptr[row] : 0, stop = places ? (i64)back.ptr[row + 1] : 0;
      if (stop - e > back.longest) stop = e;
      const u64 found = pulled<LANES>(e + lane, stop, places, columns, [&](i64 k) { return words.line(u.bits, k, w); });
      if (!found || lane) continue;
      reached(words.at(row, w), words.shifted(found, row));
      if (BITS == 64) t.bits[unit] = found, ++work;
      else work += atomicOr(t.bits + words.at(row, w), words.shifted(found, row)) == 0;
      entries += __popcll(found);
    }
    for (i64 s = warp; s < back.segments * words.per_line; s += warps) {
      const i64 segment = s / words.per_line, w = s % words.per_line, row = back.row_of[segment];
      const i64 at = words.at(row, w);
      const u64 places = words.open(allowed(at), row, w) & ~words.places_at(peek(t.bits + at), row);
      const i64 stop = places ? (i64)back.end[segment] : 0;  // other segments may have found all
      const i64 e = (i64)back.begin[segment] + WARP_LANE;
      const u64 found = pulled<32>(e, stop, places, columns, [&](i64 k) { return words.line(u.bits, k, w); });
      if (!found || WARP_LANE) continue;
      reached(at, words.shifted(found, row));
      const u64 before = atomicOr(t.bits + at, words.shifted(found, row));
      entries += __popcll(found & ~words.places_at(before, row)), work += before == 0;
    }
    if (thread_number() == 0) t.state[DENSE] = 1;
  }
  flush_stage(stage, entries, work, t.list, nullptr, t.state);
}
#endif  // KERNEL_advance

#ifdef KERNEL_add_frontier
// Before the first round: the bits of a mask that receives the entries of each frontier get those of the first one.
extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    add_frontier(i64 n, Control control, u64* mask_bits, const u64* bits) {
  await_previous();
  if (!control.runs()) return;
  for (i64 k = thread_number(); k < n; k += (i64)gridDim.x * BLOCK) mask_bits[k] |= bits[k];
}
#endif  // KERNEL_add_frontier

#ifdef KERNEL_drop_frontier
// After the last round: they lose those of the last frontier, which no round has processed. steps: advances per round.
extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    drop_frontier(i64 n, const i64* rounds, i64 steps, u64* mask_bits, const u64* first, const u64* second,
                  const u64* third) {
  await_previous();
  if (rounds[2] == 0) return;
  const i64 rotation = (rounds[2] - rounds[4]) * steps % 3;
  const u64* bits = rotation == 0 ? first : rotation == 1 ? second : third;
  for (i64 k = thread_number(); k < n; k += (i64)gridDim.x * BLOCK) mask_bits[k] &= ~bits[k];
}
#endif  // KERNEL_drop_frontier

#ifdef KERNEL_sum_words
// Sums of a product at the places of a multivector, along the rows of its words. Each place gets a thread, which takes the
// sum in the order of the row's entries.
// FINDS 0: the places are those of t, whose bits an advance has set. 1: those of a mask; t becomes a frontier of the places
// that have a product. Its bits are zero before; `old`, the frontier of the previous round, is cleared for the next round.
#include "formats/bitmap/lines.cuh"
#include "formats/csr/columns.cuh"
typedef AnyColumn<PACKED, COL_T> AllColumns;
#define AHEAD 4  // entries that a thread loads before it uses the first

extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    sum_words(i64 n, WordsOf words, Control control, ListView where, NextList t, sums_t* values, NextList old,
              CsrView<PTR_T, AllColumns> rows, Values a, LinesView x) {
  await_previous();
  const i64 begun = control.rounds[0];
  const u64 length = where.state[LIST_LENGTH], dense = where.state[DENSE];
#if FINDS
  const u64 old_length = old.state[LIST_LENGTH], old_dense = old.state[DENSE];
#else
  const u64 old_length = 0, old_dense = 0;
#endif
  const bool runs = control.runs();
  if (!runs_with(runs, length, dense, old_length, old_dense)) return;
  const u32 warp = blockIdx.x + gridDim.x * (threadIdx.x / 32), warps = gridDim.x * (BLOCK / 32);
#if FINDS
  if (thread_number() == 0) control.rounds[2] = begun + control.ahead + 1;
  __shared__ Stage stage;
  begin_stage(stage);
  u32 entries = 0, work = 0;
  const u64 cleared = old_dense ? (u64)n : old_length;
  for (u64 k = warps * 32 - 1 - thread_number(); k < cleared; k += warps * 32)
    old.bits[old_dense ? k : old.list[k]] = 0;
#else
  (void)begun, (void)old;
#endif
  const AllColumns columns = rows.columns();
  const u64 count = dense ? (u64)n : length;
  u64 share = (count + warps - 1) / warps;  // words that a warp takes at a time
  share = share < 32 ? share : 32;
  for (u64 first = warp * share; first < count; first += warps * share) {
    const u64 mine = first + WARP_LANE;
    const bool some_word = WARP_LANE < share && mine < count;
    const u32 word = some_word ? dense ? (u32)mine : where.list[mine] : 0;
    const u64 places = some_word ? where.bits[word] : 0;
    each_place(places, word, [&](bool inside, u32 at, int place) {
      const int b = place % BITS;
      const i64 row = words.row(at, place / BITS), w = words.of_line(at);
      i64 e = inside ? (i64)rows.ptr[row] : 0;
      const i64 stop = inside ? (i64)rows.ptr[row + 1] : 0;
      Z_T sum = Z_T();
      bool some = false;
      for (; e < stop && !is_final(some, sum); e += AHEAD) {
        i64 k[AHEAD];
        bool has[AHEAD];
#pragma unroll
        for (int i = 0; i < AHEAD; ++i) k[i] = columns[e + i < stop ? e + i : e];
#pragma unroll
        for (int i = 0; i < AHEAD; ++i) has[i] = ((u64)x.bits[k[i] * words.per_line + w] >> b & 1) && e + i < stop;
#if KIND == VALUES
        U_T v[AHEAD];
#pragma unroll
        for (int i = 0; i < AHEAD; ++i) v[i] = has[i] ? x.at((k[i] * words.per_line + w) * BITS + b) : U_T();
#pragma unroll
        for (int i = 0; i < AHEAD; ++i)
          join(some, sum, has[i], has[i] ? mul(a.at(e + i), v[i], row, k[i], w * BITS + b) : Z_T());
#else
#pragma unroll
        for (int i = 0; i < AHEAD; ++i) some = some || has[i];
        if (some) break;
#endif
      }
#if KIND == VALUES
      if (some) values[(i64)at * 64 + place] = sum;
#else
      (void)values, (void)a, (void)sum;
#endif
#if FINDS
      const bool news = some && atomicOr(t.bits + at, 1ull << place) == 0;
      entries += some;
      work += news;
      append_staged(stage, news, at, t.list, t.state + LIST_LENGTH);
#endif
    });
  }
#if FINDS
  flush_stage(stage, entries, work, t.list, nullptr, t.state);
#else
  (void)t;
#endif
}
#endif  // KERNEL_sum_words
