// Small rounds of a body with passes: one cluster keeps a list of all places where any of the body's sparse vectors has an
// entry (`on` marks them), and its passes look at these alone; the others would stay as they are. The step pushes along the
// entries of its vector, which the pass before it puts on a list of their own. What a step finds joins the places; the
// pass before it drops those where nothing is left. A form says how its units are pushed along: its along.cuh.
#include "kernels/small.cuh"
#define ROOM ((int)(QUEUE_BYTES / 3 / 8))  // places of a list that a block holds; another third is for items
#define ITEM_ROOM ((int)(QUEUE_BYTES * 2 / 3 / sizeof(Item)))
#define LONGS 64  // rows that a block walks as a whole
#define WARPS (THREADS / 32)

struct Lists {
  u32 places[2][ROOM];
  Item items[ITEM_ROOM];
  // What this block has; of two, one is used and one made.
  u32 listed[2], itemed[2], work[2], remaining[2], leave[2];
  u32 spilled[2], items_spilled[2];  // of block 0: what found no room, in global memory
  // The list that is gone through: what stands in the blocks before, and in global memory.
  u32 before[PEERS + 1], outside;
  u32 all_work, all_leave, all_remaining;
  u32 longs[LONGS], long_count;
};

// The sum of entries over the cluster, by parts of warps.
template <class T> struct Parts {
  T sum[WARPS], total;
  u32 some[WARPS], any;
};
template <class T, class Add> __device__ __forceinline__ void join_warp(bool& some, T& sum, Add add) {
#pragma unroll
  for (int d = 16; d; d >>= 1) {
    const bool other = shuffle_xor(ALL_LANES, some, d);
    const T x = shuffle_xor(ALL_LANES, sum, d);
    if (other) sum = some ? add(sum, x) : x;
    some = some || other;
  }
}
template <class T, class Add> __device__ __forceinline__ void put_part(Parts<T>& parts, bool some, T sum, Add add) {
  join_warp(some, sum, add);
  if (WARP_LANE == 0) parts.sum[threadIdx.x / 32] = sum, parts.some[threadIdx.x / 32] = some;
}
// After the cluster has met. The whole block calls it.
template <class T, class Add> __device__ __forceinline__ void join_parts(Parts<T>& parts, bool& some, T& sum, Add add) {
  if (threadIdx.x < 32) {
    some = false;
    for (int k = WARP_LANE; k < PEERS * WARPS; k += 32) {
      const Parts<T>* const there = at_peer(&parts, k / WARPS);
      const T x = there->sum[k % WARPS];
      if (!there->some[k % WARPS]) continue;
      sum = some ? add(sum, x) : x;
      some = true;
    }
    join_warp(some, sum, add);
    if (WARP_LANE == 0) parts.total = sum, parts.any = some;
  }
  __syncthreads();
  some = parts.any, sum = parts.total;
}

struct Small {
  Lists& q;
  const Units& form;
  Buffers b;  // of the vector that the step writes
  i64 size, longest;
  u64 most, most_work;
  u64* condition;
  i64* rounds;
  u64 *state, *old_state;
  u32* list;
  const u32* old_list;
  u32* segments;
  u64* on;
  u32 *spill, *other_spill, *item_spill;
  u64* home;
  C_T* home_val;
  u32 rank, me;
  int turn, parity;  // the lists that are used; which number of entries that remain is counted now
  i64 first, limit, done;

  __device__ __forceinline__ void start() {
    home = b.bits, home_val = b.val;
    rank = rank_in_cluster(), me = rank * THREADS + threadIdx.x;
    turn = parity = 0;
    first = rounds[0], limit = rounds[1], done = 0;
  }

  // ---- lists ----

  __device__ __forceinline__ u32* spill_of(int list) const { return list ? other_spill : spill; }

  // The whole block calls it, before it goes through a list.
  __device__ __forceinline__ void gather(u32* counts, u32 room, u32* spilled) {
    if (threadIdx.x < 32) {
      u32 sum = 0;
      if (WARP_LANE < PEERS) sum = *at_peer(counts, WARP_LANE);
      if (sum > room) sum = room;
#pragma unroll
      for (int d = 1; d < PEERS; d <<= 1) {
        const u32 below = __shfl_up_sync(ALL_LANES, sum, d);
        if (WARP_LANE >= d) sum += below;
      }
      if (WARP_LANE < PEERS) q.before[WARP_LANE + 1] = sum;
      if (WARP_LANE == 0) q.before[0] = 0, q.outside = *at_peer(spilled, 0);
    }
    __syncthreads();
  }
  __device__ __forceinline__ u32 owner_of(u32 k) const {
    u32 owner = 0;
#pragma unroll
    for (int r = 1; r < PEERS; ++r) owner += k >= q.before[r];
    return owner;
  }
  __device__ __forceinline__ u32 place(u32 k) const {
    if (k >= q.before[PEERS]) return spill_of(turn)[k - q.before[PEERS]];
    const u32 owner = owner_of(k);
    return *at_peer(&q.places[turn][k - q.before[owner]], owner);
  }
  __device__ __forceinline__ Item item(u32 k) const {
    if (k >= q.before[PEERS]) return form.item_at(item_spill[k - q.before[PEERS]]);
    const u32 owner = owner_of(k);
    return *at_peer(&q.items[k - q.before[owner]], owner);
  }

