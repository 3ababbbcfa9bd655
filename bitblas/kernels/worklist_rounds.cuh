// Small rounds of a loop body with element-wise kernels, run by one cluster on a worklist.
// The worklist holds every position at which one of the body's sparse vectors has an entry (`on` marks them).
// Element-wise kernels visit only these positions; all others would not change. The advance pushes along its vector's
// entries, which the kernel before it lists separately. New positions that the advance reaches join the worklist; the
// kernel before it drops those that became empty.
// Include after cluster.cuh and ItemPush, which pushes along one item of the layout.

// ---- Lists of positions, and of items of the advance. Each block holds its part in shared memory; what does not fit is
// spilled to global memory. ----
#define ROOM ((int)(QUEUE_BYTES / 2 / 8))  // positions of a list per block: half of the memory is for two lists
#define ITEM_ROOM ((int)(QUEUE_BYTES / 2 / sizeof(Item)))
#define LONGS 64  // rows that the whole block walks

struct ClusterLists {
  u32 places[2][ROOM];
  Item items[ITEM_ROOM];
  // Lists of this block; of each pair, one is current and one is being built.
  u32 list_length[2], item_count[2], work[2], remaining[2], leave[2];
  u32 spilled[2], items_spilled[2];  // in block 0: counts of what was spilled to global memory
  // The current list: counts before each block's part, and in global memory.
  u32 before[PEERS + 1], outside;
  u32 all_work, all_leave, all_remaining;
  u32 longs[LONGS], long_count;
};

// Lists in global memory: the frontier's, and what does not fit into shared memory. on: marks of all listed positions.
struct GlobalLists {
  u32* list;
  const u32* old_list;
  u32* segments;
  u64* on;
  u32 *spill, *other_spill, *item_spill;
};

struct Worklist {
  ClusterLists& q;
  const Units& form;
  Buffers b;  // of the vector that the advance writes
  const Limits& limits;
  u64* condition;
  i64* rounds;
  u64 *state, *old_state;
  const GlobalLists& w;
  u64* home;
  C_T* home_val;
  u32 rank, me;
  int current, parity;  // current lists; which counter of remaining entries is in use
  i64 first, limit, done;
  u64 seen;

  __device__ __forceinline__ void start() {
    home = b.bits, home_val = b.val;
    rank = rank_in_cluster(), me = rank * THREADS + threadIdx.x;
    current = parity = 0;
    first = rounds[0], limit = rounds[1], done = 0, seen = state[SEEN];
  }

  // ---- lists ----

  __device__ __forceinline__ u32* spill_of(int list) const { return list ? w.other_spill : w.spill; }

  // Called by the whole block before it reads a list.
  __device__ __forceinline__ void gather(u32* counts, u32 room, u32* spilled) {
    if (threadIdx.x < 32) scan(counts, room, spilled);
    __syncthreads();
  }
  __device__ __forceinline__ void scan(u32* counts, u32 room, u32* spilled) {  // the first warp
    u32 sum = 0, outside = 0;
    if (WARP_LANE < PEERS) sum = *at_peer(counts, WARP_LANE);
    if (WARP_LANE == 0) outside = *at_peer(spilled, 0);
    if (sum > room) sum = room;
    sum += group_sum_below<PEERS>(sum);
    if (WARP_LANE < PEERS) q.before[WARP_LANE + 1] = sum;
    if (WARP_LANE == 0) q.before[0] = 0, q.outside = outside;
  }
  __device__ __forceinline__ u32 owner_of(u32 k) const {
    u32 owner = 0;
#pragma unroll
    for (int r = 1; r < PEERS; ++r) owner += k >= q.before[r];
    return owner;
  }
  __device__ __forceinline__ u32 place(u32 k) const {
    if (k >= q.before[PEERS]) return spill_of(current)[k - q.before[PEERS]];
    const u32 owner = owner_of(k);
    return *at_peer(&q.places[current][k - q.before[owner]], owner);
  }
  __device__ __forceinline__ Item item(u32 k) const {
    if (k >= q.before[PEERS]) return form.item_at(w.item_spill[k - q.before[PEERS]]);
    const u32 owner = owner_of(k);
    return *at_peer(&q.items[k - q.before[owner]], owner);
  }

