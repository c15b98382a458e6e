"""Questions to a fit."""
