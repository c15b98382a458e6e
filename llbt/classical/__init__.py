"""The readings and tests that need no model: signs, ranks, orders."""
