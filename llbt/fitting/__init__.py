"""From a formula and a table to the results of a fit, and what the results are asked themselves."""
