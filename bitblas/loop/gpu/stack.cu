// Stacks of frontiers (loop/stack.py): the nonempty words of the bitmaps of multivectors, saved level by level.
#include "kernels/views.cuh"
#include "kernels/frontier.cuh"

// The words of all frontiers, one after the other; frontier k has those before ends[k], from ends[k - 1] on. numbers: [0]
// frontiers, [1] words, [2] blocks that are done.
struct StackView {
  u32* words;
  u64* bits;
  u64* ends;
  u64* numbers;
  i64 room, levels;
};

#ifdef KERNEL_push_words
#define AT_ONCE 8  // words of a lane, for which a warp reserves room together
extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    push_words(i64 n, Control control, const u64* words, StackView stack, i64* faults, i64 statement) {
  await_previous();
  if (!control.runs()) return;
  for (i64 first = thread_number() / 32 * (32 * AT_ONCE); first < n; first += (i64)gridDim.x * BLOCK * AT_ONCE) {
    u32 before[AT_ONCE], all = 0;
    u64 bits[AT_ONCE];
#pragma unroll
    for (int i = 0; i < AT_ONCE; ++i) {
      const i64 k = first + i * 32 + WARP_LANE;
      bits[i] = k < n ? words[k] : 0;
    }
#pragma unroll
    for (int i = 0; i < AT_ONCE; ++i) {
      const u32 who = __ballot_sync(ALL_LANES, bits[i] != 0);
      before[i] = all + __popc(who & ((1u << WARP_LANE) - 1u)), all += __popc(who);
    }
    u64 at = 0;
    if (WARP_LANE == 0 && all) at = atomicAdd(stack.numbers + 1, (u64)all);
    at = __shfl_sync(ALL_LANES, at, 0);
#pragma unroll
    for (int i = 0; i < AT_ONCE; ++i) {
      if (!bits[i]) continue;
      if ((i64)(at + before[i]) < stack.room)
        stack.words[at + before[i]] = (u32)(first + i * 32 + WARP_LANE), stack.bits[at + before[i]] = bits[i];
      else report_fault(faults, 2 * statement + 1, (i64)at);
    }
  }
  if (!is_last((u32*)(stack.numbers + 2)) || threadIdx.x) return;
  const u64 top = stack.numbers[0] + 1;
  if ((i64)top >= stack.levels) return report_fault(faults, 2 * statement + 1, (i64)top);
  stack.ends[top] = load_fresh(stack.numbers + 1), stack.numbers[0] = top;
}
#endif  // KERNEL_push_words

#ifdef KERNEL_clear_stack
extern "C" __global__ void __launch_bounds__(BLOCK, 4) clear_stack(i64 n, Control control, u64* numbers) {
  await_previous();
  (void)n;
  if (control.runs() && !thread_number()) numbers[0] = numbers[1] = 0;
}
#endif  // KERNEL_clear_stack

#ifdef KERNEL_clear_words
// Remove all entries of a frontier.
extern "C" __global__ void __launch_bounds__(BLOCK, 4) clear_words(i64 n, Control control, u64* bits) {
  await_previous();
  if (!control.runs()) return;
  for (i64 k = thread_number(); k < n; k += (i64)gridDim.x * BLOCK) bits[k] = 0;
}
#endif  // KERNEL_clear_words

#ifdef KERNEL_pop_words
// Take the last frontier into a vector that has no entries. values: its truth values, if `valued`.
extern "C" __global__ void __launch_bounds__(BLOCK, 4)
    pop_words(i64 n, Control control, u64* words, u64* values, i64 valued, StackView stack) {
  await_previous();
  (void)n;
  const u64 top = stack.numbers[0];
  if (!runs_with(control.runs(), top)) return;
  const u64 begin = top ? stack.ends[top - 1] : 0, end = top ? stack.ends[top] : 0;
  for (u64 k = begin + thread_number(); k < end; k += (u64)gridDim.x * BLOCK) {
    const u32 word = stack.words[k];
    const u64 bits = stack.bits[k];
    words[word] = bits;
    if (valued) values[word] = bits;
  }
  if (!is_last((u32*)(stack.numbers + 2)) || threadIdx.x) return;
  stack.numbers[0] = top ? top - 1 : 0, stack.numbers[1] = begin;
}
#endif  // KERNEL_pop_words
