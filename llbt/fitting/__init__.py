"""Fit models to judgments, and return results with estimates, tests, predictions and printouts."""
