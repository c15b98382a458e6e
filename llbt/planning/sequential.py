"""When to stop: evidence that is valid at any time, whichever pairs are chosen during the study."""

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

    If you test repeatedly until something is significant, you will find something sooner or later. The evidence here is
    valid however often you look, whenever judging ends, and whichever pairs are chosen during the study, for example by
    `next_pairs`.

    Parameters
    ----------
    objects : sequence of labels
        All J objects that will be judged.
    by : str, optional
        The column of the judges (or prompts), a covariate or cluster of the later tables. Then each judge gives one
        score for each pair. Needed if judges differ: see Notes.
    alpha : float
        Probability of a wrong decision at any time.

    Returns
    -------
    Sequential
        A record without judgments; ``monitor = monitor.update(comparisons)`` adds judgments. ``to_frame()``: object_i,
        object_j, wins_i, undecided, wins_j; e_i and e_j, the evidence that i (or j) is better; p_value, of the
        hypothesis that they are equal, valid at any time; ahead, the better object if p ≤ alpha. ``leader``, ``leads``
        and ``p_value``: the object with the most evidence that it leads, whether this evidence suffices, and its
        p-value. ``path()``: the evidence after each update. ``test("A", "B", alternative="greater")``: the test of one
        pair.

    Raises
    ------
    OptionError
        For fewer than two objects, or an object that is named twice.
    DesignError
        For too many objects for the memory.

    Notes
    -----
    If λ_i ≤ λ_j, a decided judgment of the pair is for i with probability ½ at most. So bets on i at even odds have no
    expected gain, whatever the judgments. A bet stakes the share 2p − 1 of its wealth each time. There are 32 bets,
    with log-odds of p from .05 to 4, which share a wealth of 1 equally at the start. Their total wealth is an e-value
    at any time: if the hypothesis is true, the wealth ever reaches 1/alpha with probability alpha at most (Ville's
    inequality). Ties stake nothing, and grades count as wins. The e-value of λ_i = λ_j is the mean of the e-values of
    both sides. A p-value is 1 divided by the largest e-value so far.

    The evidence against the hypothesis that another object is as good as the leader is the smallest of the leader's J −
    1 e-values. It must reach J/alpha, because the judgments choose the leader. In streams of two equal objects, one
    seems to lead in 7 % with a threshold of 1/alpha (alpha = .05), and in 3 % with J/alpha.

    For one pair with odds of 1.5 it takes 236 decided judgments on average until p ≤ .05, and 85 with odds of 2. A sign
    test of a fixed number of judgments with power .8 needs 210 and 77; half of the streams have ended by then.

    Evidence comes only from the pair's own judgments. It uses no model, and no judgments of other pairs. So the
    leader's evidence needs judgments of ``monitor.next_pair``, which `next_pairs` may leave out if the model is
    certain. If there is an order effect, randomize which object is shown first. If a table that keeps the order shows
    that it was not random, a note says so.

    Without `by` judgments are taken as independent given the pair. They are not independent if judges (or prompts)
    differ. In simulations with two objects of equal worth on average, ten judges in sequence made 200 judgments each;
    their log-odds had standard deviation .5. One object seemed to be better in 87 % of streams. With ``by="judge"``
    each judge is a draw from a population and gives one score, the share of judgments for i (ties count half). Then one
    object seemed better in none of these streams, and in 2 % with 200 judges of standard deviation 1. Few judges cannot
    suffice: eight judges who always choose i give p = .052.

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
