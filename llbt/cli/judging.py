"""Commands about judgments and judges: audit, agreement, judge-report."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from .catalog import made
from .completion import after_checks
from .messages import cured, watched, working
from .options import Among, Confidence, File, Jobs, Lists, Printing, Reading, Resample, Rng, Text, column, option
from .values import items

if TYPE_CHECKING:  # help imports none of the library
    from ..auditing.audit import Audit


def audit(
    file: File,
    *,
    fail_on: Annotated[
        Text,
        option(
            "--fail-on",
            "Exit with 1 if one of these checks finds something; error, warning or note means all checks of that "
            "level.",
            "CHECK,…",
            after_checks,
        ),
    ] = None,
    lists: Lists,
    reading: Reading,
    printing: Printing,
) -> None:
    """Check judgments or lists for problems before fitting, with a remedy for each."""
    from .answers import rendered
    from .list_inputs import audit_of_file

    checks = audit_of_file(file, lists, reading)
    failed = () if fail_on is None else checks.failed(*items("fail_on", fail_on))
    typer.echo(rendered(with_options(checks), printing))
    if failed:
        typer.echo(f"failed: {', '.join(finding.check for finding in failed)}", err=True)
        raise typer.Exit(1)


def with_options(audit: Audit) -> Audit:
    """Return an audit whose remedies name the options of `llbt fit`."""
    options = {param.name: param.opts[0] for param in made("cli.models.fit").params}
    findings = tuple(replace(finding, remedy=cured(finding.remedy, options)) for finding in audit.findings)
    return replace(audit, findings=findings)


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
    bins: Annotated[
        int | None,
        option("--bins", "For numbers in --by, such as lengths: the number of intervals that replace the values."),
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
        Resample,
        option(
            "--resample", "What to resample: units, judges, or both. With both, intervals hold for other judges, too."
        ),
    ] = "units",
    confidence: Confidence = 0.95,
    rng: Rng = None,
    n_jobs: Jobs = 1,
    reading: Reading,
    printing: Printing,
) -> None:
    """Print how far judges agree on the same units, raw and corrected for chance."""
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
    answer = llbt.judges.agreement(
        judgments,
        unit=["prompt"] if unit is None else items("unit", unit),
        label=label or "outcome",
        among=among,
        by=by,
        bins=bins,
        coefficients=None if coefficients is None else cast(Any, items("coefficients", coefficients)),
        confidence=confidence,
        n=n,
        resample=resample,
        rng=rng,
        progress=watched() and n > 0,
        n_jobs=n_jobs,
    )
    typer.echo(rendered(answer, printing))


def judge_report(
    file: File,
    *,
    human: Annotated[
        Text, column("--human", "The column with the verdicts of people; empty where there is none.")
    ] = None,
    machine: Annotated[Text, column("--machine", "The column with the verdicts of the machine.")] = None,
    objects: Annotated[
        Text,
        column(
            "--objects",
            "The columns of the two objects. [default: object_i,object_j or model_a,model_b]",
            "I,J",
        ),
    ] = None,
    outcomes: Annotated[
        Text,
        option(
            "--outcomes", "What other labels of the verdicts mean, such as left=i,right=j,same=tie.", "LABEL=i|j|tie,…"
        ),
    ] = None,
    family: Annotated[
        Text, option("--family", "The objects of the machine's own family, to test self-preference.", "OBJECT,…")
    ] = None,
    length: Annotated[
        Text, column("--length", "The columns with the lengths of both answers, to test length bias.", "I,J")
    ] = None,
    order: Annotated[
        bool, typer.Option("--order/--no-order", help="Whether the first object of a row was shown first.")
    ] = True,
    groups: Annotated[Text, column("--groups", "A column whose rows depend on each other, such as the prompt.")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write an HTML page to this file, too.", metavar="FILE")
    ] = None,
    confidence: Confidence = 0.95,
    n: Annotated[int, option("--n", "The number of resamples for the intervals of agreement.")] = 999,
    rng: Rng = None,
    n_jobs: Jobs = 1,
    printing: Printing,
) -> None:
    """Print whether an LLM judge is usable, from the verdicts of people and of the machine.

    FILE has one row for each pair of answers; rows without a human label are used, too. The answer has agreement,
    position bias, length bias, self-preference, how many labels the verdicts replace, and the leaderboards.
    """
    import llbt

    from ..errors import printable
    from ..report.safe_write import checked_target
    from .answers import rendered
    from .inputs import source_of
    from .values import outcomes as meanings
    from .values import two, wrong

    if human is None or machine is None:
        raise wrong("human" if human is None else "machine", "name the column of its verdicts.")
    target = None if output is None else checked_target(output, (file,))
    answer = llbt.judges.report(
        source_of(file),
        human=human,
        machine=machine,
        objects=None if objects is None else two("objects", objects),
        outcomes=None if outcomes is None else meanings("outcomes", outcomes),
        family=() if family is None else items("family", family),
        length=None if length is None else two("length", length),
        order=order,
        groups=groups,
        confidence=confidence,
        n=n,
        rng=0 if rng is None else rng,
        progress=watched(),
        n_jobs=n_jobs,
    )
    typer.echo(rendered(answer, printing))
    if target is not None:
        with working("writing"):
            page = llbt.write_report(answer, target)
        typer.echo(f"written: {printable(page)}", err=True)
