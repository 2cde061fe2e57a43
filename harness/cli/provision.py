"""The command ``mqconform provision``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer

from harness.cli.outputs import convert_write_errors_to_usage_errors, require_path_not_to_exist
from harness.errors import UsageError


def register(app: typer.Typer) -> None:
    """Add the command to ``mqconform``."""
    app.command()(provision)


def provision(
    out: Annotated[Path, typer.Option(help="The folder for keys and certificates. The folder must not exist.")],
    peer_address: Annotated[
        str, typer.Option(help="The address of the peer, equal to driver.peer_address in the SUT file.")
    ] = "127.0.0.2",
    peer_identifier: Annotated[
        str | None,
        typer.Option(help="The GUID of the peer, equal to driver.peer_identifier if the SUT file has this key."),
    ] = None,
    restricted: Annotated[
        str,
        typer.Option(
            help="The queue to which the test user gets no access, equal to queues.restricted in the SUT file."
        ),
    ] = "private$\\mqc-restricted",
) -> None:
    """Write the data that a SUT with the capability security needs: keys, certificates, users, a restricted queue."""
    from harness.sut.provisioning import write_provisions
    from harness.sut.sut_file import PEER_IDENTIFIER

    require_path_not_to_exist(out)
    try:
        peer = UUID(peer_identifier) if peer_identifier else PEER_IDENTIFIER
    except ValueError:
        raise UsageError(f"--peer-identifier {peer_identifier}: the identifier must be a GUID") from None
    with convert_write_errors_to_usage_errors(out):
        text = write_provisions(out, peer, restricted, peer_address)
        (out / "qm.toml").write_text(text, encoding="utf-8")
    typer.echo(f"{out} contains keys, certificates, and qm.toml with tables for `mqconform serve --config`")
