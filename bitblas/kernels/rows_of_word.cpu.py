# Code fragment: select the rows of a 64-row word that a pull visits, those that the mask allows (`rest`).
open_bits = rest
had = at(w_bits, word) if MERGE else np.uint64(0)
rows = np.uint64(0)
truths = np.uint64(0)
if hi - (word << 6) < 64:
    rest &= (ONE << np.uint64(hi - (word << 6))) - ONE
