"""Ways to cut a problem into blocks."""
