"""Likelihoods, solvers and robust covariances on arrays alone. No module here uses labels or formulas."""