  // Called by whole warps: lanes with `add` append to a list.
  __device__ __forceinline__ void append_position(bool add, u32 p, int to) {
    const u32 at = next_number(add, &q.list_length[to]);
    if (!add) return;
    if (at < ROOM) q.places[to][at] = p;
    else spill_of(to)[atomicAdd(at_peer(&q.spilled[to], 0), 1u)] = p, poke(&q.leave[parity], 1u);
  }
  __device__ __forceinline__ void append_item(bool add, const Item& x, u32 p, int to) {
    const u32 at = next_number(add, &q.item_count[to]);
    if (add && at < ITEM_ROOM) q.items[at] = x;
    else if (add) w.item_spill[atomicAdd(at_peer(&q.items_spilled[to], 0), 1u)] = p, poke(&q.leave[parity], 1u);
    const i64 work = add ? form.work_of(x) : 0;
    add_work(&q.work[to], work < limits.longest ? (u32)work : (u32)limits.longest);
  }
  __device__ __forceinline__ void add_work(u32* to, u32 x) {
    x = __reduce_add_sync(ALL_LANES, x);
    if (WARP_LANE == 0 && x) atomicAdd(to, x);
  }
  __device__ __forceinline__ void add_remaining(u32 entries) { add_work(&q.remaining[parity], entries); }
};

// ---- Reductions over a cluster, for monoids whose result does not depend on the order: each block reduces its part, then
// the parts are combined. ----

template <class T> struct Parts {
  T of_warp[WARPS], sum, total;
  u32 in_warp[WARPS], some, any;
};
// Store the block's part. Called by the whole block.
template <class T, class Add> __device__ __forceinline__ void store_part(Parts<T>& parts, bool some, T sum, Add add) {
  join_warp(some, sum, add);
  if (WARP_LANE == 0) parts.of_warp[threadIdx.x / 32] = sum, parts.in_warp[threadIdx.x / 32] = some;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  some = WARP_LANE < WARPS && parts.in_warp[WARP_LANE < WARPS ? WARP_LANE : 0];
  if (some) sum = parts.of_warp[WARP_LANE];
  join_warp(some, sum, add);
  if (WARP_LANE == 0) parts.sum = sum, parts.some = some;
}
// Combine the parts, after a cluster barrier. Called by the whole block.
template <class T, class Add> __device__ __forceinline__ void join_parts(Parts<T>& parts, bool& some, T& sum, Add add) {
  if (threadIdx.x < 32) {
    some = false;
    if (WARP_LANE < PEERS) {
      const Parts<T>* const there = at_peer(&parts, WARP_LANE);
      sum = there->sum, some = there->some;
    }
    join_warp(some, sum, add);
    if (WARP_LANE == 0) parts.total = sum, parts.any = some;
  }
  __syncthreads();
  some = parts.any, sum = parts.total;
}

// ---- Rounds. ----

struct WorklistRounds : Worklist {
  // ---- begin, end, and between rounds ----

