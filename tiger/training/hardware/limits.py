"""How large a number of a model or a cluster may be."""

# Sums and products of numbers up to here, and quotients by such down to its inverse, stay far inside float64.
COST_LIMIT = 1e30
