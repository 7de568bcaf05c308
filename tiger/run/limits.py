"""The values that seed, effort, time limit, islands and threads of a solve may have."""

# Seeds and efforts are int64 in kernels and documents; threads wait for at most 9.2e9 s (`threading.TIMEOUT_MAX`).
SEED_LIMIT = EFFORT_LIMIT = 1 << 63
TIME_LIMIT_S = 1e9
# Islands that search side by side, each with the effort of one.
MOST_ISLANDS = 256
# More than any machine has processors, so that more is a slip of the keyboard.
THREAD_LIMIT = 1024
