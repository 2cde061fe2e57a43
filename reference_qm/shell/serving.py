"""Runs a queue manager for ``mqconform serve`` until the process receives SIGTERM."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Mapping
from pathlib import Path

import typer

from reference_qm.control import VERBS_BY_FACILITY
from reference_qm.shell.service import QueueManagerService, make_core_factory, open_store, use_stored_identifier
from reference_qm.shell.settings import ServeSettings, load_settings
from reference_qm.shell.system import SystemEntropy
from reference_qm.shell.toml_values import SettingsError


def serve_until_stopped(
    config: Path | None, flags: Mapping[str, str | None], faults: list[str], facilities: str | None
) -> None:
    """Run a queue manager with its TOML file and the flags that override the file. Raise Exit with code 2 for
    invalid settings.
    """
    logging.basicConfig(level=logging.WARNING, format="mqconform serve: %(message)s")
    try:
        settings = load_settings(config, flags, SystemEntropy())
        went_well = asyncio.run(_run_service(settings, faults, _parse_facilities(facilities)))
    except SettingsError as error:
        typer.echo(f"mqconform serve: {error}", err=True)
        raise typer.Exit(2) from error
    if not went_well:
        raise typer.Exit(1)


def _parse_facilities(facilities: str | None) -> frozenset[str]:
    """Return the facilities that a comma-separated list names. Raise SettingsError for an unknown facility."""
    if facilities is None:
        return frozenset(VERBS_BY_FACILITY)
    names = frozenset(name.strip() for name in facilities.split(",") if name.strip())
    if unknown := sorted(names - VERBS_BY_FACILITY.keys()):
        raise SettingsError(f"--facilities: unknown facility {unknown[0]!r}; known: {', '.join(VERBS_BY_FACILITY)}")
    return names


async def _run_service(settings: ServeSettings, faults: list[str], facilities: frozenset[str]) -> bool:
    # typer.echo flushes, and a parent process waits for this line.
    with contextlib.ExitStack() as stack:
        store = open_store(settings)
        if store is not None:
            stack.callback(store.close)
        found = use_stored_identifier(settings, store)
        return await QueueManagerService(found, make_core_factory(found, faults), store, facilities).run(typer.echo)
