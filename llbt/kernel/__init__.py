"""Arrays in, arrays out: likelihoods, solvers and robust covariances. Nothing here knows a label or a formula."""
