"""When to stop: evidence that is valid at any time, whichever pairs were chosen on the way."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..base.arguments import Share, checked
from ..base.budgets import refuse_large
from ..core.columns import Label, refuse_surrogates
from ..errors import OptionError, kind_of
from .betting_evidence import N_BETS
from .evidence import Sequential

_COPIES = 3  # of the wealth, held at once by an update


@checked
def sequential(objects: Sequence[Label], *, by: str | None = None, alpha: Share = 0.05) -> Sequential:
    """Return a record that takes judgments as they arrive and gives valid p-values at any time.

    Whoever tests again and again until something is significant finds it sooner or later. The evidence here holds
    however often somebody looks, whenever judging ends, and whichever pairs are chosen on the way, such as by
    `next_pairs`.

    Parameters
    ----------
    objects : sequence of labels
        All J objects that will be judged.
    by : str, optional
        The column of the judges (or prompts), a covariate or cluster of the tables to come: each judge is one score for
        each pair then. Needed where judges differ: see Notes.
    alpha : float
        Probability of a wrong decision at any time.

    Returns
    -------
    Sequential
        Without judgments; ``monitor = monitor.update(comparisons)`` has more. ``to_frame()``: object_i, object_j,
        wins_i, undecided, wins_j; e_i and e_j, the evidence that i (or j) is the better one; p_value, of the hypothesis
        that they are alike, valid at any time; ahead, the better object where p ≤ alpha. ``leader``, ``leads`` and
        ``p_value``: whether the leader leads. ``path()``: the evidence after each update.
        ``test("A", "B", alternative="greater")``: of one pair.

    Raises
    ------
    OptionError
        For fewer than two objects, or one named twice.
    DesignError
        For so many objects that the evidence on their pairs does not fit into memory.

    Notes
    -----
    If λ_i ≤ λ_j, a decided judgment of the pair is for i with probability ½ at most. So bets on i at even odds have no
    expected gain, whichever judgments they are on. A bet stakes the share 2p − 1 of its wealth each time, with log-odds
    of p from .05 to 4; there are 32, with equal parts of a wealth of 1 at the start. Their wealth is an e-value at any
    time: if the hypothesis is true, it ever reaches 1/alpha with probability alpha at most (Ville's inequality). Ties
    stake nothing, grades count as wins. Of λ_i = λ_j the e-value is the mean of both sides'; p-values are 1 over the
    largest so far.

    That another object is as good as the leader has the least of the leader's J − 1 e-values for evidence against it.
    That has to reach J/alpha, since the leader is chosen by the judgments: of two objects alike one seems to lead at
    1/alpha in 7 % of streams (alpha = .05), at J/alpha in 3 %.

    For one pair with odds of 1.5 it takes 236 decided judgments on average until p ≤ .05, and 85 with odds of 2. A sign
    test of a fixed number of judgments with power .8 needs 210 and 77; half of the streams have ended by then.

    Evidence comes from the pair's own judgments alone. It uses no model, and no judgments of other pairs.
    So the leader's evidence waits for ``monitor.next_pair``, which `next_pairs` may leave out where the model is sure.
    Where there is an order effect, which object is shown first must be drawn by lot; a note says where tables that keep
    the order tell otherwise.

    Without `by` judgments are taken as independent given the pair. They are not if judges (or prompts) differ.
    Simulated with two objects of equal worth on average, and ten judges in sequence with 200 judgments each, whose
    log-odds have standard deviation .5: one object seems to be better in 87 % of streams. With ``by="judge"`` each
    judge is a draw from a population and has one score, the share of judgments for i (ties a half): in none of these,
    and with 200 judges of standard deviation 1 in 2 %. Judges can be too few: eight who say nothing but i have p =
    .052.

    References
    ----------
    Waudby-Smith, I. & Ramdas, A. (2024). Estimating means of bounded random variables by betting. Journal of the Royal
    Statistical Society B 86(1), 1-27.

    Ramdas, A., Grünwald, P., Vovk, V. & Shafer, G. (2023). Game-theoretic statistics and safe anytime-valid inference.
    Statistical Science 38(4), 576-601.

    Examples
    --------
    >>> import llbt
    >>> monitor = llbt.planning.sequential(["A", "B"])
    >>> monitor = monitor.update(llbt.from_matrix([[0, 12], [5, 0]], names=["A", "B"]))
    >>> monitor.leads, round(monitor.p_value, 3)
    (False, 0.991)
    >>> monitor = monitor.update(llbt.from_matrix([[0, 20], [4, 0]], names=["A", "B"]))
    >>> monitor.leads, monitor.leader, round(monitor.p_value, 4)
    (True, 'A', 0.0119)
    """
    if isinstance(objects, str) or not isinstance(objects, Sequence) or len(objects) < 2:
        raise OptionError(f"objects is {kind_of(objects)}", expected="a list of two objects or more: ['A', 'B']")
    refuse_surrogates("objects=", objects)
    if len(set(objects)) < len(objects):
        raise OptionError(f"objects={list(objects)!r}", expected="each object once")
    size = len(objects)
    refuse_large(
        f"the evidence on the pairs of {size:,} objects", _COPIES * float(size) ** 2 * N_BETS, "Take fewer objects."
    )
    none = np.zeros((size, size))
    return Sequential(
        tuple(objects),
        by,
        float(alpha),
        none,
        none,
        none,
        np.zeros((size, size, N_BETS)),
        none,
        none,
        np.zeros(size),
        frozenset(),
        (),
    )
