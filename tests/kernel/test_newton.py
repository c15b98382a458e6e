"""Newton's method, of functions whose maximum is known."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy import linalg, sparse
from scipy.sparse.linalg import spsolve

from llbt.kernel.newton import InParameters, Step, moving, newton


@dataclass(frozen=True)
class Point:
    """Σ y·x − n log(1 + eˣ) of coordinates by themselves: the maximum is the log-odds of y out of n."""

    params: np.ndarray
    value: float
    gradient: np.ndarray
    information: np.ndarray


WON, GAMES = np.array([3.0, 8.0, 40.0]), np.array([10.0, 10.0, 50.0])


def at(params: np.ndarray, won: np.ndarray = WON) -> Point:
    p = 1 / (1 + np.exp(-params))
    value = float(won @ params - GAMES @ np.logaddexp(0, params))
    return Point(params, value, won - GAMES * p, np.diag(GAMES * p * (1 - p)))


def solve(point: Point, free: np.ndarray) -> np.ndarray:
    return linalg.solve(point.information[np.ix_(free, free)], point.gradient[free], assume_a="pos")


def reach(step: np.ndarray) -> float:
    return float(np.abs(step).max())


def ascent(held: np.ndarray | None = None, evaluate=at, solver=solve) -> InParameters[Point]:
    return InParameters(evaluate, solver, moving(3, held), reach)


def test_the_maximum_is_found_with_its_last_step():
    found = newton(ascent(), at(np.zeros(3)))
    np.testing.assert_allclose(found.point.params, np.log(WON / (GAMES - WON)), rtol=1e-13)
    assert found.converged
    assert found.n_iter <= 6
    before = at(found.point.params - found.step.values)
    assert found.step.decrement == pytest.approx(before.gradient @ found.step.values, rel=1e-6)


def test_a_held_parameter_stays_where_it_starts():
    found = newton(ascent(np.array([False, True, False])), at(np.array([0.0, 0.3, 0.0])))
    wanted = np.log(WON / (GAMES - WON))
    np.testing.assert_allclose(found.point.params, [wanted[0], 0.3, wanted[2]], rtol=1e-13)


def test_the_caller_solves_so_that_an_information_may_be_sparse():
    def by_sparse(point: Point, free: np.ndarray) -> np.ndarray:
        return spsolve(sparse.csc_array(point.information)[free][:, free], point.gradient[free])

    dense, thin = (newton(ascent(solver=how), at(np.zeros(3))) for how in (solve, by_sparse))
    np.testing.assert_allclose(thin.point.params, dense.point.params, rtol=1e-13)


def test_a_far_start_is_left_by_bounded_steps_that_rise():
    seen = []

    def evaluate(params: np.ndarray) -> Point:
        seen.append(params)
        return at(params)

    found = newton(ascent(evaluate=evaluate), at(np.array([5.0, -6.0, 7.0])))
    np.testing.assert_allclose(found.point.params, np.log(WON / (GAMES - WON)), rtol=1e-13)
    assert found.converged
    assert np.abs(np.diff([[5.0, -6.0, 7.0], *seen], axis=0)[0]).max() <= 3 + 1e-12


def test_a_step_that_is_never_accepted_is_not_taken():
    def falling(point: Point, free: np.ndarray) -> np.ndarray:
        return -solve(point, free)

    start = at(np.zeros(3))

    class Wrong(InParameters[Point]):
        def step(self, point: Point) -> Step:
            step = super().step(point)
            return Step(step.values, -step.decrement, step.reach)

    found = newton(Wrong(at, falling, np.arange(3), reach), start)
    assert found.ended == "no ascent"
    assert not found.converged
    assert found.point is start
    assert found.n_iter == 0


def test_a_likelihood_without_a_maximum_ends_nowhere_while_steps_are_long():
    def evaluate(params: np.ndarray) -> Point:
        return at(params, np.array([3.0, 8.0, 50.0]))

    far = newton(ascent(evaluate=evaluate), evaluate(np.zeros(3)), enough=1e-9, short=1e-4, most=25)
    assert far.ended in ("steps", "singular")
    assert far.point.params[2] > 20


def test_where_there_is_no_step_the_reason_is_handed_back():
    def singular(point: Point, free: np.ndarray) -> np.ndarray:
        raise linalg.LinAlgError("nothing is known")

    found = newton(ascent(solver=singular), at(np.zeros(3)))
    assert found.ended == "singular"
    assert str(found.failure) == "nothing is known"
    assert found.n_iter == 0


def test_the_caller_may_stop_a_search():
    found = newton(ascent(), at(np.zeros(3)), ends=lambda point, step, n_iter: n_iter == 2)
    assert found.ended == "stopped"
    assert found.n_iter == 2
