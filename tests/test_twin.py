"""The twins of the board, one in Python and one in JavaScript, against llbt."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]
TWIN = REPOSITORY / "twin"
sys.path.insert(0, str(TWIN))  # two files to copy, no package

import make_fixtures  # noqa: E402
import tiers  # noqa: E402


def test_the_python_twin_equals_the_fixtures() -> None:
    run = subprocess.run([sys.executable, TWIN / "check.py"], capture_output=True, text=True, timeout=60, check=False)
    assert run.returncode == 0, run.stdout
    assert int(run.stdout.split()[0]) >= 50


def test_the_example_of_the_readme_runs(capsys: pytest.CaptureFixture[str]) -> None:
    exec((TWIN / "README.md").read_text(encoding="utf-8").split("```python\n")[1].split("```")[0], {})
    assert capsys.readouterr().out.startswith("1 A rank 1–3")


@pytest.mark.parametrize(("name", "most"), [("tiers.py", 150), ("tiers.js", 200)])
def test_the_twins_stay_short(name: str, most: int) -> None:
    assert len((TWIN / name).read_text(encoding="utf-8").splitlines()) <= most


@pytest.mark.slow
def test_the_fixtures_are_what_llbt_says_today() -> None:
    """To 1e-9, and the words and ranks exactly."""
    cases = make_fixtures.cases()
    assert sorted(cases) == sorted(path.stem for path in make_fixtures.FOLDER.glob("*.json"))
    for name, votes in cases.items():
        kept = json.loads((make_fixtures.FOLDER / f"{name}.json").read_text(encoding="utf-8"))
        now = json.loads(json.dumps(make_fixtures.fixture(votes)))
        assert same(now, kept), name


def same(one: object, other: object) -> bool:
    if isinstance(one, float):
        return one == pytest.approx(other, rel=1e-9, abs=1e-9)
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[k], other[k]) for k in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other


def refusal(votes: list[tuple[str, ...]]) -> str | None:
    try:
        tiers.tiers(votes, critical=2.0)
    except ValueError as error:
        return str(error)
    return None


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_small_tables_exist_for_both_or_for_neither() -> None:
    """100 random tables of two to five objects; the words are llbt's where groups are to blame."""
    rng = random.Random(11)
    refused = 0
    for _ in range(100):
        names, ties = "ABCDE"[: rng.randint(2, 5)], rng.choice([0.0, 0.2, 0.5])
        outcomes = ["tie" if rng.random() < ties else rng.choice("ab") for _ in range(rng.randint(3, 16))]
        votes = [(*rng.sample(names, 2), outcome) for outcome in outcomes]
        said, own = make_fixtures.of_llbt(votes).get("refused"), refusal(votes)
        assert (said is None) == (own is None), (votes, said, own)
        if said is not None and own is not None:
            refused += 1
            assert "worths and tie" in own or own.startswith(said.partition(", so '")[0])
    assert refused > 20


@pytest.mark.parametrize("votes", [[], [("A", "A", "a")], [("A", "B", "left")]])
def test_votes_that_are_none_are_refused(votes: list[tuple[str, ...]]) -> None:
    with pytest.raises(ValueError, match="expected"):
        tiers.tiers(votes)
