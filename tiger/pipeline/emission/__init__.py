"""Placements in the words of training and serving systems."""
