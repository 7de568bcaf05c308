"""Plans that follow measured times of stages."""
