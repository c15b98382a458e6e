"""Metrics against humans: correlations, their uncertainty and comparison, and decisions for pairs of systems."""
