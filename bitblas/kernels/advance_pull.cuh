// The pull of an advance by rows: the rows that a mask allows search for an entry of the frontier. Also the views of
// frontiers, and when a round pulls. Include after the definitions of the layout's advance.cu (see advance_rows.cuh).

// Entries per segment of long rows, the work of u above which it pulls, and (search, otherwise ~0) the work of all rows:
// it also pulls if the work of u exceeds what a pull reads, a part of the rows that were in no frontier yet
// (plan/direction.py).
struct AdvanceLimits {
  i64 size, longest;
  u64 most_work, all_work;

  __device__ __forceinline__ bool pulls(u64 work, u64 entries, u64 seen) const {
    if (all_work == ~0ull) return work > most_work;
    const float left = all_work > seen + work ? (float)(all_work - seen - work) : 0.f, mine = (float)work;
    const float average = (float)entries * ((float)all_work / (float)size);  // work of so many average rows
    return work > most_work || mine * (mine > average ? mine / average : 1.f) > left;
  }
};

// Frontiers that are read and written.
struct SourceView {
  const u64* bits;
  const STORED(U_T)* values;
  ARGUMENT(U_T) iso;
  i64 stride;
  const u32* list;
  const u64* state;
  const u32* segments;

  __device__ __forceinline__ bool has(i64 i) const { return bit_of(bits, i); }
  __device__ __forceinline__ U_T at(i64 i) const { return load<U_T>(values, iso, stride, i); }
};

struct FrontierView {
  u64* bits;
  C_T* values;
  u32* list;
  u64* state;
  u32* segments;
};

#if KIND == VALUES
// The operands of products of a push, AT_ONCE per lane: entries e of rows, and the entries of u there. owner: the lane
// whose row `row` is.
struct Factors {
  A_T weight[AT_ONCE];
  U_T x[AT_ONCE];
  u32 from[AT_ONCE];

  __device__ __forceinline__ Factors(const Values& a, const SourceView& u, u32 row, const bool* has, const entry_t* e,
                                     const int* owner) {
#pragma unroll
    for (int k = 0; k < AT_ONCE; ++k) {
      from[k] = __shfl_sync(ALL_LANES, row, owner[k]);
      weight[k] = has[k] ? a.at(e[k]) : A_T();
      x[k] = has[k] ? u.at(from[k]) : U_T();
    }
  }
  // Number k, in column j.
  __device__ __forceinline__ Z_T product(int k, number_t j) const { return mul(weight[k], x[k], j, from[k]); }
};
#endif

// ---- Defer pulling rows that had no hit at their first guess, so that all lanes of a warp stay busy. ----
// Each warp collects such rows until it has enough for all of its lanes. Long rows are processed by the whole block
// (BY_BLOCK). The layout defines the row type (pull_row_t) and walks 32 rows at a time.
#define APART 4  // with at most this many rows per warp, the rows are spread far apart
#define MOST_ROWS 512  // rows of a warp at a time
#define SLOTS 64  // deferred rows of a warp; it processes 32 as soon as it has them
#define LONGEST 1024  // entries of a row from which on the whole block searches it
#define LONG_SLOTS 32  // long rows that a block can queue; a warp searches further ones itself

// Rows that a warp takes at a time: a power of two such that every warp gets some.
__device__ __forceinline__ u32 rows_at_once(i64 rows, u32 warps) {
  u32 share = 1;
  while (share < MOST_ROWS && rows > (i64)warps * share) share *= 2;
  return share;
}

// Set bits of a warp's consecutive rows from `first` on, one per lane, the last row in lane 0. They are within one half
// word.
__device__ __forceinline__ void set_bits(u64* bits, u32 first, u32 rows, bool has) {
  const u32 word = __brev(__ballot_sync(ALL_LANES, has)) >> (32 - rows) << (first & 31);
  if (WARP_LANE == 0 && word) atomicOr((u32*)bits + (first >> 5), word);
}

struct Deferred {
  struct {
    pull_row_t row[SLOTS];
    u32 number[SLOTS];
    u16 list[MOST_ROWS];  // those to search among its current rows
    u32 found[MOST_ROWS / 32];  // bits of the rows whose first guess hit
  } of_warp[BLOCK / 32];
#if BY_BLOCK
  pull_row_t row[LONG_SLOTS];
  u32 number[LONG_SLOTS], count;
#endif

  // Called by the whole warp. Returns the number of its deferred rows afterwards.
  __device__ __forceinline__ u32 put(bool add, const pull_row_t& x, u32 number_of, u32 waiting) {
    auto& own = of_warp[threadIdx.x / 32];
    const u32 who = __ballot_sync(ALL_LANES, add), at = waiting + __popc(who & ((1u << WARP_LANE) - 1u));
    if (add) own.row[at] = x, own.number[at] = number_of;
    __syncwarp();
    return waiting + __popc(who);
  }
  // Take the last 32 deferred rows, or all, one per lane; long ones are queued for the block.
  __device__ __forceinline__ pull_row_t take(u32& waiting, u32& number_of) {
    const auto& own = of_warp[threadIdx.x / 32];
    const u32 few = waiting < 32 ? waiting : 32;
    waiting -= few;
    pull_row_t x = {};
    if (WARP_LANE < few) x = own.row[waiting + WARP_LANE], number_of = own.number[waiting + WARP_LANE];
    __syncwarp();
#if BY_BLOCK
    if ((i64)x.end - (i64)x.begin > LONGEST) {
      const u32 at = atomicAdd(&count, 1u);
      if (at < LONG_SLOTS) row[at] = x, number[at] = number_of, x = {};
    }
#endif
    return x;
  }
};

// ---- Pull. ----

