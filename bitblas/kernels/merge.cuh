// Mask rule for one position p of w<mask, replace> = t (GraphBLAS C API 2.1, section 2.3.4).
// All lanes of a warp call it, for the 32 positions of half a word.
// FRESH: w was empty and is not read. W_ISO: w keeps its one value, only bits are written.
__device__ __forceinline__ void merge_position(bool inside, bool open, bool has_t, T_T t, i64 p, bool write,
                                               bool replace, u64* w_bits, STORED(W_T)* w_val) {
  const bool has_w = !FRESH && inside && bit_of(w_bits, p);
  has_t = has_t && open;
  const bool present = open ? has_t : has_w && !replace;
  const bool writer = write && (p & 31) == 0;
#if W_ISO
  (void)t;
#elif W_BOOL
  bool w = !FRESH && has_w && bit_of(w_val, p);
  if (has_t) w = t;
  const u32 values = __ballot_sync(ALL_LANES, present && w);
  after_vote();
  if (writer) ((u32*)w_val)[p >> 5] = values;
#else
  if (has_t) w_val[p] = t;
#endif
  const u32 bits = __ballot_sync(ALL_LANES, present);
  after_vote();
  if (writer) ((u32*)w_bits)[p >> 5] = bits;
}
