"""What a client of the REST service says, hears and makes of it."""
