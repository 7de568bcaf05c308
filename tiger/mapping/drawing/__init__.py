"""Pictures of mappings. Read `pictures` first, and `view`, which works out what is shown."""
