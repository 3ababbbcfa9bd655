# Code fragments of products with a multivector along rows that a layout walks (walked.cuh); see
# kernels/fragments.cpu.py.

# pulled_row: the line of T for the sum of a row; -1: this launch does not compute it.
line = row
if NODES == 1:
    line = ~np.int64(at(nodes.row_number, row))
elif NODES == 2:
    line = np.int64(at(nodes.row_number, row))

# pulled_word: begin word w of line `line`.
at_word = line * per_line + w
places = open_places(mask, last, per_line, line, w)
found = np.uint64(0)
true = np.uint64(0)
going = places != np.uint64(0)

# pulled: combine the line of X for column j, with the value of entry e, with the sums of the word.
k = np.int64(j)
if NODES:
    k = np.int64(at(nodes.number, j))
if NODES and k < 0:
    here = np.uint64(at(nodes.bits, ~k * per_line + w)) & places
    if KIND == VALUES and here != np.uint64(0):
        true = add_sums(here, found, true, (~k * per_line + w) * BITS, at_word * BITS, nodes, t)
else:
    here = np.uint64(at(x.bits, k * per_line + w)) & places
    if KIND == VALUES and here != np.uint64(0):
        from_ = (k * per_line + w) * BITS
        true = add_line(value_at(a, e), here, found, true, from_, at_word * BITS, line, k, w, x, t)
found |= here
going = not ((KIND == WORDS or HAS_TERMINAL == 2) and found == places)

# end_pulled: write the word.
put(t.bits, at_word, LINE_T(found))
if Z_BOOL and KIND == VALUES:
    put(t.values, at_word, LINE_T(true))

# pushed_line: take the next line of X from `rest`, the lines of word q that have entries.
b = np.int64(trailing_zeros(rest)) // BITS
some = (rest >> np.uint64(b * BITS)) & FULL
rest &= ~(FULL << np.uint64(b * BITS))
row = q // per_line if BITS == 64 else q * (64 // BITS) + b
w = q - row * per_line if BITS == 64 else np.int64(0)
from_ = q * 64 + b * BITS

# pushed: combine the line of X with the sums of the line of column j.
at_word = np.int64(j) * per_line + w
here = some & open_places(mask, last, per_line, np.int64(j), w)
found = np.uint64(at(t.bits, at_word))
if KIND == VALUES and here != np.uint64(0):
    true = np.uint64(at(t.values, at_word)) if Z_BOOL else np.uint64(0)
    true = add_line(value_at(a, e), here, found, true, from_, at_word * BITS, np.int64(j), row, w, x, t)
    if Z_BOOL:
        put(t.values, at_word, LINE_T(true))
put(t.bits, at_word, LINE_T(found | here))
