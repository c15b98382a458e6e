"""What a fit has beside what every kind has: asked by guards, none of which asks for a class."""

from __future__ import annotations

import numpy as np
import pytest
from support.questions import KINDS, fit_of

from llbt.fitting import protocols
from llbt.fitting.fitted import is_fit

GUARDS = {
    "has_effects": {"mixed"},
    "has_discriminations": {"discrimination"},
    "has_lists": {"rankings"},
    "has_cells": {"plain", "discrimination", "large"},
    "has_many_worths": {"large"},
}


@pytest.mark.parametrize("guard", GUARDS)
def test_a_guard_holds_for_the_kinds_that_have_what_it_asks_for(guard: str) -> None:
    fits = {kind for kind in KINDS if is_fit(fit_of(kind))}
    assert fits == set(KINDS) - {"classes", "calibrated"}
    assert {kind for kind in fits if getattr(protocols, guard)(fit_of(kind))} == GUARDS[guard]


def test_fits_of_all_kinds_have_what_the_protocol_says() -> None:
    members = [name for name in vars(protocols.FitLike) if not name.startswith("_")]
    assert len(members) >= 7
    for kind in KINDS:
        if is_fit(fit_of(kind)):
            assert all(hasattr(fit_of(kind), name) for name in members), kind
            assert np.isfinite(fit_of(kind).params).any()
