// Segmented products of user-defined types: z[s] = the products of segment s combined from left to right.
// Operands are indices into the table of their type's values; the result is written as the packed value. The variant's
// text defines product, join, X_at, Z_write and related functions (operations/udf.py). Without FOLD a segment is one
// product.
// rows, cols: positions of a product. x, x_at, x_step, x_table: operand numbers, their index, stride and table of
// values; y_* are the same of y; t_*: the third operand.
extern "C" __global__ void __launch_bounds__(BLOCK)
records(i64 n, const i64* ptr, const i64* rows, const i64* cols, const X_N* x, const i64* x_at, i64 x_step,
        const X_W* x_table, const Y_N* y, const i64* y_at, i64 y_step, const Y_W* y_table, const T_N* t, i64 t_step,
        const T_W* t_table, Z_W* z) {
  const i64 s = thread_number();
  if (s >= n) return;
  const i64 last = FOLD ? ptr[s + 1] : s + 1;
  Z_T sum = {};
  for (i64 first = FOLD ? ptr[s] : s, k = first; k < last; ++k) {
    const X_T of_x = X_at(x, x_table, (X_LISTED ? x_at[k] : k) * x_step);
    const Y_T of_y = Y_at(y, y_table, (Y_LISTED ? y_at[k] : k) * y_step);
    const T_T of_t = T_at(t, t_table, k * t_step);
    const Z_T made = product(of_x, of_y, of_t, PLACES ? rows[k] : 0, PLACES ? cols[k] : 0);
    sum = k == first ? made : join(sum, made);
  }
  Z_write(z + s * Z_WORDS, sum);
}
