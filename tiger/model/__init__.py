"""The value types of a mapping problem; numpy and scipy only."""
