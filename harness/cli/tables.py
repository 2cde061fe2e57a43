"""Print tables for people, and lines for programs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import typer


def show_table(columns: Sequence[str], rows: Iterable[Sequence[object]], widest: str | None = None) -> None:
    """Print a table if the output is a terminal. Otherwise print one line for each row, with tabs between the
    cells, and without a heading.

    ``widest`` is the column that gets the remaining width.
    """
    from rich.console import Console
    from rich.table import Column, Table
    from rich.text import Text

    texts = [[" ".join(str(cell).split()) for cell in row] for row in rows]
    console = Console()
    if not console.is_terminal:
        for row in texts:
            typer.echo("\t".join(row))
        return
    table = Table(*(Column(name, ratio=1 if name == widest else None) for name in columns), expand=widest is not None)
    for row in texts:
        table.add_row(*map(Text, row))
    console.print(table)
