"""Lower bounds on the cost of every feasible mapping: a problem comes in, a float goes out; start at `lower_bound`."""
