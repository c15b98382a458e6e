"""Where the files are that tests read."""

from pathlib import Path

TESTS = Path(__file__).parents[1]
REPOSITORY = TESTS.parent
REFERENCE = TESTS / "reference"
SIMULATIONS = TESTS / "simulations"
