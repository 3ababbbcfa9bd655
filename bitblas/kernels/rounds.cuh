// Small rounds of a loop: one cluster runs many rounds in one launch while the frontier is small.
// A round of the whole grid would cost a launch and longer chains of loads.
// The frontier is in the blocks' shared memory, together with the start of each unit's row, which is loaded when the
// unit is found. Each block takes a part of the work. Include after the layout's cluster.cuh, which defines the push
// along a unit.
#define QUEUES (VISITED ? 2 : 3)  // the frontier, the next one, and the previous one, whose bits are cleared
#define ROOM ((int)(QUEUE_BYTES / (QUEUES * sizeof(QueueItem))))  // items of a frontier per block

// The fused statements at entry i of the frontier, in round `begin + ahead`.
#define ENTRY_OF_ROUND                                 \
  [&](i64 i, const Buffers& b, i64 begin, i64 ahead) { \
    const i64 rounds[] = {begin};                      \
    (void)rounds, (void)ahead, (void)b;                \
    AT_ENTRY(i)                                        \
  }

#ifndef ENTRY_VALUES
#define ENTRY_VALUES b.val  // where the values of the frontier's entries are; the home of other kernels
#endif
#ifndef KEEPS
#define KEEPS true  // whether a block may keep the items it found
#endif

struct FrontierCount {
  u32 count, work, leave;
  u32 most;  // items of one block
};

struct Queues {
  QueueItem items[QUEUES][ROOM];
  FrontierCount counts[2];       // counts of this block for the frontier and the next one
  Messages<FrontierCount> messages[2];  // the same of all blocks
  FrontierCount all;            // counts of the whole cluster for the frontier
  u32 before[PEERS + 1];  // items of the frontier in earlier blocks
  u32 spilled;  // in block 0: items of the next frontier that were spilled to global memory
};

// Called by the whole block: meet the others, gather the counts of all blocks, and clear the counters of the next
// frontier. meanwhile(items of this block): what to do while the counts are sent.
template <class Meanwhile>
__device__ __forceinline__ void sum_up(Queues& q, int parity, u32 rank, i64 done, Meanwhile meanwhile) {
  if (!VISITED || READS_FRONTIER) meet_in_cluster();
  else __syncthreads();
  q.messages[parity].send(q.counts[parity], rank);
  meanwhile(q.counts[parity].count < ROOM ? q.counts[parity].count : ROOM);
  q.messages[parity].wait((u32)(done >> 1));
  if (threadIdx.x < 32) {
    FrontierCount x = {};
    if (WARP_LANE < PEERS) x = q.messages[parity].of[WARP_LANE];
    u32 sum = x.count < ROOM ? x.count : ROOM;
    x.most = __reduce_max_sync(ALL_LANES, sum);
    sum += group_sum_below<PEERS>(sum);
    x.work = __reduce_add_sync(ALL_LANES, x.work);
    x.leave = __reduce_or_sync(ALL_LANES, x.leave);
    if (WARP_LANE < PEERS) q.before[WARP_LANE + 1] = sum;
    if (WARP_LANE == PEERS - 1) q.all.count = sum;
    if (WARP_LANE == 0) {
      q.before[0] = 0;
      q.all.work = x.work, q.all.leave = x.leave, q.all.most = x.most;
      q.counts[parity ^ 1] = {};
    }
  }
  __syncthreads();
}

// Called by the whole warp: lanes with `add` append their item to the next frontier.
__device__ __forceinline__ void append_item(Queues& q, int parity, QueueItem* next, bool add, const QueueItem& item,
                                            u32* spill, u64* home) {
  const u32 at = next_number(add, &q.counts[parity ^ 1].count);
  if (!add) return;
  if (at < ROOM) {
    next[at] = item;
  } else {
    // Several items may be of one unit, for which there is room only once.
    if (!VISITED || set_bits(home, item)) spill[atomicAdd(at_peer(&q.spilled, 0), 1u)] = item.unit;
    poke(&q.counts[parity ^ 1].leave, 1u);
  }
}