  // any(h): half word h of the positions where any sparse vector has an entry. Returns false if the cluster does not
  // take over.
  template <class Any> __device__ __forceinline__ bool begin(Any any) {
    if (*condition == 0 || first >= limit || first < limits.from) return false;
    if (threadIdx.x == 0) {
      for (int k = 0; k < 2; ++k)
        q.list_length[k] = q.item_count[k] = q.work[k] = q.remaining[k] = q.leave[k] = q.spilled[k] =
            q.items_spilled[k] = 0;
      q.all_leave = q.all_work = q.all_remaining = q.long_count = 0;
    }
    __syncthreads();
    const i64 halves = (limits.size + 31) / 32, step = PEERS * THREADS;
    u32 count = 0;
    for (i64 h = me; h < halves; h += step) count += __popc(any(h));
    add_work(&q.remaining[1], count);
    meet_in_cluster();
    u32 total = 0;
    for (int r = 0; r < PEERS; ++r) total += *at_peer(&q.remaining[1], r);
    const u64 dense = state[DENSE], list_length = state[LIST_LENGTH], old_dense = old_state[DENSE],
              old_length = old_state[LIST_LENGTH];
    meet_in_cluster();
    if (total > limits.most / 2) return false;  // half of its limit, as hysteresis
    if (threadIdx.x == 0) q.remaining[1] = 0;
    for (i64 h = me; h - WARP_LANE < halves; h += step) {
      u32 some = 0;
      if (h < halves) {
        some = any(h);
        ((u32*)w.on)[h] = some;
        ((u32*)b.old_bits)[h] = 0;
      }
      for (; __any_sync(ALL_LANES, some != 0); some &= some - 1)
        append_position(some != 0, (u32)(h * 32 + __ffs(some) - 1), 0);
    }
#if CELLS_BEGIN
    // In frontiers of the grid, their lists contain all cells that products may have been combined in.
    for (i64 p = me; (dense || old_dense) && p < limits.size; p += step) {
      if (dense && !bit_of(b.bits, p)) b.val[p] = C_T(BEGIN);
      if (old_dense) b.old_val[p] = C_T(BEGIN);
    }
    for (u64 k = me; !dense && k < list_length; k += step)
      each_place(w.list[k], limits.size, [&](i64 p) {
        if (!bit_of(b.bits, p)) b.val[p] = C_T(BEGIN);
      });
    for (u64 k = me; !old_dense && k < old_length; k += step)
      each_place(w.old_list[k], limits.size, [&](i64 p) { b.old_val[p] = C_T(BEGIN); });
#else
    (void)dense, (void)list_length, (void)old_dense, (void)old_length;
#endif
    meet_in_cluster();
    return true;
  }

  // Collect the items of the advance if no element-wise kernel before it did.
  __device__ __forceinline__ void collect_items(const u64* u_bits) {
    gather(&q.list_length[current], ROOM, &q.spilled[current]);
    const u32 total = q.before[PEERS] + q.outside;
    for (u32 k = me; k - WARP_LANE < total; k += PEERS * THREADS) {
      const u32 p = k < total ? place(k) : 0;
      const bool add = k < total && bit_of(u_bits, p);
      Item x = {};
      if (add) x = form.item_at(p);
      append_item(add, x, p, current);
    }
    meet_in_cluster();
  }

  // Whether the lists are short enough for another round.
  __device__ __forceinline__ bool may_continue() {
    if (threadIdx.x < 32) {
      u32 work = 0, leave = 0, remaining = 0;
      if (WARP_LANE < PEERS) {
        work = *at_peer(&q.work[current], WARP_LANE);
        leave = *at_peer(&q.leave[parity], WARP_LANE);
        remaining = *at_peer(&q.remaining[parity], WARP_LANE);
      }
      scan(&q.list_length[current], ROOM, &q.spilled[current]);
      work = __reduce_add_sync(ALL_LANES, work);
      leave = __reduce_or_sync(ALL_LANES, leave);
      remaining = __reduce_add_sync(ALL_LANES, remaining);
      if (WARP_LANE == 0) {
        q.all_work = work, q.all_leave = leave, q.all_remaining = remaining;
        q.remaining[parity ^ 1] = q.leave[parity ^ 1] = 0;
      }
    }
    __syncthreads();
    parity ^= 1;
    if (me == 0 && *(volatile i64*)(rounds + 3)) poke(&q.leave[parity], 1u);  // all see it at the end of the round
    const bool goes = q.before[PEERS] + q.outside <= limits.most && q.all_work <= limits.most_work && !q.all_leave &&
        first + done < limit;
    if (goes) seen += q.all_work;
    // The advance appends to the list that other blocks may still be counting, and its item counts replace those of
    // this list.
    if (ADVANCE_FIRST) meet_in_cluster();
    return goes;
  }

