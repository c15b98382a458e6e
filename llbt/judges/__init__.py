"""What judges do, and whether they agree."""
