"""capture(): every use of every parameter, and what is made of it: per-sample gradients, norms, curvature, stores."""
