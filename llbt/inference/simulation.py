"""New tables drawn from a fit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..base.arguments import Count, Positive, Rng, as_generator, checked
from ..base.budgets import refuse_draws
from ..base.table import counted
from ..core.comparisons import Comparisons
from ..core.patterns import Patterns
from ..core.rankings import Rankings
from ..errors import OptionError
from ..fitting.class_worths import ClassWorths
from ..fitting.fitted import AnyFit, ClassSource, ClassWorthSource
from ..fitting.protocols import WithEffects, has_effects
from .expected import expected_counts
from .kinds import drawn_answers
from .mixed_tables import Judges, drawn_of_classes, drawn_table
from .simulated_counts import draw_parametric, with_counts

_MOST = 1e15  # most judgments of a comparison: counts are exact up to here


@checked
def simulate(
    res: AnyFit | ClassSource,
    n: Count = 1,
    *,
    times: Positive = 1,
    judges: Judges | None = None,
    rng: Rng = None,
) -> tuple[Comparisons, ...] | tuple[Rankings, ...] | tuple[Patterns, ...]:
    """Return new tables drawn from a fit, with the same totals of comparisons or a multiple of them.

    Parameters
    ----------
    res : a fit or latent classes
    n : int
        The number of tables.
    times : float
        The factor for the number of judgments of each comparison: 6 for a study of the same design, six times as large.
    judges : {"new", "same"}, optional
        For a fit with effects of judges. "new" (the default): each table has new judges, with effects drawn from their
        distribution. "same": the same judges, with their most probable effects. These effects are shrunk towards 0, so
        the judges differ less than new judges.
    rng : numpy.random.Generator or int, optional

    Returns
    -------
    tuple of Comparisons, Rankings or Patterns
        Data of the type that was fitted. Tables have no clusters, because the model does not tell which cluster a
        judgment comes from. For a fit with effects the tables have the same clusters, each with as many judgments of
        each comparison; new judges have the names of the old ones. The same is true for latent classes; the class of
        each new judge is drawn by the shares. For a fit of rankings there are as many rankings, with the same objects
        and covariates and as many places. For a fit of patterns there are as many judges, with the same covariates and
        as many missing answers. A fractional total is rounded up with the probability of its fraction, else down.

    Raises
    ------
    OptionError
        For `times` that is not a positive number or gives totals beyond 10¹⁵, and for `judges` if the fit has no
        effects.

    Examples
    --------
    >>> import llbt
    >>> res = llbt.fit("object + tie", llbt.load_dataset("dras_table1").pool())
    >>> one, other = llbt.simulate(res, 2, rng=1)
    >>> one.n_judgments
    960
    >>> llbt.simulate(res, times=2.5, rng=1)[0].n_judgments
    2400
    """
    if isinstance(res, ClassWorthSource):
        return _with_classes(res.class_worths(), n, times, judges, as_generator(rng))
    if not isinstance(res.answers, Comparisons):
        if times != 1 or judges is not None:
            raise OptionError(
                f"{'times' if times != 1 else 'judges'}= with a fit of rankings, sets or patterns",
                "Leave it out: as many answers are drawn as the data have.",
            )
        return drawn_answers(res, n, as_generator(rng))
    c = res.comparisons
    larger = _larger(c, times)
    spec = res.specification
    by = "" if spec.discrimination is None else f" with the discriminations of each {spec.discrimination}"
    note = f"counts simulated from {spec.formula!r}{by}{larger}"
    if has_effects(res):
        return _with_judges(res, n, times, judges or "new", note, as_generator(rng))
    if judges is not None:
        raise OptionError(
            f"judges={judges!r}, but this fit has no judges drawn from a population",
            "Leave it out, or fit effects of judges: fit('object + tie + (object | judge)', c).",
        )
    means = expected_counts(res)
    refuse_draws("keeping the counts of {n} tables", n, 4.0 * means.size)
    drawn = draw_parametric(times * means, n, as_generator(rng))
    notes = (*c.notes, note, *(("clusters forgotten",) if c.clusters else ()))
    return tuple(replace(with_counts(c, counts), cluster_counts=None, notes=notes) for counts in drawn)


def _larger(c: Comparisons, times: float) -> str:
    """Return the multiple of judgments in words; raise for totals that a table cannot hold exactly."""
    if times * c.totals.max() > _MOST:
        raise OptionError(f"times={times!r}", expected=f"no total of a comparison beyond {_MOST:.0e} judgments")
    return "" if times == 1 else f", {times:.4g} times as many judgments"


def _with_classes(
    of: ClassWorths, n: int, times: float, judges: Judges | None, rng: np.random.Generator
) -> tuple[Comparisons, ...]:
    if judges == "same":
        raise OptionError(
            f"judges={judges!r}, but the class of a judge is not known for certain",
            "Leave it out: the class of each judge is drawn.",
        )
    c, formula = of.pooled.comparisons, of.pooled.specification.formula
    note = f"counts simulated from {counted(len(of.shares), 'class').replace('classs', 'classes')} of {formula!r}"
    notes = (*c.notes, f"{note}{_larger(c, times)}, new judges")
    return tuple(replace(drawn_of_classes(of, rng, times), notes=notes) for _ in range(n))


def _with_judges(
    res: WithEffects, n: int, times: float, judges: Judges, note: str, rng: np.random.Generator
) -> tuple[Comparisons, ...]:
    text = f"{note}, {'new judges' if judges == 'new' else 'the same judges'}"
    drawn = (drawn_table(res, rng, times=times, judges=judges) for _ in range(n))
    return tuple(replace(table, notes=(*res.comparisons.notes, text)) for table in drawn)
