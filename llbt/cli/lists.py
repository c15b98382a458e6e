"""Commands that need no file: an example, and lists of data sets and formats."""

from __future__ import annotations

import typer

from .options import Printing


def example() -> None:
    """Print the fit of a bundled data set, and what to type next."""
    import llbt

    res = llbt.fit("object + tie", llbt.load_dataset("dras_table1").pool("judge"))
    typer.echo(
        "Dras (2015), Table 1, artificial data: four systems compared in pairs by four judges, here pooled.\n"
        'Go on with llbt fit dras_table1 --formula "object * judge + tie", or a file of yours: llbt fit --help\n\n'
        f"{res}"
    )


def datasets(printing: Printing) -> None:
    """Print the bundled data sets with their sizes and sources."""
    import llbt

    from .answers import rendered

    typer.echo(rendered(llbt.list_datasets(), printing))


def formats(printing: Printing) -> None:
    """Print the formats of judgments that are known, with the columns that mark them."""
    import llbt

    from .answers import rendered

    typer.echo(rendered(llbt.formats.table(), printing))
