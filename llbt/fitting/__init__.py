"""Fit a formula to a table: the fits, their results, and the questions that results answer themselves."""
