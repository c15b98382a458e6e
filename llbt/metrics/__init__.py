"""Whether a metric agrees with humans, and which metric better."""