  // f(is, p) for the positions of this block and its share of those in global memory, by whole warps.
  template <class F> __device__ __forceinline__ void each_position(F f) const {
    const u32 count = q.before[rank + 1] - q.before[rank], outside = q.outside;
    for (u32 k = threadIdx.x; k - WARP_LANE < count; k += THREADS) f(k < count, k < count ? q.places[current][k] : 0u);
    for (u32 k = me; k - WARP_LANE < outside; k += PEERS * THREADS)
      f(k < outside, k < outside ? spill_of(current)[k] : 0u);
  }

  // Hand over to the grid: move the advance's vector into its first buffer, with its list. remains: the count that
  // decides whether the loop continues.
  __device__ __forceinline__ void end(bool counted, u64 remains) {
    each_position([&](bool is, u32 p) {
      if (is) clear_bit(w.on, p);
      if (is && was_old(p)) drop_old(p);
    });
    if (me < 8) state[me] = old_state[me] = 0;
    meet_in_cluster();
    if (b.bits != home)
      each_position([&](bool is, u32 p) {
        if (!is || !bit_of(b.bits, p)) return;
        set_bit(home, p);
        if (KIND == VALUES) home_val[p] = b.val[p];
      });
    meet_in_cluster();
    u64 entries = 0, work = 0;
    each_position([&](bool is, u32 p) {
      const bool has = is && bit_of(home, p);
      bool owner = has;  // the first position of a unit lists it
      for (u32 other = p / PER * PER; owner && other < p; ++other) owner = !bit_of(home, other);
      append(owner, p / PER, w.list, state + LIST_LENGTH);
      entries += has;
      if (owner) {
        const i64 length = form.work_of(form.item(p / PER));
        work += length;
        if (PER == 1 && length > limits.longest) {
          const i64 parts = (length + limits.longest - 1) / limits.longest;
          const u64 to = atomicAdd(state + SEGMENTS, (u64)parts);
          for (i64 s = 0; s < parts; ++s) w.segments[2 * (to + s)] = p, w.segments[2 * (to + s) + 1] = (u32)s;
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
      state[SEEN] = seen;
      rounds[0] = first + done;
      if (done) rounds[2] = first + done;
      rounds[4] += done;
      if (counted && done) *condition = remains;
    }
  }

  // ---- a round ----

  __device__ __forceinline__ bool was_old(u32 p) const { return bit_now(b.old_bits, p); }
  __device__ __forceinline__ void drop_old(u32 p) {
    clear_bit(b.old_bits, p);
    if (CELLS_BEGIN) b.old_val[p] = C_T(BEGIN);
  }

  // An element-wise kernel: at(p, keep, chosen) at every position. `begins`: goes_on has just gathered the positions.
  // `after`: it is the first one after the advance. `builds`: it rebuilds the lists, of the positions for which it sets
  // `keep`, and of the advance's items for which it sets `chosen`.
  template <bool begins, bool after, bool builds, class At> __device__ __forceinline__ void visit(At at) {
    if (!begins) gather(&q.list_length[current], ROOM, &q.spilled[current]);
    const u32 total = q.before[PEERS] + q.outside;
    for (u32 k = first_of_warp(rank, 32) + WARP_LANE; k - WARP_LANE < total; k += PEERS * THREADS) {
      const bool is = k < total;
      const u32 p = is ? place(k) : 0;
      bool keep = false, chosen = false;
      Item x = {};
      if (is) {
        // Loaded before anything is used: each load costs a trip to the L2 cache.
        const bool old = after && was_old(p);
        if (builds) x = form.item_at(p), form.issue_loads(x);
        at((i64)p, keep, chosen);
        if (after && old) drop_old(p);
        if (builds && !keep) clear_bit(w.on, p);
      }
      if (builds) {
        append_item(is && chosen, x, p, current ^ 1);
        append_position(is && keep, p, current ^ 1);
      }
    }
  }

  struct Emit {
    WorklistRounds& small;
    u32& fresh;
    // Those of the positions from `base` on (selected by `bits`) that were not on the list before and are now.
    __device__ __forceinline__ u64 add(i64 base, u64 bits) const {
#if PER == 64
      typedef u64 word;
#else
      typedef u32 word;
#endif
      word* const at = (word*)small.w.on + base / (8 * sizeof(word));
      const int shift = (int)(base & (8 * sizeof(word) - 1));
      if (PER > 1 && !(bits & ~(u64)(peek(at) >> shift))) return 0;  // an entry of a row gets here only once
      return bits & ~(u64)(atomicOr(at, (word)bits << shift) >> shift);
    }
    __device__ __forceinline__ void operator()(u64 added, i64 base, u32 found) const {
      fresh += found;
      for (; __any_sync(ALL_LANES, added != 0); added &= added - 1)
        small.append_position(added != 0, (u32)(base + __ffsll(added) - 1), small.current);
    }
  };

  // The advance. entry(i): the fused statements.
  template <class Entry>
  __device__ __forceinline__ void push(const Operands& of, const u64* u_bits, const STORED(U_T)* u_val, bool counts,
                                       Entry entry) {
    if (threadIdx.x == 0) {
      q.long_count = 0;
      q.list_length[current ^ 1] = q.item_count[current ^ 1] = q.work[current ^ 1] = 0;
      if (rank == 0) q.spilled[current ^ 1] = q.items_spilled[current ^ 1] = 0;
    }
    gather(&q.item_count[current], ITEM_ROOM, &q.items_spilled[current]);
    const u32 total = q.before[PEERS] + q.outside;
    const int lane = threadIdx.x & (LANES - 1);
    u32 fresh = 0;
    const Emit emit = {*this, fresh};
    const ItemPush push_item = {of, {u_bits, u_val, b.next_bits, b.next_val}};
    for (u32 k = first_of_warp(rank, GROUPS); k < total; k += PEERS * GROUPS * WARPS) {
      const u32 mine = k + WARP_LANE / LANES;
      Item x = {};
      if (mine < total) x = item(mine);
      const Item whole = x;
      const bool is_long = form.work_of(x) > limits.longest;
      u32 at = LONGS;
      if (is_long && lane == 0) at = atomicAdd(&q.long_count, 1u);
      at = __shfl_sync(ALL_LANES, at, WARP_LANE & ~(LANES - 1));
      if (is_long && at < LONGS) {
        q.longs[at] = mine;
        x = Item{};
      }
      push_item(x, lane, LANES, emit, [&] {
        if (mine < total) push_item.entries(whole, lane, entry);
      });
    }
    __syncthreads();
    const u32 longs = q.long_count < LONGS ? q.long_count : LONGS;
    for (u32 k = 0; k < longs; ++k) {
      const Item x = item(q.longs[k]);
      push_item(x, threadIdx.x, THREADS, emit, [] {});
    }
    if (counts) add_remaining(fresh);
    meet_in_cluster();
    b.rotate();
  }
};

// The kernel of every layout; its cluster.cuh defines units, items and pushes.
extern "C" __global__ void IN_CLUSTER __launch_bounds__(THREADS, 1)
    worklist_rounds(i64 n, Limits limits, u64* condition, i64* rounds, u64* state, u64* old_state, Buffers b,
                    VectorView<U_T> u, GlobalLists lists, MaskView mask, FORM(), Values a PARAMETERS) {
  await_previous();
  (void)n;
  __shared__ ClusterLists queues;
  const Units form = FORM_OF();
  const Operands of = {form, a, u.iso, u.stride, mask};
  WorklistRounds small = {queues, form, b, limits, condition, rounds, state, old_state, lists};
  small.start();
  if (!small.begin([&](i64 h) { return ANY_SPARSE(h); })) return;
  SCALARS
  if (ADVANCE_FIRST) small.collect_items(U_BITS);
  while (small.may_continue()) {
    if (small.done && !(REMAINS)) break;
    const i64 round = small.first + small.done;
    (void)round;
    KERNELS_BEFORE
    small.push(of, U_BITS, U_VAL, COUNTS_ADVANCE, [&](i64 i) { AT_ENTRY(i) });
    KERNELS_AFTER
    ++small.done;
  }
  small.end(!COUNTS_ADVANCE, (u64)(REMAINS));
  STORE_SCALARS
}
