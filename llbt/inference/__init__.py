"""Answer questions about a fit."""
