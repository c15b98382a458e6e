"""Mixtures of K classes of judges, where each class has its own parameters of one design: EM from many starts at once.

A judge g belongs to class k with probability π_k, and all of g's judgments have the probabilities of that class:
L = Σ_g r_g log Σ_k π_k Π_s p_k(s)^n_gs, with r_g judges who gave exactly the same answers. The E-step multiplies the
sparse table of answers twice by the log-probabilities of all classes of all starts. The M-step makes a table of
weighted counts for each class of each start, and fits all of them by Newton steps at once (Dempster, Laird & Rubin
1977). If the information at the end is positive definite, Newton's method on L itself gives the last digits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy import linalg, optimize, sparse, special

from .indexed_rows import FloatArray, IntArray
from .likelihood import Problem
from .newton import Step, newton

_STEPS = 2000  # most steps of EM
_GAIN = 1e-8  # gain of the log-likelihood in a step at which EM ends
_CLOSE = 1e-5  # the same for the best starts, which go on after a rough search
_KEPT = 3  # the number of starts that go on after a rough search
_LONGEST = 2.0  # the most that a step moves a predictor
_RIDGE = 1e-10  # ridge of the scaled information, for a class whose judges do not inform some direction
_POLISH = 25  # most Newton steps at the end
_FLAT = 1e-9  # least eigenvalue of the scaled information at a maximum
FAR = 12.0  # larger predictors mean probabilities of 1e-10 and less
_TOGETHER = 3e7  # numbers in memory at once


@dataclass(frozen=True, eq=False)
class Answers:
    """The answers of G' distinct judges, in a design of S comparisons with C outcomes.

    Attributes
    ----------
    problem : Problem
        The design; its counts are those of all judges.
    table : csr_matrix, shape (G', S·C)
        Counts of each judge.
    repeats : ndarray, shape (G',)
        How many judges gave exactly these answers.
    index : ndarray of int, shape (G,)
        The row of `table` that has each judge's answers.
    common : ndarray of bool, shape (p,)
        Parameters that all classes share.
    prior : ndarray, shape (S, C)
        Counts added to the counts of every class.
    """

    problem: Problem
    table: sparse.csr_matrix
    repeats: FloatArray
    index: IntArray
    common: npt.NDArray[np.bool_]
    prior: FloatArray

    @classmethod
    def of(
        cls, problem: Problem, table: sparse.csr_matrix, common: npt.NDArray[np.bool_], prior: FloatArray
    ) -> Answers:
        """Return the answers of G judges, one line of the table (G, S·C) each; equal lines become one."""
        table.sort_indices()
        seen: dict[bytes, int] = {}
        index = np.empty(table.shape[0], dtype=np.int64)
        for judge in range(table.shape[0]):
            own = slice(table.indptr[judge], table.indptr[judge + 1])
            key = table.indices[own].tobytes() + table.data[own].tobytes()
            index[judge] = seen.setdefault(key, len(seen))
        _, some, repeats = np.unique(index, return_index=True, return_counts=True)
        return cls(problem, table[some], repeats.astype(np.float64), index, common, prior)

    @property
    def judges(self) -> int:
        """The number of judges G."""
        return len(self.index)

    def weighted(self, counts: FloatArray) -> Answers:
        """Return the answers with each judge counted `counts` (G,) times; `judges` and `index` do not change."""
        repeats = np.bincount(self.index, counts, len(self.repeats)).astype(np.float64)
        total = np.asarray(repeats @ self.table).reshape(self.problem.counts.shape)
        return replace(self, problem=replace(self.problem, counts=total), repeats=repeats)

    def drawn(self, shares: FloatArray, params: FloatArray, rng: np.random.Generator) -> Answers:
        """Return simulated answers of these judges under classes (K, p), as many to each comparison as in the data."""
        table, outcomes = self.table[self.index].tocoo(), self.problem.counts.shape[1]
        size = len(self.problem.counts)
        asked = sparse.csr_matrix((table.data, (table.row, table.col // outcomes)), shape=(self.judges, size)).tocoo()
        probability = np.moveaxis(self.problem.response.probabilities(self._predictors(params))[0], 0, -1)
        classes = rng.choice(len(shares), size=self.judges, p=shares / shares.sum())
        shares = probability[classes[asked.row], asked.col]
        floor = np.floor(asked.data + 1e-9)
        # rounds weighted judgments at random, so that the average is kept
        whole = floor + (rng.random(len(floor)) < asked.data - floor - 1e-9)
        counts = rng.multinomial(whole.astype(np.int64), shares / shares.sum(axis=1, keepdims=True))
        line, outcome = np.nonzero(counts)
        cell = asked.col[line].astype(np.int64) * outcomes + outcome
        data = counts[line, outcome].astype(np.float64)
        drawn = sparse.csr_matrix((data, (asked.row[line], cell)), shape=table.shape)
        total = np.asarray(drawn.sum(axis=0)).reshape(self.problem.counts.shape)
        return Answers.of(replace(self.problem, counts=total), drawn, self.common, self.prior)

    def _predictors(self, params: FloatArray) -> FloatArray:
        return np.stack([np.stack(self.problem.at(one), axis=0) for one in params], axis=1)

    def size(self, k: int) -> int:
        """Return the number of parameters of K classes, including their shares."""
        shared = int(self.common.sum())
        return k * (len(self.common) - shared) + shared + k - 1


@dataclass(frozen=True, eq=False)
class Mixture:
    """K classes, the largest first.

    Attributes
    ----------
    shares : ndarray, shape (K,)
    params : ndarray, shape (K, p)
    log_likelihood : float
        Without the prior.
    posterior : ndarray, shape (G', K)
    starts, reached : int
        How many starts were run to the end, and how many came within .001 of the best value.
    steps : int
        Steps of EM from the best start.
    converged : bool
    """

    shares: FloatArray
    params: FloatArray
    log_likelihood: float
    posterior: FloatArray
    starts: int
    reached: int
    steps: int
    converged: bool


@dataclass(frozen=True, eq=False)
class _State:
    """The state of R starts: log shares (R, K) and parameters (R, K, p)."""

    log_shares: FloatArray
    params: FloatArray

    def __getitem__(self, some: IntArray) -> _State:
        return _State(self.log_shares[some], self.params[some])


def mixture(
    answers: Answers,
    k: int,
    pooled: FloatArray,
    starts: int,
    rng: np.random.Generator,
    also: Mixture | None = None,
    tick: Callable[[int], None] | None = None,
    gain: float = _GAIN,
) -> Mixture:
    """Return the classes that the best of several starts leads to.

    Parameters
    ----------
    answers : Answers
    k : int
        The number of classes.
    pooled : ndarray, shape (p,)
        Estimates with a single class.
    starts : int
        The number of starts, each from classes around judges drawn at random; 0 to start from `also` alone.
    rng : Generator
    also : Mixture, optional
        A further start with K classes.
    tick : callable, optional
        Called whenever a start has ended.
    gain : float
        EM ends when a step gains less log-likelihood than this. If it is large, the best three starts go on until
        Newton's method takes over, and `reached` counts only these.
    """
    em = _Em.of(answers)
    states = [] if also is None else [_of(also)]
    if k == 1:
        states.append(_State(np.zeros((1, 1)), pooled[None, None, :].copy()))
    elif starts:
        states.append(em.drawn(k, pooled, starts, rng))
    state = _State(*(np.concatenate(pair) for pair in zip(*map(_arrays, states), strict=True)))
    begun = len(state.params)
    block = max(1, int(_TOGETHER / (k * max(answers.table.shape[0], answers.problem.counts.size, len(pooled) ** 2))))
    parts = [
        em.run(state[np.arange(first, min(first + block, len(state.params)))], gain, tick)
        for first in range(0, len(state.params), block)
    ]
    state = _State(*(np.concatenate(pair) for pair in zip(*(_arrays(part[0]) for part in parts), strict=True)))
    values, steps = (np.concatenate([part[at] for part in parts]) for at in (1, 2))
    if gain > _CLOSE:
        some = np.argsort(-values)[:_KEPT]
        state, values, steps = em.run(state[some], min(gain, _CLOSE), None)
    best = int(np.nanargmax(values))
    log_shares, params = state.log_shares[best], state.params[best]
    polished, converged = _polished(em, log_shares, params)
    order = np.argsort(-polished.log_shares[0], kind="stable")
    final = _State(polished.log_shares[:, order], polished.params[:, order])
    value, posterior = em.expectation(final)
    reached = int((values > max(values[best], em.penalized(final, value)[0]) - 1e-3).sum())
    return Mixture(
        np.exp(final.log_shares[0]), final.params[0], float(value[0]), posterior[:, 0], begun, reached,
        int(steps[best]), converged,
    )  # fmt: skip


def continued(answers: Answers, start: Mixture, pooled: FloatArray, starts: int, rng: np.random.Generator) -> Mixture:
    """Return the best classes from a start and `starts` random ones, in the order of the classes of the start.

    Classes are matched by the judges who belong to them: the chosen order is the one in which the posteriors agree
    most.
    """
    best = mixture(answers, len(start.shares), pooled, starts, rng, also=start)
    before = _Em.of(answers).expectation(_of(start))[1][:, 0]
    shared = before.T @ (answers.repeats[:, None] * best.posterior)
    order = optimize.linear_sum_assignment(shared, maximize=True)[1]
    return replace(best, shares=best.shares[order], params=best.params[order], posterior=best.posterior[:, order])


def judge_values(answers: Answers, shares: FloatArray, params: FloatArray) -> FloatArray:
    """Return log Σ_k π_k P(a judge's answers | class k) for every judge, shape (G,)."""
    log_shares = np.log(np.maximum(shares, 1e-300))
    logs = _Em.of(answers).log_probabilities(params)
    joint = answers.table @ logs.reshape(len(shares), -1).T + log_shares
    return np.asarray(special.logsumexp(joint, axis=1)[answers.index])


def _of(mixture_: Mixture) -> _State:
    return _State(np.log(np.maximum(mixture_.shares, 1e-300))[None, :], mixture_.params[None, :, :])


def _arrays(state: _State) -> tuple[FloatArray, FloatArray]:
    return state.log_shares, state.params


@dataclass(frozen=True, eq=False)
class _Em:
    """The design in the form that fits of many classes at once need."""

    answers: Answers
    transposed: sparse.csr_matrix
    rows: tuple[FloatArray, ...]
    squares: dict[tuple[int, int], sparse.csr_matrix]

    @classmethod
    def of(cls, answers: Answers) -> _Em:
        parts = [sparse.csr_matrix(part.tocsr()) for part in answers.problem.predictors]
        squares = {(b, c): _squares(parts[b], parts[c]) for b in range(len(parts)) for c in range(b, len(parts))}
        return cls(answers, answers.table.T.tocsr(), tuple(part.toarray() for part in parts), squares)

    def predictors(self, params: FloatArray) -> FloatArray:
        """Return the predictors of classes (…, p), shape (B, …, S)."""
        parts = zip(self.rows, self.answers.problem.offsets, strict=True)
        return np.stack([params @ rows.T + offset for rows, offset in parts])

    def log_probabilities(self, params: FloatArray) -> FloatArray:
        """Return the log-probabilities of classes (…, p), shape (…, S, C)."""
        probability, _ = self.answers.problem.response.probabilities(self.predictors(params))
        return np.log(np.maximum(np.moveaxis(probability, 0, -1), 1e-300))

    def expectation(self, state: _State) -> tuple[FloatArray, FloatArray]:
        """Return the log-likelihood of each start, (R,), and the posteriors, (G', R, K)."""
        logs = self.log_probabilities(state.params)
        r, k = state.log_shares.shape
        joint = np.asarray(self.answers.table @ logs.reshape(r * k, -1).T).reshape(-1, r, k) + state.log_shares
        top = joint.max(axis=2, keepdims=True)
        joint -= top
        np.exp(joint, out=joint)
        norm = joint.sum(axis=2, keepdims=True)
        joint /= norm
        return np.asarray(self.answers.repeats @ (top + np.log(norm))[:, :, 0]), joint

    def penalized(self, state: _State, value: FloatArray) -> FloatArray:
        """Return the log-likelihood including the prior's counts, (R,)."""
        if not self.answers.prior.any():
            return value
        added = np.einsum("rksc,sc->r", self.log_probabilities(state.params), self.answers.prior)
        return np.asarray(value + added)

    def weighted(self, posterior: FloatArray) -> FloatArray:
        """Return the counts of every class weighted by posteriors (G', R, K), shape (R, K, S, C)."""
        size, r, k = posterior.shape
        weights = (posterior * self.answers.repeats[:, None, None]).reshape(size, r * k)
        counts = np.asarray(self.transposed @ weights).T.reshape(r, k, *self.answers.problem.counts.shape)
        return np.asarray(counts + self.answers.prior)

    def moments(self, params: FloatArray, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return scores (R, K, p) and informations (R, K, p, p) of classes with counts (R, K, S, C)."""
        response = self.answers.problem.response
        _, excess, weight = response.contributions(self.predictors(params), np.moveaxis(counts, 3, 0))
        score = np.sum([part @ rows for part, rows in zip(excess, self.rows, strict=True)], axis=0)
        classes = params.shape[0] * params.shape[1]
        parts = [squares @ weight[at].reshape(classes, -1).T for at, squares in self.squares.items()]
        return score, np.sum(parts, axis=0).T.reshape(*params.shape, params.shape[-1])

    def maximization(self, state: _State, counts: FloatArray) -> FloatArray:
        """Return parameters that are one Newton step nearer to the maximum of the weighted counts, shape (R, K, p)."""
        score, information = self.moments(state.params, counts)
        step = self.solved(score, information)
        moved = np.max([np.abs(step @ rows.T).max(axis=(1, 2)) for rows in self.rows], axis=0)
        return np.asarray(state.params + step * np.minimum(1.0, _LONGEST / np.maximum(moved, 1e-300))[:, None, None])

    def solved(self, score: FloatArray, information: FloatArray) -> FloatArray:
        """Return Newton steps (R, K, p); classes are linked by the parameters that all of them share."""
        common = self.answers.common
        if not common.any():
            return np.asarray(_solve(information, score[..., None])[..., 0])
        if common.all():
            step = _solve(information.sum(axis=1), score.sum(axis=1)[..., None])[..., 0]
            return np.repeat(step[:, None, :], score.shape[1], axis=1)
        own, cross = information[..., ~common, :][..., ~common], information[..., ~common, :][..., common]
        eliminated = _solve(own, np.concatenate([cross, score[..., ~common, None]], axis=-1))
        slope, shift = eliminated[..., :-1], eliminated[..., -1]
        shared = information[..., common, :][..., common] - np.swapaxes(cross, -1, -2) @ slope
        rest = score[..., common] - np.einsum("rkpc,rkp->rkc", cross, shift)
        joint = _solve(shared.sum(axis=1), rest.sum(axis=1)[..., None])[..., 0]
        step = np.empty_like(score)
        step[..., common] = joint[:, None, :]
        step[..., ~common] = shift - np.einsum("rkpc,rc->rkp", slope, joint)
        return step

    def drawn(self, k: int, pooled: FloatArray, starts: int, rng: np.random.Generator) -> _State:
        """Return random starts: K judges are drawn, and every other judge joins the nearest of them.

        The first parameters of a class come from the drawn judge's judgments plus a share of all judgments.
        """
        answers = self.answers
        people = rng.permuted(np.tile(np.arange(answers.judges), (starts, 1)), axis=1)[:, :k]
        seeds = np.zeros((answers.table.shape[0], starts, k))
        at = np.broadcast_to(np.arange(starts)[:, None], people.shape), np.broadcast_to(np.arange(k), people.shape)
        seeds[answers.index[people], at[0], at[1]] = 1.0
        own = np.asarray(self.transposed @ seeds.reshape(len(seeds), -1)).T
        own = own.reshape(starts, k, *answers.problem.counts.shape)
        everybody = answers.problem.counts / answers.judges
        counts = own + 0.5 * everybody + 1e-3 * answers.problem.counts.sum() / answers.problem.counts.size
        state = _State(np.full((starts, k), -np.log(k)), np.tile(pooled, (starts, k, 1)))
        for _ in range(3):
            state = replace(state, params=self.maximization(state, counts))
        return state

    def run(
        self, state: _State, gain: float, tick: Callable[[int], None] | None
    ) -> tuple[_State, FloatArray, IntArray]:
        """Return the state where EM ends, its (penalized) log-likelihoods (R,), and the number of its steps (R,)."""
        size = len(state.params)
        log_shares, params = state.log_shares.copy(), state.params.copy()
        values, steps = np.full(size, -np.inf), np.zeros(size, dtype=np.int64)
        active = np.arange(size)
        for _ in range(_STEPS):
            here = _State(log_shares[active], params[active])
            value, posterior = self.expectation(here)
            value = self.penalized(here, value)
            ended = np.abs(value - values[active]) < gain * np.maximum(1.0, np.abs(value) * 1e-3)
            values[active] = value
            if tick is not None and ended.any():
                tick(int(ended.sum()))
            go = ~ended
            active, posterior, here = active[go], posterior[:, go], here[np.flatnonzero(go)]
            if not len(active):
                break
            share = np.einsum("g,grk->rk", self.answers.repeats, posterior) / self.answers.repeats.sum()
            params[active] = self.maximization(here, self.weighted(posterior))
            log_shares[active] = np.log(np.maximum(share, 1e-300))
            steps[active] += 1
        return _State(log_shares, params), values, steps

    def judge_scores(self, params: FloatArray) -> FloatArray:
        """Return the score of each judge in the parameters of each class (K, p), shape (G', K, p)."""
        answers, response = self.answers, self.answers.problem.response
        probability, _ = response.probabilities(self.predictors(params))
        scores = np.empty((answers.table.shape[0], *params.shape))
        for k in range(len(params)):
            slopes = response.slopes(probability[:, k])
            rows = np.sum([slopes[:, b, :, None] * part for b, part in enumerate(self.rows)], axis=0)
            scores[:, k] = answers.table @ np.moveaxis(rows, 0, 1).reshape(-1, params.shape[1])
        return scores


def _squares(rows: sparse.csr_matrix, others: sparse.csr_matrix) -> sparse.csr_matrix:
    """Return the symmetrized products of two predictors' rows, shape (p², S); most of them are 0."""
    size = rows.shape[1]
    comparison, a, b, value = [], [], [], []
    for offset in range(int(np.diff(rows.indptr).max(initial=0))):
        for other in range(int(np.diff(others.indptr).max(initial=0))):
            first, second = rows.indptr[:-1] + offset, others.indptr[:-1] + other
            both = np.flatnonzero((first < rows.indptr[1:]) & (second < others.indptr[1:]))
            comparison.append(both)
            a.append(rows.indices[first[both]])
            b.append(others.indices[second[both]])
            value.append(rows.data[first[both]] * others.data[second[both]])
    at, x, y, products = (np.concatenate([np.empty(0, dtype=np.int64), *part]) for part in (comparison, a, b, value))
    symmetric = sparse.csr_matrix((products, (x * size + y, at)), shape=(size * size, rows.shape[0]))
    if rows is not others:
        symmetric = symmetric + sparse.csr_matrix((products, (y * size + x, at)), shape=symmetric.shape)
    return symmetric


def _solve(matrices: FloatArray, sides: FloatArray) -> FloatArray:
    """Solve scaled positive semidefinite systems, with a little of the identity added."""
    scale = 1 / np.sqrt(np.maximum(np.einsum("...pp->...p", matrices), 1e-300))
    scaled = matrices * scale[..., :, None] * scale[..., None, :] + _RIDGE * np.eye(matrices.shape[-1])
    return np.asarray(scale[..., None] * np.linalg.solve(scaled, scale[..., None] * sides))


@dataclass(frozen=True, eq=False)
class Curvature:
    """The score (q,) and the observed information (q, q) of a mixture.

    The parameters are those of class 1, class 2, and so on, then the common ones once, then log π_k − log π_1 for k = 2
    … K. `spread` (K·p + K − 1, q) maps them to (K, p) parameters.
    """

    score: FloatArray
    information: FloatArray
    spread: FloatArray


def curvature(answers: Answers, shares: FloatArray, params: FloatArray) -> Curvature:
    """Return the derivatives of the log-likelihood (with the prior's counts) of a mixture."""
    return _curvature(_Em.of(answers), np.log(np.maximum(shares, 1e-300)), params)


def _curvature(em: _Em, log_shares: FloatArray, params: FloatArray) -> Curvature:
    answers, (k, p) = em.answers, params.shape
    state = _State(log_shares[None, :], params[None, :, :])
    _, posterior = em.expectation(state)
    score, information = em.moments(state.params, em.weighted(posterior))
    own = em.judge_scores(params)
    weight = posterior[:, 0, :]
    judges = answers.repeats
    size = k * p + k - 1
    joint = np.zeros((size, size))
    total = np.zeros(size)
    total[: k * p] = score[0].ravel()
    total[k * p :] = (judges @ weight - judges.sum() * np.exp(log_shares))[1:]
    mean = np.empty((len(judges), size))
    mean[:, : k * p] = (weight[:, :, None] * own).reshape(len(judges), -1)
    mean[:, k * p :] = weight[:, 1:]
    for c in range(k):
        at = slice(c * p, (c + 1) * p)
        w = judges * weight[:, c]
        joint[at, at] += information[0, c] - own[:, c].T @ (w[:, None] * own[:, c])
        if c:
            cross = w @ own[:, c]
            joint[at, k * p + c - 1] -= cross
            joint[k * p + c - 1, at] -= cross
            joint[k * p + c - 1, k * p + c - 1] -= w.sum()
    joint += mean.T @ (judges[:, None] * mean)
    pi = np.exp(log_shares)[1:]
    joint[k * p :, k * p :] += judges.sum() * (np.diag(pi) - np.outer(pi, pi))
    spread = _spread(answers.common, k)
    return Curvature(spread.T @ total, spread.T @ joint @ spread, spread)


def _spread(common: npt.NDArray[np.bool_], k: int) -> FloatArray:
    p, shared = len(common), int(common.sum())
    own = p - shared
    onto = np.zeros((k * p + k - 1, k * own + shared + k - 1))
    for c in range(k):
        onto[c * p + np.flatnonzero(~common), c * own + np.arange(own)] = 1.0
        onto[c * p + np.flatnonzero(common), k * own + np.arange(shared)] = 1.0
    onto[k * p + np.arange(k - 1), k * own + shared + np.arange(k - 1)] = 1.0
    return onto


def _polished(em: _Em, log_shares: FloatArray, params: FloatArray) -> tuple[_State, bool]:
    """Return the maximum near the end of EM by Newton's method, and whether its parameters are finite."""
    ascent = _Polish(em)
    search = newton(ascent, ascent.at(_State(log_shares[None, :], params[None, :, :])), most=_POLISH)
    return search.point.state, search.converged


@dataclass(frozen=True, eq=False)
class _Height:
    """A mixture, and its (penalized) log-likelihood."""

    state: _State
    value: float


@dataclass(frozen=True, eq=False)
class _Polish:
    """The log-likelihood of one mixture; a step moves the free parameters and the log ratios, (q,)."""

    em: _Em

    def at(self, state: _State) -> _Height:
        """Return the log-likelihood of a mixture."""
        return _Height(state, float(self.em.penalized(state, self.em.expectation(state)[0])[0]))

    def step(self, point: _Height) -> Step:
        """Return Newton's step.

        Raises
        ------
        LinAlgError
            Where the information is not positive definite: a class has infinite estimates, or the point is a saddle.
            The point where EM ended is then as good.
        """
        here = _curvature(self.em, point.state.log_shares[0], point.state.params[0])
        scale = 1 / np.sqrt(np.maximum(np.diag(here.information), 1e-300))
        values, vectors = np.linalg.eigh(here.information * np.outer(scale, scale))
        if values.min(initial=np.inf) < _FLAT:
            raise linalg.LinAlgError("no maximum with finite parameters")
        step = scale * (vectors @ ((vectors.T @ (scale * here.score)) / values))
        return Step(here.spread @ step, float(step @ here.score))

    def moved(self, point: _Height, step: FloatArray) -> _Height:
        """Return the mixture that a step leads to."""
        _, k, p = point.state.params.shape
        params = point.state.params + step[: k * p].reshape(1, k, p)
        logits = point.state.log_shares[0] + np.append(0.0, step[k * p :])
        return self.at(_State((logits - special.logsumexp(logits))[None, :], params))
