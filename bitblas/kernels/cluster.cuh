// Small rounds inside one cluster (rounds.cuh, worklist_rounds.cuh): limits, buffers, and the operands of a push along items.
// Include after the layout's header, which defines Units and Item. The including header then defines struct Along,
// which pushes along one item.
#ifndef TILE
typedef Rows Units;
#endif
#include "kernels/advance.cuh"
#define GROUPS (32 / LANES)
#define WARPS (THREADS / 32)

// VISITED: the mask is the complement of a vector to which AT_ENTRY adds every entry of u, and t is u. Then a push marks
// what it finds in the bits of that vector, a round early, and u needs neither bits nor more than one buffer: its
// entries are in the queues, each once. SHARED_BYTES: these bits are in the blocks' shared memory while the cluster
// runs.
#if VISITED && PER > 1
struct QueueItem : Item {
  UInt<PER == 64 ? 64 : 32>::type active;  // the entries of the unit that one lane found
};
#else
struct QueueItem : Item {
  static constexpr u32 active = 1;
};
#endif
// The bits of the visited vector. In the blocks' shared memory (SHARED_BYTES), an atomic operation takes less time than
// a test and an atomic operation in the L2 cache. Adjacent half words are in different blocks: they are often marked at
// the same time.
struct VisitedBits {
  u64* bits;

#if SHARED_BYTES
  __device__ __forceinline__ static u32* here() {
    extern __shared__ __align__(16) u32 shared_bits[];
    return shared_bits;
  }
  // The half word of a position, in the shared memory of block `rank`.
  __device__ __forceinline__ static u32* word(i64 p, u32& rank) {
    const u32 h = (u32)(p >> 5), k = h / PEERS;
    rank = (h + k + k / PEERS) % PEERS;
    return here() + k;
  }
  // Returns whether position p was not marked.
  __device__ __forceinline__ bool mark(i64 p) const {
    u32 rank;
    u32* const at = word(p, rank);
    return !(or_at_peer(at, rank, 1u << (p & 31)) >> (p & 31) & 1u);
  }
  __device__ __forceinline__ void clear(i64 p) const {
    u32 rank;
    u32* const at = word(p, rank);
    atomicAnd(at_peer(at, rank), ~(1u << (p & 31)));
  }
  // f(the half word in shared memory, in global memory) for those of block `rank`, this one.
  template <class F> __device__ __forceinline__ void each_here(i64 size, u32 rank, F f) const {
    const u32 halves = (u32)((size + 31) / 32);
    for (u32 k = threadIdx.x; k * PEERS < halves; k += THREADS) {
      const u32 h = k * PEERS + (rank - k - k / PEERS) % PEERS;
      if (h < halves) f(here()[k], ((u32*)bits)[h]);
    }
  }
  // The cluster takes the bits over, and hands them back.
  __device__ __forceinline__ void load(i64 size, u32 rank) const {
    each_here(size, rank, [](u32& x, u32& all) { x = all; });
  }
  __device__ __forceinline__ void store(i64 size, u32 rank) const {
    each_here(size, rank, [](u32& x, u32& all) { all = x; });
  }
#else
  __device__ __forceinline__ bool mark(i64 p) const { return !bit_now(bits, p) && ::mark(bits, p); }
  __device__ __forceinline__ void clear(i64 p) const { clear_bit(bits, p); }
  __device__ __forceinline__ void load(i64, u32) const {}
  __device__ __forceinline__ void store(i64, u32) const {}
#endif
};

// Set the bits of an item; returns whether its unit had none.
__device__ __forceinline__ bool set_bits(u64* bits, const QueueItem& x) {
#if VISITED && PER > 1
  return or_tile(bits, x.unit, x.active) == 0;
#else
  return mark(bits, x.unit);
#endif
}
// entry(i) for the entries of an item.
template <class Entry> __device__ __forceinline__ void each_active(const QueueItem& x, Entry entry) {
  for (u64 rest = x.active; rest; rest &= rest - 1) entry((i64)x.unit * PER + __ffsll(rest) - 1);
}

// First item of a warp that takes `share` items at a time; its next ones follow at the stride of all warps. Blocks take
// turns, so that even little work is spread over all of them.
__device__ __forceinline__ u32 first_of_warp(u32 rank, u32 share) { return (threadIdx.x / 32 * PEERS + rank) * share; }

// Numbers that each block of a cluster sends to all of them, with the arrival of all as a barrier. It is faster than
// `meet_in_cluster`, because a block waits for one message of each other block and not for its own writes to global
// memory, which other blocks may not see yet: only shared memory and results of atomics are up to date. Two are used in
// turn.
template <class T> struct Messages {
  alignas(16) T of[PEERS];
  u64 arrived;

  __device__ __forceinline__ void begin() {  // one thread, before a barrier of the cluster
#if PEERS > 1 && !defined(__CUDA_EMU__)
    const u32 at = (u32)__cvta_generic_to_shared(&arrived);
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\nfence.mbarrier_init.release.cluster;" ::"r"(at) : "memory");
#endif
  }
  // Called by the block, which has met.
  __device__ __forceinline__ void send(const T& x, u32 rank) {
#if PEERS > 1 && !defined(__CUDA_EMU__)
    static_assert(sizeof(T) == 16, "a message is one store");
    if (threadIdx.x >= 32) return;
    const u32 here = (u32)__cvta_generic_to_shared(&arrived);
    if (WARP_LANE == 0)
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(here), "r"(16 * PEERS) : "memory");
    if (WARP_LANE < PEERS) {
      const u32* const words = (const u32*)&x;
      u32 to, gate;
      asm("mapa.shared::cluster.u32 %0, %1, %2;"
          : "=r"(to)
          : "r"((u32)__cvta_generic_to_shared(of + rank)), "r"(WARP_LANE));
      asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(gate) : "r"(here), "r"(WARP_LANE));
      asm volatile(
          "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.u32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(to),
          "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3]), "r"(gate)
          : "memory");
    }
