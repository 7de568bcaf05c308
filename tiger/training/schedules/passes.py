"""The kinds of passes that a position of a pipeline runs."""

# FORWARD and BACKWARD of a stage. Where a schedule splits backward passes, BACKWARD is the gradient of activations,
# WEIGHT that of weights, and WHOLE a pass of both, whose message leaves behind both.
FORWARD, BACKWARD, WEIGHT, WHOLE = 0, 1, 2, 3
KINDS = WHOLE + 1
# The kind, the microbatch and the stage.
Pass = tuple[int, int, int]
