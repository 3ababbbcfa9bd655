# Code fragment: combine the product of entry e (column j) and x with the output, if the mask allows it.
word = j >> 6
bit = ONE << np.uint64(j & 63)
bits = at(t.bits, word)
open_bit = (at(mask.bits, word * mask.stride) ^ mask.invert) & bit
# The mask is unpredictable, so sums are computed without testing it; an excluded sum gets no bit.
if KIND == VALUES and not (HAS_TERMINAL == 2 and bits & bit != 0) and (BLEND or open_bit != 0):
    z = mul(value_at(a, e), x, j, row)
    put(t.values, j, summed(bits & bit != 0, at(t.values, j), z))
if KIND == COUNT and open_bit != 0:
    put(counts, j, (at(counts, j) if bits & bit != 0 else 0) + 1)
put(t.bits, word, bits | open_bit)
if listed:
    note(t_sum, word, open_bit)
