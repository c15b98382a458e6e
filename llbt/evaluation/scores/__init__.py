"""Scores of systems on instances: turned into comparisons, and into rankings by several mechanisms."""
