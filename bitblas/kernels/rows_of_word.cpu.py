# The rows of a word that a pull goes through, those that the mask allows (`rest`): statements of a kernel.
open_bits = rest
had = at(w_bits, word) if MERGE else np.uint64(0)
rows = np.uint64(0)
truths = np.uint64(0)
if hi - (word << 6) < 64:
    rest &= (ONE << np.uint64(hi - (word << 6))) - ONE