#else
    if (threadIdx.x < PEERS) *at_peer(of + rank, threadIdx.x) = x;
#endif
  }
  // The first warp of the block returns when all messages of this exchange, the turn-th of this object, are there.
  __device__ __forceinline__ void wait(u32 turn) {
#if PEERS > 1 && !defined(__CUDA_EMU__)
    if (threadIdx.x >= 32) return;
    const u32 here = (u32)__cvta_generic_to_shared(&arrived);
    u32 there = 0;
    while (!there)
      asm volatile(
          "{\n.reg .pred p;\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\n"
          "selp.u32 %0, 1, 0, p;\n}"
          : "=r"(there)
          : "r"(here), "r"(turn & 1)
          : "memory");
#else
    (void)turn;
    meet_in_cluster();
#endif
  }
};

// Limits for staying in the cluster: positions of a vector, the longest row, rounds that the grid runs before, and the
// most units and entries of a frontier.
struct Limits {
  i64 size, longest, from;
  u64 most, most_work;
};

// The three buffers of the frontier's vector: one is read, one written, one cleared.
struct Buffers {
  u64 *bits, *next_bits, *old_bits;
  C_T *val, *next_val, *old_val;
  __device__ __forceinline__ void rotate() {
    u64* const b = old_bits;
    old_bits = bits, bits = next_bits, next_bits = b;
    C_T* const v = old_val;
    old_val = val, val = next_val, next_val = v;
  }
};

// Input and output of a push; they swap from round to round.
struct PushVectors {
  const u64* u_bits;
  const STORED(U_T)* u_val;
  u64* t_bits;
  C_T* t_val;
};

// The other operands of a push.
struct Operands {
  Units form;
  Values values;
  U_T u_iso;
  i64 u_stride;
  MaskView mask;
};

// An item, and what a lane loads of it before the push.
#if VISITED && READS_AHEAD
#define LOADS_AHEAD 1
struct Ahead {
  QueueItem item;
  COL_T column;  // of the lane's first entry
  Item row;  // of that number, if has_row
  bool has_row;

  __device__ __forceinline__ void load(const Units& form, const QueueItem& x, int lane) {
    item = x;
    column = form.first_column(x, lane);
    issue_load(column);
  }
  __device__ __forceinline__ void load_row(const Units& form, int lane) {
    has_row = true;
    if (lane < form.work_of(item)) row = form.item((u32)column), form.issue_loads(row);
  }
};
#else
#define LOADS_AHEAD 0
struct Ahead {};
#endif

#ifndef TILE
// Push along matrix rows. All lanes of a warp call it; `stride` lanes share a row. overlap(): work to do while the first loads are in flight.
struct ItemPush : Operands, PushVectors {
  template <class Emit, class Overlap>
  __device__ __forceinline__ void operator()(const Item& x, int lane, int stride, Emit emit, Overlap overlap,
                                             const Ahead& ahead = {}) const {
    if (!IN_FLIGHT) overlap();
    bool waiting = IN_FLIGHT;  // the same in all lanes
    (void)ahead;
    const auto reached = [&](bool has, i64 j, i64 e) {
      bool fresh = false;
#if PLACES
      u64 added = 0;
      // Loads that do not depend on j are issued together with it.
      Z_T z = Z_T(BEGIN);
      if (KIND != WORDS && has) z = mul(values.at(e), load<U_T>(u_val, u_iso, u_stride, x.unit), j, x.unit);
      if (waiting) overlap();
      if (has && is_open(mask, u_bits, j))
        fresh = reach(t_bits, t_val, j, z, [&] {
          added = emit.add(j, 1);
          return mark(t_bits, j);
        });
      emit(added, j, fresh);
#elif VISITED
      QueueItem found = {};
      if (has) {
#if LOADS_AHEAD
        if (waiting && ahead.has_row) static_cast<Item&>(found) = ahead.row;
        else
#endif
          static_cast<Item&>(found) = form.item((u32)j);
        form.issue_loads(found);
        fresh = VisitedBits{t_bits}.mark(j);
      }
      if (waiting) overlap();
      if (fresh) {
#if KIND == VALUES
        t_val[j] = C_T(mul(values.at(e), load<U_T>(u_val, u_iso, u_stride, x.unit), j, x.unit));
#endif
        form.prefetch_row(found);
      }
      emit(fresh, found);
#else
      QueueItem found = {};
      u32 there = 0;
      bool allowed = false;
      if (has) {
        static_cast<Item&>(found) = form.item((u32)j);
        there = peek((const u32*)t_bits + (j >> 5));
        allowed = is_open(mask, u_bits, j);
        form.issue_loads(found), issue_load(there), issue_load(allowed);
      }
      if (waiting) overlap();
      if (allowed)
        fresh = (CELLS_BEGIN || !(there >> (j & 31) & 1)) &&
            reach_missing(t_bits, t_val, j, e, x.unit, values, u_val, u_iso, u_stride);
      emit(fresh, found);
#endif
      waiting = false;
    };
#if LOADS_AHEAD
    form.visit_row(x, lane, stride, reached, ahead.column);
#else
    form.visit_row(x, lane, stride, reached);
#endif
    if (waiting) overlap();
  }
  // entry(i) for the entries of u in an item, each by one of the lanes.
  template <class Entry>
  __device__ __forceinline__ void entries(const Item& x, int lane, Entry entry) const {
    if (lane == 0) entry((i64)x.unit);
  }
};
#endif
