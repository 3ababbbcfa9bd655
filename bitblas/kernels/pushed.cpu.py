# Code fragment: combine the product of entry e (column j) and u with the output, if the mask allows it.
word = j >> 6
bit = ONE << np.uint64(j & 63)
bits = at(t_bits, word)
open_bit = (at(mask, word * mask_stride) ^ mask_invert) & bit
# The mask is unpredictable, so sums are computed without testing it; an excluded sum gets no bit.
if KIND == VALUES and not (HAS_TERMINAL == 2 and bits & bit != 0) and (BLEND or open_bit != 0):
    z = mul(value_at(a_val, a_iso, a_stride, e), u, j, row)
    put(t_val, j, joined(bits & bit != 0, at(t_val, j), z))
if KIND == COUNT and open_bit != 0:
    put(counts, j, (at(counts, j) if bits & bit != 0 else 0) + 1)
put(t_bits, word, bits | open_bit)
if LISTED:
    note(t_sum, word, open_bit)