// Iterate over a block's own items and its share of those in global memory.
struct HandedOver {
  const QueueItem* items;
  u32 count, before;
  const u32* spill;
  u32 spilled, inside, me;
  template <class F> __device__ __forceinline__ void each(const Units& form, F f) const {
    for (u32 k = threadIdx.x; k < count; k += THREADS) f(items[k], before + k);
    for (u32 k = me; k < spilled; k += PEERS * THREADS) f(form.item(spill[k]), inside + k);
  }
};

struct RoundLists {
  u32 *list, *spill;
  const u32* old_list;
  u32* segments;
};

// Run all rounds after the first `from`, until the frontier is empty or too large, a row is too long, or the limit is
// reached. Then move the frontier into the first buffer and into `list`, as the grid's kernels expect at the start of
// the body.
template <class Entry>
__device__ __forceinline__ void run_rounds(const Operands& of, Buffers b, const Limits& limits, i64* rounds, u64* state,
                                           u64* old_state, const RoundLists& lists, Entry entry) {
  const Units& form = of.form;
  const i64 size = limits.size, longest = limits.longest, from = limits.from;
  const u64 most_work = limits.most_work;
  u64 most = limits.most;
  const u64 list_length = state[LIST_LENGTH], work = state[WORK], cut = state[SEGMENTS], dense = state[DENSE];
  u64 seen = state[SEEN];
  const i64 first = rounds[0], limit = rounds[1];
  const u64 old_length = old_state[LIST_LENGTH], old_dense = old_state[DENSE];
  if (most > (u64)PEERS * ROOM) most = PEERS * ROOM;
  // Half of its limit, as hysteresis.
  if (!list_length || cut || list_length > most / 2 || work > most_work / 2 || first >= limit || first < from) return;
  __shared__ Queues q;
  const u32 rank = rank_in_cluster();
  u64* const home = b.bits;
  C_T* const home_val = b.val;
  u64* const visited = b.next_bits;  // if VISITED
  if (VISITED) b.val = b.next_val;
  const VisitedBits bits_of_visited = {visited};
  (void)bits_of_visited;
  {
    const u64 share = (list_length + PEERS - 1) / PEERS, begin = rank * share;
    const u64 end = begin + share < list_length ? begin + share : list_length;
    bool leave = false;
    for (u64 k = begin + threadIdx.x; k < end; k += THREADS) {
      QueueItem& x = q.items[0][k - begin];
      static_cast<Item&>(x) = form.item(lists.list[k]);
#if VISITED
#if PER > 1
      x.active = part_now<PER>(home, x.unit);
#endif
      if (KIND == VALUES && b.val != home_val) each_active(x, [&](i64 p) { b.val[p] = home_val[p]; });
#endif
      leave = leave || form.work_of(x) > longest;
    }
    leave = __syncthreads_or(leave);
    if (threadIdx.x == 0) {
      q.counts[0] = {begin < end ? (u32)(end - begin) : 0, 0, leave, 0};
      q.spilled = 0;
      q.messages[0].begin(), q.messages[1].begin();
    }
    if (VISITED) bits_of_visited.load(size, rank);
    const u64 me = (u64)rank * THREADS + threadIdx.x, all = (u64)PEERS * THREADS;
    clear_frontier(old_dense, lists.old_list, (i64)old_length, size, b.old_bits, b.old_val, (i64)me, (i64)all);
    // The frontier is dense: cells without an entry hold arbitrary values.
    for (u64 p = me; CELLS_BEGIN && dense && p < (u64)size; p += all)
      if (!bit_of(b.bits, p)) b.val[p] = C_T(BEGIN);
  }
  meet_in_cluster();

  const int lane = threadIdx.x & (LANES - 1);
  const u32 group = WARP_LANE / LANES;
  // LOADS_AHEAD: the first items of a block are those of its other warps, because the first warp waits for messages.
  const u32 own = (threadIdx.x / 32 + (LOADS_AHEAD ? WARPS - 1 : 0)) % WARPS * GROUPS + group;
  int now = 0, parity = 0;
  u32 count = 0, past = 0;  // items of this block
  i64 done = 0;
#if LOADS_AHEAD
  Ahead next_item;
#endif
  for (;; ++done) {
    sum_up(q, parity, rank, done, [&](u32 mine) {
#if LOADS_AHEAD
      next_item = {};
      if (own < mine) next_item.load(form, q.items[now][own], lane);
      // More loads would take longer than they save.
      if (mine <= (WARPS - 1) * GROUPS) next_item.load_row(form, lane);
#else
      (void)mine;
#endif
    });
    const u32 total = q.all.count;
    past = count;
    count = q.before[rank + 1] - q.before[rank];
    if (!total || total > most || q.all.work > most_work || q.all.leave || first + done >= limit) break;
    seen += done ? q.all.work : work;
    QueueItem* const next = q.items[now == QUEUES - 1 ? 0 : now + 1];
    const QueueItem* const old = q.items[now == 0 ? QUEUES - 1 : now - 1];
    i64 stop = 0;
    if (rank == 0 && threadIdx.x == THREADS - 1) stop = *(volatile i64*)(rounds + 3);
    // First, so that the barrier at the end does not wait for it.
    for (u32 k = threadIdx.x; !VISITED && k < past; k += THREADS) clear_unit(old[k].unit, size, b.old_bits, b.old_val);
    if (VISITED && !done) {  // from now on, all bits of the frontier are in the queues
      for (u32 k = threadIdx.x; k < count; k += THREADS) {
        if (PER > 1) set_bits(visited, q.items[0][k]);
        else bits_of_visited.mark(q.items[0][k].unit);
        each_half(q.items[0][k].unit, [&](i64 h) { poke((u32*)home + h, 0u); });
      }
      meet_in_cluster();
    }
    u32 found = 0;
    const ItemPush push_item = {of, {b.bits, (const STORED(U_T)*)b.val, b.next_bits, b.next_val}};
    // A block keeps what it found, unless sharing would finish sooner.
    const u32 at_once = GROUPS * WARPS;
    const bool keeps =
        KEEPS && (q.all.most + at_once - 1) / at_once <= (total + PEERS * at_once - 1) / (PEERS * at_once);
    const u32 all = keeps ? count : total, stride = (keeps ? 1 : PEERS) * at_once;
    const auto item_of = [&](u32 k) {
      if (keeps) return q.items[now][k];
      u32 owner = 0;
#pragma unroll
      for (int r = 1; r < PEERS; ++r) owner += k >= q.before[r];
      return *at_peer(&q.items[now][k - q.before[owner]], owner);
    };
    u32 mine = keeps ? own : first_of_warp(rank, GROUPS) + group;
#if LOADS_AHEAD
    if (!keeps) next_item = {};
    if (!keeps && mine < all) next_item.load(form, item_of(mine), lane);
#endif
    for (; mine - group < all; mine += stride) {
#if LOADS_AHEAD
      const Ahead ahead = next_item;
      const QueueItem& item = ahead.item;
      next_item = {};
      if (mine + stride < all) next_item.load(form, item_of(mine + stride), lane);
#else
      QueueItem item = {};
      if (mine < all) item = item_of(mine);
#endif
      const auto emit = [&](bool add, const QueueItem& x) {
        append_item(q, parity, next, add, x, lists.spill, home);
        if (!add) return;
        const i64 length = form.work_of(x);
        if (length > longest) poke(&q.counts[parity ^ 1].leave, 1u);
        found += (u32)(length < longest ? length : longest);
      };
      const auto overlap = [&] {
        if (mine < all) push_item.entries(item, lane, [&](i64 i) { entry(i, b, first, done); });
      };
#if LOADS_AHEAD
      push_item(item, lane, LANES, emit, overlap, ahead);
#else
      push_item(item, lane, LANES, emit, overlap);
#endif
    }
    found = __reduce_add_sync(ALL_LANES, found);
    if (WARP_LANE == 0 && found) atomicAdd(&q.counts[parity ^ 1].work, found);
    if (stop) poke(&q.counts[parity ^ 1].leave, 1u);
    if (!VISITED) b.rotate();
    now = now == QUEUES - 1 ? 0 : now + 1;
    parity ^= 1;
  }

  // Hand over to the grid. Spilled items belong to the frontier; block 0 must not exit before they were read.
  const u32 inside = q.all.count, spilled = *at_peer(&q.spilled, 0);
  const u32 me = rank * THREADS + threadIdx.x;
  const QueueItem* const here = q.items[now];
  const QueueItem* const old = q.items[now == 0 ? QUEUES - 1 : now - 1];
  for (u32 k = threadIdx.x; !VISITED && k < past; k += THREADS) clear_unit(old[k].unit, size, b.old_bits, b.old_val);
  for (u32 k = threadIdx.x; VISITED && k < count; k += THREADS) set_bits(home, here[k]);
  if (me < 8) state[me] = old_state[me] = 0;
  meet_in_cluster();
  u64 entries = 0, sum = 0;
  const HandedOver handed = {here, count, q.before[rank], lists.spill, spilled, inside, me};
  handed.each(form, [&](const Item& x, u32 at) {
    // Several items may be of one unit: `old_bits`, which is empty, tells whether it is on the list.
    if (VISITED && PER > 1) {
      if (!mark(b.old_bits, (i64)x.unit * PER)) return;
      at = (u32)atomicAdd(state + LIST_LENGTH, 1ull);
    }
    lists.list[at] = x.unit;
    const i64 length = form.work_of(x);
    sum += length;
    if (PER == 1 && length > longest) {
      const i64 parts = (length + longest - 1) / longest;
      const u64 to = atomicAdd(state + SEGMENTS, (u64)parts);
      for (i64 s = 0; s < parts; ++s) lists.segments[2 * (to + s)] = x.unit, lists.segments[2 * (to + s) + 1] = (u32)s;
    }
    each_place(x.unit, size, [&](i64 p) {
      if (!bit_of(b.bits, p)) return;
      ++entries;
      if (VISITED && done) bits_of_visited.clear(p);
      if (KIND == VALUES && b.val != home_val) home_val[p] = b.val[p];
      if (b.bits != home) set_bit(home, p);
    });
  });
  add_of_warp(state + ENTRIES, entries);
  add_of_warp(state + WORK, sum);
  if (me == 0) {
    if (!VISITED || PER == 1) state[LIST_LENGTH] = inside + spilled;
    state[SEEN] = seen;
    rounds[0] = rounds[2] = first + done;
    rounds[4] += done;
  }
  meet_in_cluster();
  if (VISITED && done) bits_of_visited.store(size, rank);
  if (VISITED && PER > 1) handed.each(form, [&](const Item& x, u32) { clear_unit(x.unit, size, b.old_bits, b.val); });
  if (b.bits != home) handed.each(form, [&](const Item& x, u32) { clear_unit(x.unit, size, b.bits, b.val); });
}

// The kernel of every layout; its cluster.cuh defines units, items and pushes.
extern "C" __global__ void IN_CLUSTER __launch_bounds__(THREADS, 1)
    rounds(i64 n, Limits limits, i64* rounds, u64* state, u64* old_state, Buffers b, RoundLists lists, MaskView mask,
           FORM(), Values a PARAMETERS) {
  await_previous();
  (void)n;
  const Units form = FORM_OF();
  const Operands of = {form, a, U_T(), 1, mask};
#if VISITED
  b.next_bits = VISITED_BITS, b.next_val = ENTRY_VALUES;
#endif
  run_rounds(of, b, limits, rounds, state, old_state, lists, ENTRY_OF_ROUND);
}
