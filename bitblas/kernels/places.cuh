// Worklists of a cluster for small rounds (listed.cuh): positions, and items of the advance.
// Each block holds its part in shared memory; what does not fit is spilled to global memory.
#include "kernels/small.cuh"
#define ROOM ((int)(QUEUE_BYTES / 2 / 8))  // positions of a list per block: half of the memory is for two lists
#define ITEM_ROOM ((int)(QUEUE_BYTES / 2 / sizeof(Item)))
#define LONGS 64  // rows that the whole block walks

struct Lists {
  u32 places[2][ROOM];
  Item items[ITEM_ROOM];
  // Lists of this block; of each pair, one is current and one is being built.
  u32 listed[2], itemed[2], work[2], remaining[2], leave[2];
  u32 spilled[2], items_spilled[2];  // in block 0: counts of what was spilled to global memory
  // The current list: counts before each block's part, and in global memory.
  u32 before[PEERS + 1], outside;
  u32 all_work, all_leave, all_remaining;
  u32 longs[LONGS], long_count;
};

// Lists in global memory: the frontier's, and what does not fit into shared memory. on: marks of all listed positions.
struct Worklists {
  u32* list;
  const u32* old_list;
  u32* segments;
  u64* on;
  u32 *spill, *other_spill, *item_spill;
};

struct Places {
  Lists& q;
  const Units& form;
  Buffers b;  // of the vector that the advance writes
  const Limits& limits;
  u64* condition;
  i64* rounds;
  u64 *state, *old_state;
  const Worklists& w;
  u64* home;
  C_T* home_val;
  u32 rank, me;
  int turn, parity;  // current lists; which counter of remaining entries is in use
  i64 first, limit, done;

  __device__ __forceinline__ void start() {
    home = b.bits, home_val = b.val;
    rank = rank_in_cluster(), me = rank * THREADS + threadIdx.x;
    turn = parity = 0;
    first = rounds[0], limit = rounds[1], done = 0;
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
#pragma unroll
    for (int d = 1; d < PEERS; d <<= 1) {
      const u32 below = __shfl_up_sync(ALL_LANES, sum, d);
      if (WARP_LANE >= d) sum += below;
    }
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
    if (k >= q.before[PEERS]) return spill_of(turn)[k - q.before[PEERS]];
    const u32 owner = owner_of(k);
    return *at_peer(&q.places[turn][k - q.before[owner]], owner);
  }
  __device__ __forceinline__ Item item(u32 k) const {
    if (k >= q.before[PEERS]) return form.item_at(w.item_spill[k - q.before[PEERS]]);
    const u32 owner = owner_of(k);
    return *at_peer(&q.items[k - q.before[owner]], owner);
  }

  // Called by whole warps: lanes with `add` append to a list. Returns the position on the block's list.
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
    else spill_of(to)[atomicAdd(at_peer(&q.spilled[to], 0), 1u)] = p, poke(&q.leave[parity], 1u);
  }
  __device__ __forceinline__ void put_item(bool add, const Item& x, u32 p, int to) {
    const u32 at = number(add, &q.itemed[to]);
    if (add && at < ITEM_ROOM) q.items[at] = x;
    else if (add) w.item_spill[atomicAdd(at_peer(&q.items_spilled[to], 0), 1u)] = p, poke(&q.leave[parity], 1u);
    const i64 work = add ? form.work_of(x) : 0;
    add_work(&q.work[to], work < limits.longest ? (u32)work : (u32)limits.longest);
  }
  __device__ __forceinline__ void add_work(u32* to, u32 x) {
    x = __reduce_add_sync(ALL_LANES, x);
    if (WARP_LANE == 0 && x) atomicAdd(to, x);
  }
  __device__ __forceinline__ void remain(u32 entries) { add_work(&q.remaining[parity], entries); }
};
