"""Implements the command ``mqconform serve``, which runs the reference queue manager in a separate process.

The command imports `serving.py` only when it runs, so that `--help` responds quickly.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add the command to ``mqconform``."""
    app.command("serve")(serve)


def main() -> None:
    """Run ``serve`` without the other commands of ``mqconform`` (``python -m reference_qm``)."""
    typer.run(serve)


def serve(
    config: Annotated[
        Path | None, typer.Option("--config", help="The configuration file (TOML). Every key has a default.")
    ] = None,
    address: Annotated[str | None, typer.Option("--address", help="Address to listen on [127.0.0.1].")] = None,
    tcp_port: Annotated[
        str | None, typer.Option("--tcp-port", metavar="PORT", help="TCP port for sessions; 0: a free port [1801].")
    ] = None,
    ping_port: Annotated[
        str | None, typer.Option("--ping-port", metavar="PORT", help="UDP port for pings; 0: a free port [3527].")
    ] = None,
    rpc_port: Annotated[
        str | None,
        typer.Option("--rpc-port", metavar="PORT", help="RPC port for remote reading; 0: a free port [2103]."),
    ] = None,
    control: Annotated[
        str | None, typer.Option("--control", help="ADDRESS:PORT on which to serve the control protocol [none].")
    ] = None,
    facilities: Annotated[
        str | None, typer.Option("--facilities", metavar="NAME,...", help="The facilities that --control offers [all].")
    ] = None,
    release: Annotated[
        str | None, typer.Option("--release", metavar="NAME", help="Behave like this Windows release [none].")
    ] = None,
    store: Annotated[
        str | None,
        typer.Option("--store", metavar="FILE", help="File that keeps messages when the process ends [none]."),
    ] = None,
    fault: Annotated[
        list[str] | None,
        typer.Option("--fault", help="Name of a fault (a deliberate violation) to inject. Repeatable."),
    ] = None,
) -> None:
    """Run a reference queue manager until SIGTERM. The command first prints one line `ready tcp=... ping=...
    rpc=...`.
    """
    from reference_qm.shell.serving import serve_until_stopped

    flags = {
        "--release": release,
        "--address": address,
        "--tcp-port": tcp_port,
        "--ping-port": ping_port,
        "--rpc-port": rpc_port,
        "--control": control,
        "--store": store,
    }
    serve_until_stopped(config, flags, fault or [], facilities)
