// Two operands by rows, each with plain or packed columns.
#include "formats/csr/any_column.cuh"
#include "formats/csr/search.cuh"
typedef AnyColumn<A_PACKED, COL_T> AColumn;
typedef AnyColumn<B_PACKED, COL_T> BColumn;
