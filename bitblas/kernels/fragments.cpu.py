# Code fragments that kernels paste into their loops: `# include: kernels/fragments.cpu.py NAME` inserts the
# statements between `# NAME:` and the next fragment.

# rows_of_word: select the rows of a 64-row word that a pull visits, those that the mask allows (`rest`).
open_bits = rest
had = at(to.w.bits, word) if MERGE else np.uint64(0)
summed = np.uint64(0)
truths = np.uint64(0)
if hi - (word << 6) < 64:
    rest &= (ONE << np.uint64(hi - (word << 6))) - ONE

# next_row: take the next row of a pull from `rest` and initialize its sum.
bit = trailing_zeros(rest)
rest = drop_lowest(rest)
row = (word << 6) + np.int64(bit)
some = False
total = BEGIN if BLEND else IDENTITY
count = np.int64(0)

# blended: add the product z to `total` if u has entry j.
# Without an entry the neutral value is added, which avoids a branch that the processor would have to predict.
if U_FULL:
    total = add(total, z)
else:
    hit = at(u.bits, j >> 6) >> np.uint64(j & 63) & ONE
    total = add(total, chosen(hit, z, BEGIN))
    count += np.int64(hit)

# end_row: epilogue of one row whose sum is complete (mask, accumulator, store).
if KIND != VALUES or BLEND:
    some = count > 0
if some:
    summed |= ONE << bit
    if KIND == COUNT:
        total = repeated(product, count)
    elif KIND == WORDS:
        total = product
    if STORE:
        value = ended(total, had >> bit & ONE != 0, to.w.values, to.w.iso, to.w.stride, row)
        if not W_BOOL:
            put(to.t.values, row, value)
        elif value:
            truths |= ONE << bit

# end_word: epilogue of the 64 rows of a word: write their bits and keep old entries.
stay = kept_bits(had, open_bits, summed, to.replace)
truths |= carry(stay, word << 6, to.w.values, to.w.iso, to.w.stride, to.moved, to.t.values)
put(to.t.bits, word, summed | stay)
if STORE and W_BOOL:
    put(to.t.values, word, truths)

# pushed: combine the product of entry e (column j) and x with the output, if the mask allows it.
word = j >> 6
bit = ONE << np.uint64(j & 63)
bits = at(t.bits, word)
open_bit = (at(mask.bits, word * mask.stride) ^ mask.invert) & bit
# The mask is unpredictable, so sums are computed without testing it; an excluded sum gets no bit.
if KIND == VALUES and not (HAS_TERMINAL == 2 and bits & bit != 0) and (BLEND or open_bit != 0):
    z = mul(value_at(a, e), x, j, row)
    put(t.values, j, sum_with(bits & bit != 0, at(t.values, j), z))
if KIND == COUNT and open_bit != 0:
    put(counts, j, (at(counts, j) if bits & bit != 0 else 0) + 1)
put(t.bits, word, bits | open_bit)
if summarized:
    note(t_sum, word, open_bit)
