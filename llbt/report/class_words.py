"""The preferences of each latent class and of all judges, and how surely judges belong to a class, in sentences."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import special

from ..auditing.finding import p_text
from ..base.table import counted, format_count, format_number, format_percent, format_share
from ..core.columns import Label
from ..inference.log_worths import averaged_share
from ..inference.pairwise import pairwise
from ..inference.ranks import leaderboard
from ..inference.worth import worth
from ..judges.class_protocol import ClassesLike
from .preference_words import Sentence, interval_text, odds_text, order_text, valued

SURE = 0.9  # a posterior probability from which on a judge is placed
_CERTAIN = 0.9995  # one that is printed as 1


def class_topics(classes: ClassesLike, confidence: float) -> dict[str, Sentence]:
    """Return sentences on the model, the preferences of each class and of all judges, and the certainty of classes."""
    topics = {"model": _model(classes)}
    if "worth" not in classes.pooled.design.blocks:
        return topics | {"preference": ("The classes have no worths.", {}), "judges": _certainty(classes)}
    topics |= _preferences(classes, confidence)
    topics["all judges"] = _mixture(classes, confidence)
    topics["judges"] = _certainty(classes)
    return topics


def _model(mixture: ClassesLike) -> Sentence:
    judges, judgments = len(mixture.by_judge.levels), float(mixture.n_judgments)
    classes = "1 latent class" if mixture.k == 1 else f"{mixture.k} latent classes"
    text = f"{classes} of {mixture.by_judge.name} ({mixture.pooled.specification.formula}) "
    text += f"{'was' if mixture.k == 1 else 'were'} fitted to {counted(judgments, 'judgment')} by "
    text += f"{counted(judges, 'judge')} of {format_count(len(mixture.pooled.comparisons.objects))} objects"
    if mixture.by_judge.answers.prior.any():
        text += ", with a prior"
    reached, starts = mixture.mixture.reached, mixture.mixture.starts
    if mixture.k > 1 and starts > 1 and reached == 1:
        text += f"; only 1 of {starts} starts reached this likelihood, so a better one may exist: take more starts="
    numbers = {"classes": float(mixture.k), "judges": float(judges), "judgments": judgments}
    return f"{text}.", numbers | {"starts": float(starts), "starts that reached it": float(reached)}


def _preferences(classes: ClassesLike, confidence: float) -> dict[str, Sentence]:
    """Return what each class prefers, by how much, and how many pairs differ, with tests adjusted over all classes."""
    plain = classes.pooled.response.plain_odds
    worths = worth(classes, "average", "probability", confidence=confidence).to_frame()
    pairs = pairwise(
        classes, at="average", scale="log_odds" if plain else "log_worth", confidence=confidence
    ).to_frame()
    several = classes.k > 1
    sentences = {}
    for label in classes.labels:
        own, apart = worths[worths["class"] == label], pairs[pairs["class"] == label]
        sentences[f"class {label}"] = _preference(classes, label, own, apart, confidence, several=several)
    return sentences


def _preference(
    classes: ClassesLike, label: int, worths: pd.DataFrame, pairs: pd.DataFrame, confidence: float, *, several: bool
) -> Sentence:
    share, error = float(classes.shares[label]), float(classes.share_errors[label])
    worths = worths[worths["estimate"].notna()]
    objects, values = worths["object"].tolist(), worths["estimate"].to_numpy()
    numbers = {f"share of class {label}": share, f"error of share {label}": error}
    numbers |= {f"worth of {o} in class {label}": float(v) for o, v in zip(objects, values, strict=True)}
    order = order_text([valued(o, v) for o, v in zip(objects, values, strict=True)], np.log(values))
    known = f" (standard error {format_percent(error)})" if np.isfinite(error) and several else ""
    by_worths = " (worths)" if classes.pooled.response.plain_odds else ""
    text = f"Class {label} has {format_percent(share)} of the judges{known}: {order}{by_worths}"
    if len(objects) < 2:
        return f"{text}.", numbers
    if label in classes.infinite:
        return f"{text}; its estimates are not finite, so it is not tested.", numbers
    if classes.pooled.response.plain_odds:
        odds, more = _odds(classes, label, (objects[0], objects[1]), pairs, confidence)
        text, numbers = f"{text}; {odds}", numbers | more
    tested = pairs["p_over_classes"].notna()
    apart = int((pairs.loc[tested, "p_over_classes"] < 1 - confidence).sum())
    numbers |= {f"pairs that differ in class {label}": float(apart), f"pairs in class {label}": float(tested.sum())}
    over = ", adjusted over all pairs of all classes" if several else ", adjusted over all pairs"
    many = f"{format_count(apart)} of {counted(int(tested.sum()), 'pair')} {'differs' if apart == 1 else 'differ'}"
    return f"{text}; {many} significantly (p < {1 - confidence:.4g}{over}).", numbers


def _odds(
    classes: ClassesLike, label: int, names: tuple[Label, Label], pairs: pd.DataFrame, confidence: float
) -> Sentence:
    """State the odds of one object over another in a class, and the share of decisions that they imply."""
    first, second = names
    between = (pairs["object_i"].isin(names) & pairs["object_j"].isin(names)).to_numpy()
    row = pairs[between].iloc[0]
    sign = 1.0 if row["object_i"] == first else -1.0
    ends = sorted(sign * float(row[end]) for end in ("conf_low", "conf_high"))
    with np.errstate(over="ignore"):
        odds, low, high = (float(x) for x in np.exp([sign * float(row["estimate"]), *ends]))
    p = float(row["p_over_classes"])
    objects = classes.pooled.comparisons.objects
    share = averaged_share(classes.results(label), objects.index(first), objects.index(second))
    numbers = {"odds": odds, "low": low, "high": high, "p": p, "share of decisions": share}
    text = f"the odds of {first} over {second} are {odds_text(odds)}"
    if np.isfinite(low):
        text += f" ({interval_text(low, high, confidence)}, {p_text(p)})"
        text += "" if p < 1 - confidence else ", not a significant difference"
    if np.isfinite(share):
        text += f"; {first} is preferred in {format_percent(share)} of the class's decisions"
    return text, {f"{name} in class {label}": value for name, value in numbers.items()}


def _mixture(classes: ClassesLike, confidence: float) -> Sentence:
    """State the preference of a judge of unknown class: Σ π_k P_k, never an average of log-worths."""
    if classes.k == 1 or not classes.pooled.response.plain_odds:
        return "", {}
    board = leaderboard(classes, at="average", confidence=confidence).to_frame()
    board = board[board["class"] == "all"]
    if not len(board):
        return "", {}
    best = board.iloc[0]
    share, low, high = (float(special.expit(best[name])) for name in ("estimate", "conf_low", "conf_high"))
    numbers = {"share of the first among all": share, "low among all": low, "high among all": high}
    text = f"Judges of all classes together prefer {best['object']} most: to an object of mean log-worth in "
    text += f"{format_percent(share)} of decisions"
    if np.isfinite(low):
        ends = f"{format_percent(low)} to {format_percent(high)}"
        text += f" ({100 * confidence:.4g} % interval {ends})"
    firsts = {label: board_of(classes, label) for label in classes.labels}
    others = [str(label) for label, first in firsts.items() if first != best["object"]]
    if not others:
        return f"{text}. Every class puts {best['object']} first.", numbers
    which = f"class {others[0]}" if len(others) == 1 else f"classes {' and '.join(others)}"
    return f"{text}, although {which} {'puts' if len(others) == 1 else 'put'} another object first.", numbers


def board_of(classes: ClassesLike, label: int) -> Label:
    """Return the object that a class prefers most."""
    worths = worth(classes.results(label), "average", "probability").to_frame()
    first: Label = worths["object"].iloc[0]
    return first


def _certainty(classes: ClassesLike) -> Sentence:
    """State how many judges surely belong to a class, the entropy of all, and the judge placed least surely."""
    if classes.k == 1:
        return "", {}
    most = classes.posterior.max(axis=1)
    sure = int((most >= SURE).sum())
    least = most.idxmin()
    numbers = {
        "judges placed": float(sure),
        "entropy": float(classes.entropy),
        "least certain judge": float(most.min()),
    }
    text = f"{format_count(sure)} of {counted(len(most), 'judge')} {'belongs' if sure == 1 else 'belong'} to a class "
    text += (
        f"with a probability of {SURE:g} or more (entropy {format_number(classes.entropy, 3)}, 1 where every judge is "
    )
    text += "placed)"
    if float(most.min()) < _CERTAIN:
        text += f"; {least} is placed least surely ({format_share(float(most.min()))})"
    return f"{text}.", numbers
