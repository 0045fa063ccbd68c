"""Around a loss and over a whole training: curvature, metagradients, proofs of attributions."""
