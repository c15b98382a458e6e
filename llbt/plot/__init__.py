"""Pictures: each takes an Axes and returns it."""
