"""The tasks of llbt, and of the plain loops and prototypes that it is compared with.

llbt is imported in the functions, because environments of peers, which do not have llbt, import this module too.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from . import frames, prototype, sparse_prototype
from .inputs import AGGREGATED, PARTS, described, object_names, read, side_names, write_parquet

Estimates = dict[str, Any]
CODES = {0: "i", 1: "tie", 2: "j"}
SIDES = ("left", "right")
SCORES = {"i+": 2, "i": 1, "tie": 0, "j": -1, "j+": -2}
RESAMPLES = 1_000
PRIOR = sparse_prototype.PRIOR


def estimates(res: Any, objects: tuple[Any, ...]) -> Estimates:
    """The full task of llbt: estimates, standard errors, deviance, gradient."""
    params, error = res.params.to_numpy(), res.bse.to_numpy()
    worths = slice(len(objects) - 1)  # objects come first, in their order
    found = {"log_odds": np.r_[2 * params[worths], 0], "se": error[worths]}
    for name in ("tie", "order"):
        if name in res.names:
            k = res.names.index(name)
            found |= {name: params[k], f"{name}_se": error[k]}
    return found | {"deviance": res.deviance, "gradient": res.gradient_norm}


def fitted(source: Any, formula: str = "object + tie + order", **options: Any) -> Estimates:
    import llbt

    c = llbt.from_judgments(source, objects=SIDES, outcome="outcome", order=True, **options)
    return estimates(llbt.fit(formula, c), c.objects)


def integers(frame: pd.DataFrame) -> Estimates:
    return fitted(frame, outcomes=CODES)


def sparse(frame: pd.DataFrame) -> Estimates:
    """Estimates of many objects, without the covariance."""
    import llbt

    c = llbt.from_judgments(frame, objects=SIDES, outcome="outcome", outcomes=CODES)
    params = llbt.fit("object + tie", c).params.to_numpy()
    return {"log_odds": np.r_[2 * params[:-1], 0], "tie": params[-1]}


def sparse_errors(frame: pd.DataFrame) -> Estimates:
    return fitted(frame, "object + tie", outcomes=CODES)


def large(frame: pd.DataFrame) -> Estimates:
    """Estimates of very many objects, a part of which is infinite without a prior."""
    import llbt

    c = llbt.from_judgments(frame, objects=SIDES, outcome="outcome", outcomes=CODES)
    params = llbt.fit("object + tie", c, prior=PRIOR).params.to_numpy()
    return {"log_odds": 2 * params[:-1], "tie": params[-1]}


def large_leaderboard(frame: pd.DataFrame) -> Estimates:
    """Estimates with intervals and rank ranges."""
    import llbt

    c = llbt.from_judgments(frame, objects=SIDES, outcome="outcome", outcomes=CODES, order=True)
    board = llbt.leaderboard(llbt.fit("object + tie + order", c, prior=PRIOR)).to_frame()
    return {"widest": float((board["conf_high"] - board["conf_low"]).max())}


def large_prototype_fit(arrays: Any) -> Estimates:
    return sparse_prototype.fit(*arrays, prior=PRIOR)


def sparse_prototype_fit(arrays: Any) -> Estimates:
    return sparse_prototype.fit(*arrays)


def write_and_name(folder: Path) -> str:
    return str(write_parquet(folder))


def parquet(path: str) -> Estimates:
    return fitted(path)


def open_spark(folder: Path) -> Any:
    return _spark_frame(write_and_name(folder))


def _spark_frame(path: str) -> Any:
    from pyspark.sql import SparkSession

    session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session.read.parquet(path)


def name_parts(folder: Path) -> str:
    return str(folder / PARTS)


def scan_polars(folder: Path) -> Any:
    import polars as pl

    return pl.scan_parquet(name_parts(folder))


def open_dask(folder: Path) -> Any:
    import dask.dataframe as dd

    return dd.read_parquet(name_parts(folder))


def open_spark_parts(folder: Path) -> Any:
    return _spark_frame(name_parts(folder))


def judges(frame: pd.DataFrame) -> Estimates:
    import llbt

    c = llbt.from_judgments(frame, objects=SIDES, outcome="outcome", covariates="judge")
    res = llbt.fit("object * judge + tie * judge", c)
    return _by_judge(res, c.objects, sorted(set(frame["judge"])))


def _by_judge(res: Any, objects: tuple[Any, ...], levels: list[Any]) -> Estimates:
    """Estimates by judge; errors as coded: of the first judge, and of the difference from the first."""
    params, error = res.params, res.bse
    own = [f"object[{o}]" for o in objects[:-1]]
    coded = [own, *([f"{name}:judge[{k}]" for name in own] for k in levels[1:])]
    tie = ["tie", *(f"tie:judge[{k}]" for k in levels[1:])]
    worth = np.array([params[names].to_numpy() for names in coded])
    worth[1:] += worth[0]
    gamma = np.array(params[tie])
    gamma[1:] += gamma[0]
    found = {"log_odds": np.c_[2 * worth, np.zeros(len(worth))], "tie": gamma, "tie_se": error[tie].to_numpy()}
    found["se"] = np.array([error[names].to_numpy() for names in coded])
    return found | {"deviance": res.deviance, "gradient": res.gradient_norm, "parameters": len(params)}


def sides(frame: pd.DataFrame) -> Estimates:
    import llbt

    names = side_names(sum(column.startswith("x") for column in frame) // 2)
    columns = {name: (f"{name}_left", f"{name}_right") for name in names}
    c = llbt.from_judgments(frame, objects=SIDES, outcome="outcome", side_covariates=columns, order=True)
    res = llbt.fit(" + ".join(["object", *names, "tie", "order"]), c)
    found = {"coefficients": res.params[names].to_numpy(), "coefficients_se": res.bse[names].to_numpy()}
    return estimates(res, c.objects) | found


def positive_sides(folder: Path) -> pd.DataFrame:
    """Judgments with style covariates, which are lengths or counts."""
    frame = frames.with_sides(folder)
    return frame.assign(**{name: np.exp(frame[name]) for name in frame if name.startswith("x")})


def style(frame: pd.DataFrame) -> Estimates:
    """Both leaderboards and the effects of style: two fits, in place of the one of the peers."""
    import llbt

    names = side_names(sum(column.startswith("x") for column in frame) // 2)
    columns = {name: (f"{name}_left", f"{name}_right") for name in names}
    c = llbt.from_judgments(frame, objects=SIDES, outcome="outcome", side_covariates=columns)
    return {"rows": len(llbt.style_control(c).table())}


def clustered_table(folder: Path) -> Any:
    import llbt

    frame = frames.with_judges(folder)
    return llbt.from_judgments(frame, objects=SIDES, outcome="outcome", clusters="judge", order=True)


def judged_table(folder: Path) -> Any:
    import llbt

    frame = frames.with_judges(folder)
    return llbt.from_judgments(frame, objects=SIDES, outcome="outcome", covariates="judge")


def discriminations(c: Any) -> Estimates:
    import llbt

    res = llbt.fit("object + tie", c, discrimination="judge")
    return {"deviance": res.deviance, "smallest": res.discriminations.min()}


def judged_clusters(folder: Path) -> Any:
    import llbt

    frame = frames.with_judges(folder)
    return llbt.from_judgments(frame, objects=SIDES, outcome="outcome", clusters="judge").drop_ties()


def laplace(c: Any) -> Estimates:
    """Effects of judges on log-worths, by Laplace's approximation."""
    import llbt

    res = llbt.fit("object + (object | judge)", c, approximation="laplace")
    return {"sigma": float(res.scales.iloc[0]), "converged": res.converged}


