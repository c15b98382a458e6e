"""The only place that parses formulas: text → terms → Design."""
