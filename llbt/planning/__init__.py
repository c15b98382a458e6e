"""How many judgments a study needs, by simulation."""
