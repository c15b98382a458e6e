"""Checks of judgments before a model is fitted: labels, evidence, checks, and the audit."""