  // Whole warps call these: those who `add` put something on a list. Its number on the list of the block.
  __device__ __forceinline__ u32 number(bool add, u32* count) {
    const u32 who = __ballot_sync(ALL_LANES, add);
    if (!who) return 0;
    const int leader = __ffs(who) - 1;
    u32 at = 0;
    if (WARP_LANE == leader) at = atomicAdd(count, (u32)__popc(who));
    return __shfl_sync(ALL_LANES, at, leader) + __popc(who & ((1u << WARP_LANE) - 1u));
  }
  __device__ __forceinline__ void put_place(bool add, u32 p, int to) {
    const u32 at = number(add, &q.listed[to]);
    if (!add) return;
    if (at < ROOM) q.places[to][at] = p;
    else spill_of(to)[atomicAdd(at_peer(&q.spilled[to], 0), 1u)] = p, q.leave[parity] = 1;
  }
  __device__ __forceinline__ void put_item(bool add, u32 p, int to) {
    Item x = {};
    if (add) x = form.item_at(p);
    const u32 at = number(add, &q.itemed[to]);
    if (add && at < ITEM_ROOM) q.items[at] = x;
    else if (add) item_spill[atomicAdd(at_peer(&q.items_spilled[to], 0), 1u)] = p, q.leave[parity] = 1;
    const i64 work = add ? form.work_of(x) : 0;
    add_work(&q.work[to], work < longest ? (u32)work : (u32)longest);
  }
  __device__ __forceinline__ void add_work(u32* to, u32 x) {
#pragma unroll
    for (int d = 16; d; d >>= 1) x += __shfl_xor_sync(ALL_LANES, x, d);
    if (WARP_LANE == 0 && x) atomicAdd(to, x);
  }
  __device__ __forceinline__ void remain(u32 entries) { add_work(&q.remaining[parity], entries); }

  // ---- begin, end, and between two rounds ----

  // any(h): half word h of the places where any sparse vector has an entry. False: it is not the cluster's turn.
  template <class Any> __device__ __forceinline__ bool begin(Any any) {
    if (*condition == 0 || first >= limit) return false;
    if (threadIdx.x == 0) {
      for (int k = 0; k < 2; ++k)
        q.listed[k] = q.itemed[k] = q.work[k] = q.remaining[k] = q.leave[k] = q.spilled[k] = q.items_spilled[k] = 0;
      q.all_leave = q.all_work = q.all_remaining = q.long_count = 0;
    }
    __syncthreads();
    const i64 halves = (size + 31) / 32, step = PEERS * THREADS;
    u32 count = 0;
    for (i64 h = me; h < halves; h += step) count += __popc(any(h));
    add_work(&q.remaining[1], count);
    meet_in_cluster();
    u32 total = 0;
    for (int r = 0; r < PEERS; ++r) total += *at_peer(&q.remaining[1], r);
    const u64 dense = state[DENSE], listed = state[LISTED], old_dense = old_state[DENSE], old_listed = old_state[LISTED];
    meet_in_cluster();
    if (total > most / 2) return false;  // a half of what it may grow to, so that it does not come and go
    if (threadIdx.x == 0) q.remaining[1] = 0;
    for (i64 h = me; h - WARP_LANE < halves; h += step) {
      u32 some = 0;
      if (h < halves) {
        some = any(h);
        ((u32*)on)[h] = some;
        ((u32*)b.old_bits)[h] = 0;
      }
      for (; __any_sync(ALL_LANES, some != 0); some &= some - 1) put_place(some != 0, (u32)(h * 32 + __ffs(some) - 1), 0);
    }
#if CELLS_BEGIN
    // Of the grid's frontiers all cells that products may have been joined in are known by their lists.
    for (i64 p = me; (dense || old_dense) && p < size; p += step) {
      if (dense && !bit_of(b.bits, p)) b.val[p] = C_T(BEGIN);
      if (old_dense) b.old_val[p] = C_T(BEGIN);
    }
    for (u64 k = me; !dense && k < listed; k += step)
      each_place(list[k], size, [&](i64 p) { if (!bit_of(b.bits, p)) b.val[p] = C_T(BEGIN); });
    for (u64 k = me; !old_dense && k < old_listed; k += step)
      each_place(old_list[k], size, [&](i64 p) { b.old_val[p] = C_T(BEGIN); });
#else
    (void)dense, (void)listed, (void)old_dense, (void)old_listed;
#endif
    meet_in_cluster();
    return true;
  }

