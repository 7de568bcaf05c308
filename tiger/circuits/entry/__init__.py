"""What callers hand over and get back."""
