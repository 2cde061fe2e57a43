"""``mqconform serve``: the reference queue manager in a process of its own."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from pathlib import Path
from typing import Annotated

import typer

from reference_qm.control import FACILITIES
from reference_qm.shell.reader import read
from reference_qm.shell.service import Service, identified, installed, open_store
from reference_qm.shell.settings import Settings, load_settings
from reference_qm.shell.system import SystemEntropy
from reference_qm.shell.toml_values import SettingsError


def register(app: typer.Typer) -> None:
    """Add the subcommands ``serve`` and ``read``."""
    app.command("serve")(serve)
    app.command("read")(read)


def main() -> None:
    """Be ``serve`` alone (``python -m reference_qm``)."""
    typer.run(serve)


def serve(
    config: Annotated[Path | None, typer.Option("--config", help="TOML file; everything in it has a default.")] = None,
    address: Annotated[str | None, typer.Option("--address", help="Address to listen on [127.0.0.1].")] = None,
    tcp_port: Annotated[str | None, typer.Option("--tcp-port", metavar="PORT", help="0: a free one [1801].")] = None,
    ping_port: Annotated[str | None, typer.Option("--ping-port", metavar="PORT", help="0: a free one [3527].")] = None,
    rpc_port: Annotated[str | None, typer.Option("--rpc-port", metavar="PORT", help="0: a free one [2103].")] = None,
    control: Annotated[str | None, typer.Option("--control", help="ADDRESS:PORT of the control protocol.")] = None,
    facilities: Annotated[
        str | None, typer.Option("--facilities", metavar="NAME,...", help="All that --control offers [everything].")
    ] = None,
    release: Annotated[
        str | None, typer.Option("--release", metavar="NAME", help="Do as this release of Windows does [none].")
    ] = None,
    store: Annotated[str | None, typer.Option("--store", metavar="FILE", help="Survives the process [none].")] = None,
    fault: Annotated[list[str] | None, typer.Option("--fault", help="A deliberate violation; repeatable.")] = None,
) -> None:
    """Run a reference queue manager until SIGTERM; print one line `ready tcp=... ping=... rpc=...` first."""
    logging.basicConfig(level=logging.WARNING, format="mqconform serve: %(message)s")
    flags = {
        "--release": release,
        "--address": address,
        "--tcp-port": tcp_port,
        "--ping-port": ping_port,
        "--rpc-port": rpc_port,
        "--control": control,
        "--store": store,
    }
    try:
        settings = load_settings(config, flags, SystemEntropy())
        went_well = asyncio.run(_run(settings, fault or [], _offered(facilities)))
    except SettingsError as error:
        typer.echo(f"mqconform serve: {error}", err=True)
        raise typer.Exit(2) from error
    if not went_well:
        raise typer.Exit(1)


def _offered(facilities: str | None) -> frozenset[str]:
    """Return the facilities that are named, with commas between them; SettingsError for one that there is not."""
    if facilities is None:
        return frozenset(FACILITIES)
    names = frozenset(name.strip() for name in facilities.split(",") if name.strip())
    if unknown := sorted(names - FACILITIES.keys()):
        raise SettingsError(f"--facilities: unknown facility {unknown[0]!r}; known are {', '.join(FACILITIES)}")
    return names


async def _run(settings: Settings, faults: list[str], facilities: frozenset[str]) -> bool:
    # typer.echo flushes: a parent waits for this line.
    with contextlib.ExitStack() as stack:
        store = open_store(settings)
        if store is not None:
            stack.callback(store.close)
        found = identified(settings, store)
        return await Service(found, installed(found, faults), store, facilities).run(typer.echo)
