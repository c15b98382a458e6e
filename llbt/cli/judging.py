"""Commands about judgments and judges: audit, agreement."""

from __future__ import annotations

from typing import Annotated, Any, cast

import typer

from .messages import watched, working
from .options import Among, Confidence, File, Jobs, Lists, Printing, Reading, Resample, Rng, Text, column, option
from .values import items


def audit(
    file: File,
    *,
    fail_on: Annotated[
        Text,
        option(
            "--fail-on",
            "Exit with 1 if one of these checks finds something; error, warning or note stand for all of that level.",
            "CHECK,…",
        ),
    ] = None,
    lists: Lists,
    reading: Reading,
    printing: Printing,
) -> None:
    """Check judgments or lists for problems before fitting, with a remedy for each."""
    from .answers import rendered
    from .list_inputs import audit_of_file

    found = audit_of_file(file, lists, reading)
    failed = () if fail_on is None else found.failed(*items("fail_on", fail_on))
    typer.echo(rendered(found, printing))
    if failed:
        typer.echo(f"failed: {', '.join(finding.check for finding in failed)}", err=True)
        raise typer.Exit(1)


def agreement(
    file: File,
    *,
    unit: Annotated[
        Text,
        column(
            "--unit",
            "Columns that, with the pair of objects, identify what was judged. [default: prompt]",
            "COLUMN,…",
        ),
    ] = None,
    label: Annotated[
        Text, column("--label", "The column with the judges' labels, instead of who won. [default: outcome]")
    ] = None,
    among: Annotated[Among, option("--among", "Agreement of different judges, or of each with itself.")] = "inter",
    by: Annotated[
        Text, column("--by", "A column, such as the language: agreement for each of its values, too.")
    ] = None,
    coefficients: Annotated[
        Text,
        option(
            "--coefficients",
            """One or more of percent, bennett_s, scott_pi, cohen_kappa, cohen_kappa_linear, cohen_kappa_quadratic,
            fleiss_kappa, krippendorff_alpha, krippendorff_alpha_ordinal, gwet_ac1. [default: all that apply]""",
            "NAME,…",
        ),
    ] = None,
    n: Annotated[int, option("--n", "The number of resamples for intervals, such as 999; 0 gives no intervals.")] = 0,
    resample: Annotated[
        Resample, option("--resample", "What to resample: units, judges, or both. Both allows for other judges.")
    ] = "units",
    confidence: Confidence = 0.95,
    rng: Rng = None,
    n_jobs: Jobs = 1,
    reading: Reading,
    printing: Printing,
) -> None:
    """Say how far judges agree on the same units, raw and corrected for chance."""
    import llbt

    from ..errors import JudgmentError
    from .answers import rendered
    from .inputs import judged_of, opened
    from .list_inputs import refuse_lists

    read = opened(file, reading)
    try:
        with working("reading"):
            judgments = judged_of(read, file)
    except JudgmentError:
        refuse_lists(read, file, reading)
        raise
    found = llbt.judges.agreement(
        judgments,
        unit=["prompt"] if unit is None else items("unit", unit),
        label=label or "outcome",
        among=among,
        by=by,
        coefficients=None if coefficients is None else cast(Any, items("coefficients", coefficients)),
        confidence=confidence,
        n=n,
        resample=resample,
        rng=rng,
        progress=watched() and n > 0,
        n_jobs=n_jobs,
    )
    typer.echo(rendered(found, printing))
