"""A plan, and the seconds and bytes that it makes of layers on devices."""
