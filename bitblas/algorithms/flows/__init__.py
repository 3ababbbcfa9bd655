"""How much gets through: largest flows, and the cuts that limit them."""
