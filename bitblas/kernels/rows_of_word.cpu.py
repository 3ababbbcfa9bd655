# Code fragment: select the rows of a 64-row word that a pull visits, those that the mask allows (`rest`).
open_bits = rest
had = at(to.w.bits, word) if MERGE else np.uint64(0)
summed = np.uint64(0)
truths = np.uint64(0)
if hi - (word << 6) < 64:
    rest &= (ONE << np.uint64(hi - (word << 6))) - ONE
