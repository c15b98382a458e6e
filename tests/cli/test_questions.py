"""pairwise, contrasts and predict in the shell are those of the library."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support.shell import refused, run

import llbt

CSV = ["--format", "csv"]
FORMULA = "object * language + tie"


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(4)
    pairs = [rng.choice(list("ABC"), 2, replace=False) for _ in range(300)]
    said = {"language": rng.choice(["de", "en"], 300), "outcome": rng.choice(["i", "tie", "j"], 300)}
    return pd.DataFrame(pairs, columns=["object_i", "object_j"]).assign(**said)


@pytest.fixture(scope="module")
def battles(frame: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("battles") / "b.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def res(frame: pd.DataFrame) -> llbt.LLBTResults:
    return llbt.fit(FORMULA, llbt.from_judgments(frame, covariates="language"), cov_type="cautious")


def answered(*line: object) -> pd.DataFrame:
    done = run(*map(str, line), *CSV)
    assert done.exit_code == 0, done.stderr
    return pd.read_csv(pd.io.common.StringIO(done.stdout))


def same(found: pd.DataFrame, expected: llbt.Table) -> None:
    pd.testing.assert_frame_equal(found, expected.to_frame(), check_dtype=False)


def test_pairs(battles: Path, res: llbt.LLBTResults) -> None:
    asked = ["pairwise", battles, "--covariates", "language", "--formula", FORMULA]
    same(
        answered(*asked, "--at", "language=de", "--scale", "elo"),
        llbt.pairwise(res, at={"language": "de"}, scale="elo").table(),
    )
    same(answered(*asked, "--by", "language"), llbt.pairwise(res, by="language"))
    same(
        answered(*asked, "--at", "average", "--only", "A,C"),
        llbt.pairwise(res, at="average", objects=["A", "C"]).table(),
    )
    same(answered(*asked, "--at", "average", "--adjust", "none"), llbt.pairwise(res, at="average", adjust=None).table())


def test_contrasts(battles: Path, res: llbt.LLBTResults) -> None:
    asked = ["contrasts", battles, "--covariates", "language", "--formula", FORMULA, "--contrast", "A=1,B=-0.5,C=-0.5"]
    named = {"A=1,B=-0.5,C=-0.5": {"A": 1, "B": -0.5, "C": -0.5}}
    same(answered(*asked, "--by", "language"), llbt.contrasts(res, named, by="language"))
    mix = {"language": {"de": 0.3, "en": 0.7}}
    found = answered(*asked, "--at", "language=de:0.3,language=en:0.7", "--scale", "probability")
    same(found, llbt.contrasts(res, named, at=mix, scale="probability"))


def test_probabilities(battles: Path, res: llbt.LLBTResults, tmp_path: Path) -> None:
    asked = ["predict", battles, "--covariates", "language", "--formula", FORMULA]
    same(answered(*asked, "--at", "average"), res.predict(at="average"))
    same(
        answered(*asked, "--by", "language", "--hypothesis", "pairwise"),
        res.predict(by="language", hypothesis="pairwise"),
    )
    new = pd.DataFrame({"object_i": ["A"], "object_j": ["C"], "language": ["en"]})
    new.to_csv(tmp_path / "new.csv", index=False)
    same(answered(*asked, "--comparisons", tmp_path / "new.csv"), res.predict(new))
    assert "--population" in refused(*map(str, asked), "--population")
    assert "--discrimination" in refused(*map(str, asked), "--discrimination", "language")
