// Values of a matrix's entries: iso, an array, or packed.
// One value for all (iso, stride 0), an array (stride 1), or VALUES_PACKED: the value of entry e is `iso` + number e
// of a packed string with `stride` bits per number.
#include "kernels/packed.cuh"

#if VALUES_PACKED
typedef u32 value_t;  // element type of the array
#else
typedef A_T value_t;
#endif

// The view of a matrix's values.
struct Values {
  const value_t* values;
  ARGUMENT(A_T) iso;
  i64 stride;

  // Value of entry e, if there is more than one value.
  __device__ __forceinline__ A_T operator[](i64 e) const {
#if VALUES_PACKED
    return based(A_T(iso), packed_at(values, e, (u32)stride));
#else
    return values[e];
#endif
  }
  __device__ __forceinline__ A_T at(i64 e) const { return VALUES_PACKED || stride ? (*this)[e] : A_T(iso); }
  // The same for a value that is not read again; packed words are read again, for neighbouring entries.
  __device__ __forceinline__ A_T once(i64 e) const {
#if VALUES_PACKED
    return (*this)[e];
#else
    return stride ? load_once(values + e) : A_T(iso);
#endif
  }
};
