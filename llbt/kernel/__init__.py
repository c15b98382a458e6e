"""Likelihoods, solvers and robust covariances on arrays alone. Nothing here knows a label or a formula."""
