"""The command ``mqconform vectors``: write test vectors for implementers' unit tests as JSON files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness.cli.outputs import convert_write_errors_to_usage_errors, make_folder, require_path_not_to_exist


def register(app: typer.Typer) -> None:
    """Add the command to ``mqconform``."""
    app.command()(vectors)


def vectors(
    out: Annotated[Path, typer.Option(help="The folder for the files. The folder must be missing or empty.")] = Path(
        "vectors"
    ),
) -> None:
    """Write test vectors: packets and RPC stubs as bytes, each with its fields and its verdict (valid or invalid)."""
    from harness.vectors.write import write_vector_files

    require_path_not_to_exist(out, may_be_empty=True)
    make_folder(out)
    with convert_write_errors_to_usage_errors(out):
        written = write_vector_files(out)
    typer.echo(f"{out} contains {sum(written.values()):,} vectors in {len(written)} files; schema.json describes them")
