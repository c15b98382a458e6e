"""The contestants, one record each. `run` is timed, `prepare` is not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import frames, own, peers

ORDER = "Davidson ties, order effect"
DAVIDSON = "Davidson ties"
HALF = "ties as half wins"


@dataclass(frozen=True)
class Contestant:
    name: str
    package: str  # on PyPI; "llbt" stands for this repository and what is written here
    modules: tuple[str, ...]  # imported before anything is timed
    fits: str
    reads: str
    inputs: tuple[str, ...]
    prepare: Callable[[Path], Any]
    run: Callable[[Any], dict[str, Any]]
    rule: str | None = None  # of accuracy.RULES
    kind: str = "plain"
    expect: dict[str, float] = field(default_factory=dict)  # published figures, to five decimals
    limit: float = 120.0  # seconds for one process

    @property
    def exact(self) -> bool:
        """Whether accuracy.LIMIT binds it."""
        return self.name.startswith(("llbt", "prototype"))


def _llbt(name: str, reads: str, inputs: str, prepare: Any, run: Any, **options: Any) -> Contestant:
    options = {"rule": ORDER, "fits": "LLBT: γ, δ, standard errors, deviance"} | options
    return Contestant(name, "llbt", options.pop("modules", ("llbt",)), reads=reads, inputs=tuple(inputs.split()),
                      prepare=prepare, run=run, **options)  # fmt: skip


def _counted(name: str, module: str, prepare: Any) -> Contestant:
    """The contestants that count judgments inside their parquet files."""
    return _llbt(name, "parts of parquet", "L-huge", prepare, own.fitted, modules=("llbt", module, "pyarrow"),
                 kind="parts", limit=900)  # fmt: skip


def _peer(name: str, package: str, module: str, fits: str, rule: str | None, reads: str, inputs: str, prepare: Any,
          run: Any, **options: Any) -> Contestant:  # fmt: skip
    return Contestant(name, package, tuple(module.split()), fits=fits, reads=reads, inputs=tuple(inputs.split()),
                      prepare=prepare, run=run, rule=rule, **options)  # fmt: skip


_LARGE, _LARGE_INPUTS = "Davidson ties, large", "sparse-1e5-random sparse-1e5-power-law"
_JUDGES = "Davidson ties by judge"
_SIDES = "Davidson ties, order effect, side covariates"
_HALF_SIDES = "ties as half wins, side covariates"
_ARENA = "Davidson ties, arena"
_LISTS = "Plackett-Luce"
_KUPPER, _KUPPER_ARENA = "Rao and Kupper's ties", "Rao and Kupper's ties, arena"
_SPARSE, _SPARSE_INPUTS = (
    "Davidson ties, sparse",
    "sparse-2e3 sparse-1e4-random sparse-1e4-power-law sparse-1e4-matchmade",
)
_SURVIVED = "sparse-2e3 sparse-1e4-random"  # by what has matrices of objects × objects
_NUMPY = ("numpy", "pandas", "scipy.linalg")

OWN = (
    _llbt("llbt-integers", "integers", "S M L XL", frames.integers, own.integers),
    _llbt("llbt-categories", "categories", "S M L XL", frames.categories, own.fitted),
    _llbt("llbt-strings", "strings", "S M L XL", frames.strings, own.fitted),
    _llbt("llbt-counts", "Comparisons", "S M L", own.counted_table, own.plain_covariance),
    _llbt("llbt-duckdb", "parquet file", "L XL", own.write_and_name, own.parquet,
          modules=("llbt", "duckdb", "pyarrow")),
    _llbt("llbt-spark", "parquet file", "L XL", own.open_spark, own.fitted,
          modules=("llbt", "pyspark.sql"), limit=600),
    _counted("llbt-count-duckdb", "duckdb", own.name_parts),
    _counted("llbt-count-polars", "polars", own.scan_polars),
    _counted("llbt-count-dask", "dask.dataframe", own.open_dask),
    _counted("llbt-count-spark", "pyspark.sql", own.open_spark_parts),
    _llbt("llbt-judges", "categories", "M-judges", frames.with_judges, own.judges, rule=_JUDGES, kind="judges",
          fits="object * judge + tie * judge", limit=300),
    _llbt("llbt-sides", "categories", "M-sides", frames.with_sides, own.sides, rule=_SIDES, kind="sides",
          fits="object + x1 + … + x5 + tie + order"),
    _llbt("llbt-style", "categories", "M-sides", own.positive_sides, own.style, rule=None, kind="sides",
          fits="style_control: two fits, two leaderboards, effects of style"),
    _llbt("llbt-plain", "Comparisons", "M-judges", own.clustered_table, own.plain_covariance, kind="judges",
          fits="object + tie + order, judges kept as clusters"),
    _llbt("llbt-cluster", "Comparisons", "M-judges", own.clustered_table, own.cluster_covariance, kind="judges",
          fits="the same, covariance clustered by judge"),
    _llbt("llbt-discrimination", "Comparisons", "M-judges", own.judged_table, own.discriminations, rule=None,
          kind="judges", fits='object + tie, discrimination="judge"'),
    _llbt("llbt-laplace", "Comparisons", "judged", own.judged_clusters, own.laplace, rule=None, kind="judged",
          fits='object + (object | judge), approximation="laplace"', limit=300),
    _llbt("llbt-bootstrap", "fit", "M L", own.fit_of, own.bootstrap, rule=None, fits="1,000 refits of judgments"),
    _llbt("loop-bootstrap", "fit", "M L", own.fit_of, own.loop_of_fits, rule=None, limit=600,
          fits="1,000 calls of llbt.fit in a loop (timed: 20, L: 5)"),
    _llbt("llbt-agg100", "counts", "agg100", own.aggregated, own.aggregated_fit("object + tie", pooled=True), rule=None,
          kind="agg100", fits="object + tie, pooled, with summary", expect={"deviance": 9831.42168}),
    _llbt("llbt-agg100-subj", "counts", "agg100", own.aggregated,
          own.aggregated_fit("object * subj + tie", pooled=False), rule=None, kind="agg100",
          fits="object * subj + tie, with summary", expect={"deviance": 41382.46799}),
    _llbt("llbt-arena", "counts", "arena", own.shipped_counts, own.shipped_fit, rule=_ARENA, kind="arena",
          fits="object + tie"),
    _llbt("llbt-arena-leaderboard", "counts", "arena", own.shipped_counts, own.shipped_leaderboard, rule=None,
          kind="arena", fits="object + tie, leaderboard with simultaneous ranks"),
    _llbt("llbt-arena-bootstrap", "counts", "arena", own.shipped_counts, own.shipped_bootstrap, rule=None, kind="arena",
          fits="object + tie, 1,000 resamples"),
    _llbt("llbt-rao-kupper", "Comparisons", "L", own.pairs_table, own.rao_kupper, rule=_KUPPER,
          fits='object + tie, link="cumulative"'),
    _llbt("llbt-rao-kupper-arena", "counts", "arena", own.shipped_counts, own.shipped_rao_kupper, rule=_KUPPER_ARENA,
          kind="arena", fits='object + tie, link="cumulative"'),
    _llbt("llbt-graded", "strings", "L-graded", frames.graded, own.graded, rule="adjacent grades", kind="graded",
          fits="object + tie + grade, five grades"),
    _llbt("llbt-three", "strings", "L-graded", frames.graded_as_three, own.three, rule=None, kind="graded",
          fits="object + tie of the same judgments, ungraded"),
    _llbt("llbt-lists", "Rankings", "lists", own.rankings, own.plackett_luce, rule=_LISTS, kind="lists",
          fits="Plackett-Luce, standard errors"),
    _llbt("llbt-sparse", "integers", _SPARSE_INPUTS, frames.integers, own.sparse, rule=_SPARSE, kind="sparse",
          fits="object + tie, without the covariance"),
    _llbt("llbt-sparse-errors", "integers", "sparse-2e3", frames.integers, own.sparse_errors, rule=_SPARSE,
          kind="sparse", fits="object + tie, all standard errors"),
    _llbt("llbt-large", "integers", _LARGE_INPUTS, frames.integers, own.large, rule=_LARGE, kind="large",
          fits="object + tie, prior=0.1, estimates"),
    _llbt("llbt-large-million", "integers", "sparse-1e6", frames.integers, own.large, rule=None, kind="large",
          fits="object + tie, prior=0.1, estimates", limit=900),
    _llbt("llbt-large-leaderboard", "integers", f"{_LARGE_INPUTS} sparse-1e5-matchmade", frames.integers,
          own.large_leaderboard, rule=None, kind="large", fits="object + tie + order, prior=0.1, intervals and ranks",
          limit=300),
    _llbt("prototype-large", "codes", _LARGE_INPUTS, peers.code_arrays, own.large_prototype_fit, rule=_LARGE,
          kind="large", modules=("numpy", "scipy.sparse.linalg"), fits="the same by plain scipy CG, nothing checked",
          limit=600),
    _llbt("prototype-sparse", "codes", _SPARSE_INPUTS, peers.code_arrays, own.sparse_prototype_fit, rule=_SPARSE,
          kind="sparse", modules=("numpy", "scipy.sparse.linalg"), fits="the same by plain scipy CG, nothing checked"),
    _llbt("prototype", "integers", "S M L XL", own.prototype_integers, own.prototype_fit, modules=_NUMPY,
          fits="LLBT by plain numpy, nothing checked"),
    _llbt("prototype-strings", "strings", "S M L XL", frames.strings, own.prototype.fit_strings, modules=_NUMPY,
          fits="LLBT by plain numpy, nothing checked"),
    _llbt("prototype-bootstrap", "counts", "M L", frames.cube, own.prototype_bootstrap, rule=None, modules=_NUMPY,
          fits="1,000 chord refits by plain numpy in a loop"),
)  # fmt: skip

PEERS = (
    _peer("evalica-codes", "evalica", "evalica", "BT scores", HALF, "codes", "S M L XL", peers.evalica_codes,
          peers.evalica_bradley_terry),
    _peer("evalica-strings", "evalica", "evalica", "BT scores", HALF, "strings", "S M L XL", peers.evalica_strings,
          peers.evalica_bradley_terry),
    _peer("newman-codes", "evalica", "evalica", "BT scores with ties", DAVIDSON, "codes", "S M L XL",
          peers.evalica_codes, peers.evalica_newman),
    _peer("newman-strings", "evalica", "evalica", "BT scores with ties", DAVIDSON, "strings", "S M L XL",
          peers.evalica_strings, peers.evalica_newman),
    _peer("choix", "choix", "choix", "BT scores, counted by np.add.at", HALF, "codes", "S M L XL", peers.code_arrays,
          peers.choix_dense),
    _peer("choix-bincount", "choix", "choix", "BT scores, counted by one bincount", HALF, "codes", "S M L XL",
          peers.code_arrays, peers.choix_bincount),
    _peer("choix-lists", "choix", "choix", "Plackett-Luce, by ilsr_rankings", _LISTS, "lists", "lists",
          peers.rankings, peers.choix_rankings, kind="lists", limit=600),
    _peer("newman-sparse", "evalica", "evalica", "BT scores with ties", _SPARSE, "codes", _SURVIVED,
          peers.evalica_codes, peers.evalica_newman, kind="sparse", limit=30),
    _peer("choix-sparse", "choix", "choix", "BT scores, ties as half wins", None, "codes", _SURVIVED,
          peers.code_arrays, peers.choix_bincount, kind="sparse", limit=30),
    _peer("arena-rank", "arena-rank", "arena_rank.models.bradley_terry arena_rank.utils.data_utils",
          "BT scores and intervals", HALF, "strings", "S M L", frames.arena, peers.arena_rank),
    _peer("arena-rank-sides", "arena-rank", "arena_rank.models.contextual_bradley_terry arena_rank.utils.data_utils",
          "BT scores, style coefficients, intervals", _HALF_SIDES, "strings", "M-sides", frames.arena_with_sides,
          peers.arena_rank_sides, kind="sides"),
    _peer("leaderbot", "leaderbot", "leaderbot.models", "Davidson, scores", DAVIDSON, "counts", "S M L",
          peers.leaderbot_table, peers.leaderbot_davidson, limit=300),
    _peer("leaderbot-arena", "leaderbot", "leaderbot.models", "Davidson, scores", _ARENA, "counts", "arena",
          peers.leaderbot_shipped, peers.leaderbot_davidson, kind="arena", limit=300),
    _peer("leaderbot-rao-kupper", "leaderbot", "leaderbot.models", "Rao and Kupper, scores", _KUPPER, "counts", "L",
          peers.leaderbot_table, peers.leaderbot_rao_kupper, limit=300),
    _peer("leaderbot-rao-kupper-arena", "leaderbot", "leaderbot.models", "Rao and Kupper, scores", _KUPPER_ARENA,
          "counts", "arena", peers.leaderbot_shipped, peers.leaderbot_rao_kupper, kind="arena", limit=300),
    _peer("leaderbot-arena-default", "leaderbot", "leaderbot.models", "its default: factors of ties and covariances",
          None, "counts", "arena", peers.leaderbot_shipped, peers.leaderbot_default, kind="arena", limit=600),
    _peer("pyfixest", "pyfixest", "pyfixest", "the same LLBT", ORDER, "counts", "S M L", frames.explicit,
          peers.pyfixest, limit=300),
    _peer("glum", "glum", "glum pandas", "the same LLBT, dummies in a categorical", ORDER, "counts", "S M",
          frames.explicit, peers.glum, limit=300),
    _peer("statsmodels", "statsmodels", "statsmodels.genmod.generalized_linear_model", "the same LLBT, explicit GLM",
          ORDER, "counts", "S M", frames.explicit, peers.statsmodels_glm, limit=1_800),
    _peer("conditional-poisson", "statsmodels", "statsmodels.discrete.conditional_models",
          "the same LLBT, ConditionalPoisson", ORDER, "counts", "S M", frames.explicit, peers.statsmodels_conditional,
          limit=300),
    _peer("scipy-bt", "scipy", "pandas scipy.optimize", "BT scores by L-BFGS", HALF, "strings", "S M L",
          frames.strings, peers.scipy_bradley_terry),
    _peer("scipy-bt-bootstrap", "scipy", "pandas scipy.optimize", "1,000 resamples of rows (timed: 5)", None, "strings",
          "M L", frames.strings, peers.scipy_bootstrap, limit=300),
)  # fmt: skip

_CORRELATIONS = [(level, name) for level in ("input", "system") for name in ("pearson", "kendall")]
OWN += tuple(
    _llbt(f"llbt-{level}-{name}", "scores", "metrics", own.scores, own.metric_interval(level, name), rule=None,
          kind="metrics", fits=f"interval of {name} at {level} level, 1,000 resamples of both")
    for level, name in _CORRELATIONS
)  # fmt: skip
PEERS += tuple(
    _peer(f"nlpstats-{level}-{name}", "nlpstats", "nlpstats.correlations", "the same", None, "scores", "metrics",
          own.scores, peers.nlpstats_interval(level, name), kind="metrics", limit=300)
    for level, name in _CORRELATIONS
)  # fmt: skip

CONTESTANTS = {c.name: c for c in (*OWN, *PEERS)}
HERE = ("llbt", "scipy", "statsmodels")  # packages of llbt's own environment
PACKAGES = tuple(dict.fromkeys(c.package for c in PEERS if c.package not in HERE))
IMPORTED = {"arena-rank": "arena_rank"}  # where the module is called otherwise