// The value of row j of t, which has a hit.
template <class Back>
__device__ __forceinline__ void pulled_value(const Back& back, const SourceView& u, const FrontierView& t,
                                             const Values& a, const Hit& hit, i64 j) {
#if KIND == VALUES
  if (hit.some) t.values[j] = C_T(mul(Values{back.val, a.iso, a.stride}.at(hit.place), u.at(hit.from), j, hit.from));
#else
  (void)back, (void)u, (void)t, (void)a, (void)hit, (void)j;
#endif
}

#if PULLS
// Pull: the rows that the mask allows search for an entry of u. close(hit, j, row) for each row j that is examined.
template <class Close>
__device__ __forceinline__ void pull_rows(const PullRows& back, const SourceView& u, const FrontierView& t,
                                          const MaskView& mask, i64 a_stride, i64 size, u32 warp, u32 warps,
                                          Deferred& deferred, Close close) {
  (void)a_stride;
  // With few rows, everything known about them is loaded at once; with very few, consecutive ones go to different
  // warps, because long rows are often adjacent. With many (wide), half words of bits, far apart, first determine
  // which rows are needed and nonempty, and these are listed.
  const u32 share = rows_at_once(size, warps);
  const bool apart = share <= APART, wide = share > 32;
  auto& own_rows = deferred.of_warp[threadIdx.x / 32];
  if (WARP_LANE < MOST_ROWS / 32) own_rows.found[WARP_LANE] = 0;
  u32 first = warp * (wide || apart ? 1 : share);
  const u32 end = (u32)(wide ? (size + 31) / 32 : size);
  u32 waiting = 0, left = 0;  // deferred rows of this warp; rows of the current batch, processed from the last on
  // Row of `code` within the warp's batch: for half words, number and bit.
  const auto at = [&](u32 code) -> u32 {  // row numbers on lists have 32 bits
    return wide ? 32 * (first + (code >> 5) * warps) + (code & 31) : first + (apart ? warps : 1) * code;
  };
  // The row of this lane, if that many are left.
  const auto code_of = [&](u32 left) -> u32 {
    const u32 x = WARP_LANE < left ? left - 1 - WARP_LANE : 0;
    return wide ? own_rows.list[x] : x;
  };
  struct Candidate {
    bool open;
    pull_row_t row;
    guess_t guess;
  };
  const auto load_row = [&](u32 left) {
    const u32 j = at(code_of(left));
    Candidate found = {WARP_LANE < left && (i64)j < size};
    if (found.open) {
      u32 masked = wide ? 0 : mask.stored(j >> 5);
      if (ALSO && !wide) masked |= peek((const u32*)u.bits + (j >> 5));
      found.row = pull_row(back, j), found.guess = back.guess(j);
      if (!wide) found.open = (mask.allowed(masked) >> (j & 31)) & 1;
    }
    return found;
  };
#if BY_BLOCK
  if (threadIdx.x == 0) deferred.count = 0;
  __syncthreads();
#endif
  Candidate now = {};
  for (;;) {
    if (!left && first < end) {
      left = share;
      if (wide) {
        const u32 h = first + WARP_LANE * warps;
        u32 open = 0;
        if (WARP_LANE < share / 32 && h < end) {
          u32 masked = mask.stored(h);
          if (ALSO) masked |= peek((const u32*)u.bits + h);
          open = mask.allowed(masked) & back.some_of(h);
        }
        u32 place = group_sum_below<32>(__popc(open));
        left = __shfl_sync(ALL_LANES, place + __popc(open), 31);
        for (; open; open &= open - 1) own_rows.list[place++] = (u16)(32 * WARP_LANE + __ffs(open) - 1);
        __syncwarp();
      }
      now = load_row(left);
    }
    if (left) {
      const u32 code = code_of(left);
      left -= left < 32 ? left : 32;
      Candidate then = {};
      if (left) then = load_row(left);
      const u32 j = at(code);
      const bool some = now.open && back.some(now.row, now.guess);
      const bool guess_hits = some && back.guesses && u.has(now.guess);
      waiting = deferred.put(some && !guess_hits, now.row, j, waiting);
      const Hit hit = {guess_hits, (i64)now.guess,
                       KIND == VALUES && guess_hits && a_stride ? back.place(now.row, now.guess) : 0};
      if (wide && guess_hits) atomicOr(own_rows.found + (code >> 5), 1u << (code & 31));
      if (apart && guess_hits) set_bit(t.bits, j);  // the bits of t are zero before
      if (!wide && !apart) set_bits(t.bits, first, share, guess_hits);
      close(hit, j, now.row);
      now = then;
    }
    if (!left && first < end) {
      if (wide) {
        __syncwarp();
        const u32 bits = WARP_LANE < MOST_ROWS / 32 ? own_rows.found[WARP_LANE] : 0;
        if (bits) atomicOr((u32*)t.bits + first + WARP_LANE * warps, bits), own_rows.found[WARP_LANE] = 0;
        __syncwarp();
      }
      first += warps * (wide ? share / 32 : share);
    }
    if (waiting < 32 && (left || first < end)) continue;
    if (!waiting) break;
    u32 i = 0;
    const pull_row_t row = deferred.take(waiting, i);
    const Hit hit = search_row(back, row, i, u.bits);
    if (hit.some) set_bit(t.bits, i);
    close(hit, i, row);
  }
#if BY_BLOCK
  __syncthreads();
  for (u32 k = 0; k < deferred.count && k < LONG_SLOTS; ++k) {
    const pull_row_t row = deferred.row[k];
    Hit hit = back.search_by_block(row, u.bits);
    hit.some = hit.some && mark(t.bits, deferred.number[k]);  // one of the lanes that have a hit
    close(hit, deferred.number[k], row);
  }
#endif
}
#endif