def rankings(folder: Path) -> Any:
    """Return lists as Rankings, the last object the reference, as a fit takes it."""
    from llbt.core.rankings import gathered_rankings

    (lists,) = read(folder, "lists")
    n, m = lists.shape
    names = tuple(object_names(described(folder).objects))
    return gathered_rankings(
        names, np.repeat(np.arange(n), m), lists.astype(np.int64).ravel(), np.tile(np.arange(1, m + 1), n)
    )


def plackett_luce(r: Any) -> Estimates:
    """Whole lists, with all standard errors."""
    import llbt

    res = llbt.fit("object", r)
    return {"log_odds": np.r_[2 * res.params.to_numpy(), 0], "se": res.bse.to_numpy()}


def plain_covariance(c: Any) -> Estimates:
    import llbt

    return estimates(llbt.fit("object + tie + order", c), c.objects)


def cluster_covariance(c: Any) -> Estimates:
    import llbt

    res = llbt.fit("object + tie + order", c, cov_type="cluster", groups="judge")
    found = estimates(res, c.objects)
    return {name: value for name, value in found.items() if not name.endswith("se")} | {"errors": res.bse.to_numpy()}


def counted_table(folder: Path) -> Any:
    import llbt

    return llbt.from_judgments(frames.integers(folder), objects=SIDES, outcome="outcome", outcomes=CODES, order=True)


def graded(frame: pd.DataFrame) -> Estimates:
    import llbt

    c = llbt.from_judgments(frame, objects=SIDES, outcome="outcome", outcomes=SCORES)
    res = llbt.fit("object + tie + grade", c)
    return estimates(res, c.objects) | {"grade": res.params["grade[+]"], "grade_se": res.bse["grade[+]"]}


