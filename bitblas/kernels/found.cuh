// Collect the entries that an advance along rows finds: append them to the next frontier and add up its work.
// Used by kernels/step_rows.cuh, which lists the required definitions.
struct FrontierView {
  u64* bits;
  C_T* values;
  u32* list;
  u64* state;
  u32* segments;
};
struct Out {
  const FrontierView& t;
  Rows rows;  // rows that the next advance pushes along
  i64 longest;
};

// Position of the set bit that has `number` set bits below it.
__device__ __forceinline__ u32 place_of_bit(u32 bits, u32 number) {
  u32 place = 0;
#pragma unroll
  for (int d = 16; d; d >>= 1) {
    const u32 below = __popc(bits & ((1u << d) - 1));
    if (number < below) continue;
    number -= below, bits >>= d, place += d;
  }
  return place;
}

// Add up the work of pushing along newly found rows (`fresh`), if WEIGHS.
__device__ __forceinline__ void weigh(Stage& stage, const Out& out, bool fresh, i64 j, i64 length, u32& entries, u64& work) {
  entries += fresh;
  if (!WEIGHS || !fresh) return;
  work += length;
  if (length > out.longest) put_segments(stage, (u32)j, (u32)((length + out.longest - 1) / out.longest), out.t.segments, out.t.state);
}

// Called by the whole warp: entries j are new in t for lanes with `fresh`. known: their rows were loaded already.
__device__ __forceinline__ void found(Stage& stage, const Out& out, const bool* fresh, const number_t* j, Item* row, bool known,
                                      u32& entries, u64& work) {
#pragma unroll
  for (int k = 0; k < AT_ONCE; ++k)
    if (WEIGHS && fresh[k] && !known) row[k] = out.rows.item((u32)j[k]);
  put_on<AT_ONCE>(stage, fresh, j, out.t.list, out.t.state + LISTED);
#pragma unroll
  for (int k = 0; k < AT_ONCE; ++k) weigh(stage, out, fresh[k], j[k], out.rows.work_of(row[k]), entries, work);
}
