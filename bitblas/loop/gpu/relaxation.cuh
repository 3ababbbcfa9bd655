// Values of a relaxation: which is better, and cells that keep the better one.
template <class T> __device__ __forceinline__ typename Cell<sizeof(T)>::type raw_of(T x) {
  union {
    T value;
    typename Cell<sizeof(T)>::type raw;
  } cell;
  cell.value = x;
  return cell.raw;
}
__device__ __forceinline__ bool holds_initial(C_T x) { return raw_of(x) == raw_of(C_T(BEGIN)); }

// Whether accumulating x changes a cell. Float sums start with NaN, which every number improves.
__device__ __forceinline__ bool is_better(C_T x, C_T than) {
#if JOIN == 3
  return x > than;
#elif JOIN_FLOAT
  return x < than || (than != than && x == x);
#else
  return x < than;
#endif
}

// Accumulate x, which is not NaN, into a cell in any memory space. Returns the value before.
__device__ __forceinline__ C_T accumulate(C_T* at, C_T x) {
#if JOIN_FLOAT
  typedef typename Cell<sizeof(C_T)>::type cell_t;
  typedef typename Signed<sizeof(C_T)>::type signed_t;
  union {
    C_T value;
    cell_t raw;
  } next, old;
  next.value = x;
  const bool negative = (signed_t)next.raw < 0;
  old.raw = negative ? atomicMax((cell_t*)at, next.raw) : (cell_t)atomicMin((signed_t*)at, (signed_t)next.raw);
  return old.value;
#elif JOIN == 3
  return atomicMax(at, x);
#else
  return atomicMin(at, x);
#endif
}
