"""The command that plans judgments: needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from .messages import working
from .options import At, Confidence, Counting, File, Formula, Lists, Mix, Model, Printing, Reading, Rng, Text, option
from .values import items

if TYPE_CHECKING:
    import llbt


def needed(
    file: File,
    *,
    formula: Formula = None,
    split: Annotated[
        Text,
        option(
            "--split", "1: until the first object differs from all others. Or two objects: until they differ.", "1|I,J"
        ),
    ] = None,
    top: Annotated[
        int | None, option("--top", "Until each of the N best objects differs from each of the others.", "N")
    ] = None,
    elo: Annotated[
        float | None, option("--elo", "Until the interval of every object is at most ± this many points.", "POINTS")
    ] = None,
    power: Annotated[float, option("--power", "The chance of reaching the goal.")] = 0.8,
    at: At = None,
    mix: Mix = None,
    confidence: Confidence = 0.95,
    rng: Rng = None,
    lists: Lists,
    reading: Reading,
    counting: Counting,
    model: Model,
    printing: Printing,
) -> None:
    """Print how many more judgments are needed until ranks are known.

    Name one goal or more: --split 1, --top 3, --elo 20. Prompts or judges are added if standard errors are clustered by
    them (--cov-type cluster --groups prompt), otherwise judgments. The options for the layout of FILE and for the model
    are those of llbt fit.
    """
    import llbt

    from .answers import rendered
    from .inputs import at_of, mixed
    from .list_inputs import data_of, fit_of, tell

    data = data_of(file, lists, reading, counting, model)
    tell(data)
    where, apart = at_of(at, data), _split(split, data)
    res: Any = fit_of(formula, data, model)
    with working("planning"), mixed(mix) as weights:
        answer = llbt.planning.needed(
            res,
            split=apart,
            top=top,
            elo=elo,
            power=power,
            at=where,
            weights=weights,
            confidence=confidence,
            rng=0 if rng is None else rng,
        )
    typer.echo(rendered(answer, printing))


def _split(text: str | None, data: llbt.Comparisons | llbt.Rankings) -> Any:
    """Return the objects that --split names, or 1."""
    from .inputs import label_of

    if text is None or text == "1":
        return None if text is None else 1
    return [label_of(data.objects, word) for word in items("split", text)]
