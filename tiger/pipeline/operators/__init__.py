"""Operators of a network on devices, any set of which may share one, within memory and colocation."""