def three(frame: pd.DataFrame) -> Estimates:
    import llbt

    c = llbt.from_judgments(frame, objects=SIDES, outcome="outcome")
    return estimates(llbt.fit("object + tie", c), c.objects)


def pairs_table(folder: Path) -> Any:
    import llbt

    return llbt.from_judgments(frames.integers(folder), objects=SIDES, outcome="outcome", outcomes=CODES)


def rao_kupper(c: Any) -> Estimates:
    import llbt

    return estimates(llbt.fit("object + tie", c, link="cumulative"), c.objects)


def shipped_rao_kupper(frame: pd.DataFrame) -> Estimates:
    import llbt

    return rao_kupper(llbt.from_counts(frame))


def fit_of(folder: Path) -> Any:
    import llbt

    return llbt.fit("object + tie + order", counted_table(folder))


def bootstrap(res: Any) -> Estimates:
    import llbt

    boot = llbt.bootstrap(res, n=RESAMPLES, rng=1)
    return {"spread": boot.replicates[:, -1].std(), "degenerate": boot.degenerate}


def loop_of_fits(res: Any) -> Estimates:
    """The plain Python loop: draw, make the table, fit again; a few resamples, counted as all of them."""
    import llbt

    some = 5 if len(res.comparisons) > 10_000 else 20
    rng = np.random.default_rng(1)
    frame = res.comparisons.to_frame()
    counts = res.comparisons.counts
    totals = counts.sum(axis=1)
    order = []
    for _ in range(some):
        drawn = rng.multinomial(totals.astype(np.int64), counts / totals[:, None])
        again = frame.assign(wins_i=drawn[:, 0], ties=drawn[:, 1], wins_j=drawn[:, 2])
        order.append(llbt.fit("object + tie + order", llbt.from_counts(again, order=True)).params["order"])
    return {"spread": np.std(order), "factor": RESAMPLES / some}


def prototype_integers(folder: Path) -> Any:
    return (*read(folder, "i", "j", "outcome"), described(folder).objects)


def prototype_fit(arrays: Any) -> Estimates:
    return prototype.fit_codes(*arrays)


def prototype_bootstrap(counts: Any) -> Estimates:
    return {"spread": prototype.bootstrap(counts, RESAMPLES)[:, -1].std()}


def aggregated(folder: Path) -> pd.DataFrame:
    return pd.read_csv(AGGREGATED)


def aggregated_fit(formula: str, *, pooled: bool) -> Callable[[pd.DataFrame], Estimates]:
    """The table of counts, the fit with all standard errors and its printed summary."""

    def run(frame: pd.DataFrame) -> Estimates:
        import llbt

        c = llbt.from_counts(frame, objects=("i", "j"), wins=("win", "loss"), ties_column="tie", covariates="subj")
        res = llbt.fit(formula, c.pool() if pooled else c)
        errors = res.bse.to_numpy()
        return {"deviance": res.deviance, "errors": len(errors), "printed": len(str(res.summary()))}

    return run


def shipped_counts(folder: Path) -> pd.DataFrame:
    pairs, counts, names = frames.shipped(folder)
    words = np.array(names)
    frame = pd.DataFrame({"object_i": words[pairs[:, 0]], "object_j": words[pairs[:, 1]]})
    return frame.assign(wins_i=counts[:, 0], ties=counts[:, 1], wins_j=counts[:, 2])


def shipped_fit(frame: pd.DataFrame) -> Estimates:
    import llbt

    c = llbt.from_counts(frame)
    return estimates(llbt.fit("object + tie", c), c.objects) | {"objects": list(c.objects)}


def shipped_leaderboard(frame: pd.DataFrame) -> Estimates:
    import llbt

    found = llbt.leaderboard(llbt.fit("object + tie", llbt.from_counts(frame)), scale="elo").to_frame()
    return {"first": str(found["object"].iloc[0]), "rows": len(found)}


def shipped_bootstrap(frame: pd.DataFrame) -> Estimates:
    import llbt

    boot = llbt.bootstrap(llbt.fit("object + tie", llbt.from_counts(frame)), n=RESAMPLES, rng=1)
    return {"spread": boot.replicates[:, -1].std(), "degenerate": boot.degenerate}


def scores(folder: Path) -> Any:
    return read(folder, "metric", "human")


def metric_interval(level: str, coefficient: str) -> Callable[[Any], Estimates]:
    def run(matrices: Any) -> Estimates:
        import llbt

        options = {"level": level, "coefficient": coefficient, "method": "boot-both", "n": RESAMPLES}
        found = llbt.metrics.interval(*matrices, **options, rng=1).to_frame()
        return {"low": found["conf_low"].iloc[0], "high": found["conf_high"].iloc[0]}

    return run
