"""Several results at once: plots."""
