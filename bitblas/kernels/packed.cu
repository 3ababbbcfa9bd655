// Pack and unpack integers of a fixed number of bits (layout: packed.cuh).
#include "kernels/packed.cuh"

#ifdef KERNEL_narrow
// Bit packing: store numbers in `width` bits each. Each thread builds one 32-bit word from the numbers that overlap it.
// The packed number is `numbers[k]` - `base`. GATHER: `numbers` are positions in another packed string of the same
// width.
extern "C" __global__ void __launch_bounds__(BLOCK, 4)
narrow(i64 n, i64 size, i64 width, const NUMBER_T* numbers, ARGUMENT(NUMBER_T) base, const u32* source, u32* string) {
  const i64 word = thread_number();
  if (word >= n) return;
  const i64 begin = word * 32, end = begin + 32;
  u32 bits = 0;
  for (i64 k = begin / width; k < size && k * width < end; ++k) {
    const u32 number = GATHER ? packed_at(source, (i64)numbers[k], (u32)width) : above(numbers[k], base);
    const i64 shift = k * width - begin;
    bits |= shift >= 0 ? number << shift : number >> -shift;
  }
  string[word] = bits;
}
#endif  // KERNEL_narrow

#ifdef KERNEL_widen
// Unpack packed integers, or values stored as offsets from a base, into an array. PLACES: only those at `places`.
extern "C" __global__ void __launch_bounds__(BLOCK, 4)
widen(i64 n, i64 width, const u32* string, const i64* places, ARGUMENT(NUMBER_T) base, NUMBER_T* numbers) {
  const i64 k = thread_number();
  if (k < n) numbers[k] = based(base, packed_at(string, PLACES ? places[k] : k, (u32)width));
}
#endif  // KERNEL_widen
