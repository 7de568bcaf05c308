"""The search for degrees of parallelism, microbatches and a schedule."""
