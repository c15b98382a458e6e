"""Which system is better, by scores."""
