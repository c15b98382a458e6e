"""What is wrong with judgments, before a model says so: labels, evidence, checks, and the audit of all of them."""
