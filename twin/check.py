"""Compare tiers.py with the fixtures: `python twin/check.py`."""

import json
import math
import sys
from itertools import chain
from pathlib import Path

from tiers import tiers


def near(one, other):
    """Whether two numbers are equal to 1e-8."""
    return math.isclose(one, other, rel_tol=1e-8, abs_tol=1e-8)


def wrong(fixture):
    """Return what is wrong with the answer to a fixture, or None."""
    try:
        found = tiers(fixture["votes"], critical=fixture.get("critical", 2.0))
    except ValueError as error:
        return None if str(error).startswith(fixture.get("refused", "nothing")) else f"it says {error}"
    if "refused" in fixture:
        return "it answers"
    for key in ("object", "rank_low", "rank_high", "tier"):
        if [row[key] for row in found["board"]] != [row[key] for row in fixture["board"]]:
            return f"{key}: {[row[key] for row in found['board']]}"
    if not all(near(row["worth"], of["worth"]) for row, of in zip(found["board"], fixture["board"], strict=True)):
        return "worths"
    if (found["tie"] is None) != (fixture["tie"] is None) or not near(found["tie"] or 0, fixture["tie"] or 0):
        return f"tie: {found['tie']}"
    if found["objects"] != fixture["objects"]:
        return "order of the objects"
    return None if all(map(near, chain(*found["errors"]), chain(*fixture["errors"]))) else "errors"


if __name__ == "__main__":
    fixtures = sorted((Path(__file__).parent / "fixtures").glob("*.json"))
    said = {path.name: wrong(json.loads(path.read_text(encoding="utf-8"))) for path in fixtures}
    bad = {name: why for name, why in said.items() if why}
    print(*(f"{name}: {why}" for name, why in bad.items()), sep="\n", end="\n" * bool(bad))
    print(f"{len(said) - len(bad)} of {len(said)} fixtures are equal")
    sys.exit(bool(bad) or not said)