  // The items of the step where no pass has made them before it.
  __device__ __forceinline__ void choose(const u64* u_bits) {
    gather(&q.listed[turn], ROOM, &q.spilled[turn]);
    const u32 total = q.before[PEERS] + q.outside;
    for (u32 k = me; k - WARP_LANE < total; k += PEERS * THREADS) {
      const u32 p = k < total ? place(k) : 0;
      put_item(k < total && bit_of(u_bits, p), p, turn);
    }
    meet_in_cluster();
  }

  // Whether lists are short enough for one more round.
  __device__ __forceinline__ bool goes_on() {
    gather(&q.listed[turn], ROOM, &q.spilled[turn]);
    if (threadIdx.x < 32) {
      u32 work = 0, leave = 0, remaining = 0;
      if (WARP_LANE < PEERS) {
        work = *at_peer(&q.work[turn], WARP_LANE);
        leave = *at_peer(&q.leave[parity], WARP_LANE);
        remaining = *at_peer(&q.remaining[parity], WARP_LANE);
      }
#pragma unroll
      for (int d = 16; d; d >>= 1) {
        work += __shfl_xor_sync(ALL_LANES, work, d);
        leave |= __shfl_xor_sync(ALL_LANES, leave, d);
        remaining += __shfl_xor_sync(ALL_LANES, remaining, d);
      }
      if (WARP_LANE == 0) {
        q.all_work = work, q.all_leave = leave, q.all_remaining = remaining;
        q.remaining[parity ^ 1] = q.leave[parity ^ 1] = 0;
      }
    }
    __syncthreads();
    parity ^= 1;
    if (me == 0 && *(volatile i64*)(rounds + 3)) q.leave[parity] = 1;  // all see it at the end of the round
    if (STEP_FIRST) meet_in_cluster();  // the step adds to the list that others may still be counting
    return q.before[PEERS] + q.outside <= most && q.all_work <= most_work && !q.all_leave && first + done < limit;
  }

  // f(is, p) for the places of this block, and for its share of those in global memory, by whole warps.
  template <class F> __device__ __forceinline__ void each_listed(F f) const {
    const u32 count = q.before[rank + 1] - q.before[rank], outside = q.outside;
    for (u32 k = threadIdx.x; k - WARP_LANE < count; k += THREADS) f(k < count, k < count ? q.places[turn][k] : 0u);
    for (u32 k = me; k - WARP_LANE < outside; k += PEERS * THREADS)
      f(k < outside, k < outside ? spill_of(turn)[k] : 0u);
  }

  // Back to the grid: the vector of the step into its first buffer, with its list. remains: what the loop goes on by.
  __device__ __forceinline__ void end(bool counted, u64 remains) {
    each_listed([&](bool is, u32 p) {
      if (is) clear_bit(on, p);
      if (is) drop_old(p);
    });
    if (me < 8) state[me] = old_state[me] = 0;
    meet_in_cluster();
    if (b.bits != home)
      each_listed([&](bool is, u32 p) {
        if (!is || !bit_of(b.bits, p)) return;
        set_bit(home, p);
        if (KIND == VALUES) home_val[p] = b.val[p];
      });
    meet_in_cluster();
    u64 entries = 0, work = 0;
    each_listed([&](bool is, u32 p) {
      const bool has = is && bit_of(home, p);
      bool owner = has;  // the first of its unit lists that
      for (u32 other = p / PER * PER; owner && other < p; ++other) owner = !bit_of(home, other);
      append(owner, p / PER, list, state + LISTED);
      entries += has;
      if (owner) {
        const i64 length = form.work_of(form.item(p / PER));
        work += length;
        if (PER == 1 && length > longest) {
          const i64 parts = (length + longest - 1) / longest;
          const u64 to = atomicAdd(state + SEGMENTS, (u64)parts);
          for (i64 s = 0; s < parts; ++s) segments[2 * (to + s)] = p, segments[2 * (to + s) + 1] = (u32)s;
        }
      }
      if (has && b.bits != home) {
        clear_bit(b.bits, p);
        if (CELLS_BEGIN) b.val[p] = C_T(BEGIN);
      }
    });
    add_of_warp(state + ENTRIES, entries);
    add_of_warp(state + WORK, work);
    if (me == 0) {
      rounds[0] = first + done;
      if (done) rounds[2] = first + done;
      rounds[4] += done;
      if (counted && done) *condition = remains;
    }
  }

