"""Layouts without SWAPs, of a whole circuit or of its segments."""
