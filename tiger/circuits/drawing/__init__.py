"""Pictures of circuits on devices. Read `pictures` first, and `view`, which works out what is shown."""