  // ---- a round ----

  __device__ __forceinline__ void drop_old(u32 p) {
    if (!bit_of(b.old_bits, p)) return;
    clear_bit(b.old_bits, p);
    if (CELLS_BEGIN) b.old_val[p] = C_T(BEGIN);
  }

  // A pass: at(p, keep, chosen) at every place; `after`: it is the first one after the step; `builds`: it makes the lists
  // anew, of the places where it says `keep`, and of the step's items where it says `chosen`.
  template <bool after, bool builds, class At> __device__ __forceinline__ void visit(At at) {
    gather(&q.listed[turn], ROOM, &q.spilled[turn]);
    const u32 total = q.before[PEERS] + q.outside;
    for (u32 k = me; k - WARP_LANE < total; k += PEERS * THREADS) {
      const bool is = k < total;
      const u32 p = is ? place(k) : 0;
      bool keep = false, chosen = false;
      if (is) {
        if (after) drop_old(p);
        at((i64)p, keep, chosen);
        if (builds && !keep) clear_bit(on, p);
      }
      if (builds) {
        put_item(is && chosen, p, turn ^ 1);
        put_place(is && keep, p, turn ^ 1);
      }
    }
  }

  struct Put {
    Small& small;
    u32& fresh;
    // Those of the places from `base` on (those of `bits`) that were not on the list and are now.
    __device__ __forceinline__ u64 add(i64 base, u64 bits) const {
#if PER == 64
      typedef u64 word;
#else
      typedef u32 word;
#endif
      word* const at = (word*)small.on + base / (8 * sizeof(word));
      const int shift = (int)(base & (8 * sizeof(word) - 1));
      if (!(bits & ~(u64)(*at >> shift))) return 0;
      return bits & ~(u64)(atomicOr(at, (word)bits << shift) >> shift);
    }
    __device__ __forceinline__ void operator()(u64 added, i64 base, u32 found) const {
      fresh += found;
      for (; __any_sync(ALL_LANES, added != 0); added &= added - 1)
        small.put_place(added != 0, (u32)(base + __ffsll(added) - 1), small.turn);
    }
  };

  // The step. entry(i): the statements that go along.
  template <class Entry>
  __device__ __forceinline__ void push(const Along& along, const u64* u_bits, const STORED(U_T)* u_val, bool counts,
                                       Entry entry) {
    if (threadIdx.x == 0) {
      q.long_count = 0;
      q.listed[turn ^ 1] = q.itemed[turn ^ 1] = q.work[turn ^ 1] = 0;
      if (rank == 0) q.spilled[turn ^ 1] = q.items_spilled[turn ^ 1] = 0;
    }
    gather(&q.itemed[turn], ITEM_ROOM, &q.items_spilled[turn]);
    const u32 total = q.before[PEERS] + q.outside;
    const int lane = threadIdx.x & (LANES - 1);
    u32 fresh = 0;
    const Put put = {*this, fresh};
    for (u32 k = rank * GROUPS_OF_BLOCK; k < total; k += PEERS * GROUPS_OF_BLOCK) {
      const u32 mine = k + threadIdx.x / LANES;
      Item x = {};
      if (mine < total) {
        x = item(mine);
        along.entries(x, lane, u_bits, entry);
      }
      const bool is_long = form.work_of(x) > longest;
      u32 at = LONGS;
      if (is_long && lane == 0) at = atomicAdd(&q.long_count, 1u);
      at = __shfl_sync(ALL_LANES, at, WARP_LANE & ~(LANES - 1));
      if (is_long && at < LONGS) {
        q.longs[at] = mine;
        x = Item{};
      }
      along(x, lane, LANES, u_bits, u_val, b.next_bits, b.next_val, put);
    }
    __syncthreads();
    const u32 longs = q.long_count < LONGS ? q.long_count : LONGS;
    for (u32 k = 0; k < longs; ++k) {
      const Item x = item(q.longs[k]);
      along(x, threadIdx.x, THREADS, u_bits, u_val, b.next_bits, b.next_val, put);
    }
    if (counts) remain(fresh);
    meet_in_cluster();
    b.turn();
  }
};
