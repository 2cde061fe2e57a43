"""Runs a reference queue manager as a process: opens its store and its ports, and serves until a signal ends it."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import logging
import os
import signal
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import metadata
from typing import Any
from uuid import UUID

from reference_qm.control import VERBS_BY_FACILITY, ControlError
from reference_qm.core.enterprise.state_restoring import RestoreError
from reference_qm.core.installation import (
    FaultyCoreWrapper,
    QueueManagerFactory,
    QueueManagerInstallation,
    make_core_without_faults,
)
from reference_qm.releases.table import get_parts_that_imitate_release
from reference_qm.shell.control_server import ControlServer
from reference_qm.shell.host import Host
from reference_qm.shell.settings import ServeSettings, format_endpoint
from reference_qm.shell.sqlite_store import SqliteStore
from reference_qm.shell.system import SystemEntropy
from reference_qm.shell.toml_values import SettingsError
from reference_qm.surface.driver import Core, CoreFactory, RestorableCore
from reference_qm.surface.inputs import Endpoint
from reference_qm.surface.queue_manager_environment import QueueManagerEnvironment
from reference_qm.surface.store import MemoryStore, PermanentStoreFailure, Store, StoreError

log = logging.getLogger(__name__)

FAULTS_ENTRY_POINT_GROUP = "reference_qm.faults"
"""The entry-point group of packages that contain faults.

``serve --fault`` calls the entry point with a function that makes a core, and with the names of faults.
"""


def open_store(settings: ServeSettings) -> SqliteStore | None:
    """Open the store if the settings name a file for it; otherwise return None. Raise SettingsError for an unusable
    store.
    """
    if settings.store is None:
        return None
    try:
        return SqliteStore(settings.store)
    except StoreError as error:
        raise SettingsError(str(error)) from error


def use_stored_identifier(settings: ServeSettings, store: SqliteStore | None) -> ServeSettings:
    """Return the settings with the identifier that the store contains. If the settings already contain a configured
    identifier, return them unchanged.
    """
    if store is None or settings.has_identifier or (identifier := store.read().get("identifier")) is None:
        return settings
    try:
        config = replace(settings.config, identifier=UUID(str(identifier)))
    except ValueError:
        raise SettingsError(f"store {store.path}: entry identifier is {identifier!a}, not a GUID") from None
    return replace(settings, config=config, has_identifier=True)


def make_core_factory(settings: ServeSettings, faults: Sequence[str]) -> CoreFactory:
    """Return a function that makes cores with the named faults.

    The function raises SettingsError for an unknown fault, and for unusable entries of the store.
    """
    installation = QueueManagerInstallation(
        settings.config,
        SystemEntropy(),
        _make_fault_wrapper(faults) if faults else make_core_without_faults,
        get_parts_that_imitate_release(settings.release),
    )

    def create_restored_core(entries: Mapping[str, object]) -> Core:
        try:
            return installation(entries)
        except RestoreError as error:
            raise SettingsError(f"store {settings.store}: {error}") from error

    return create_restored_core


def _make_fault_wrapper(names: Sequence[str]) -> FaultyCoreWrapper:
    """Return the function that adds the named faults to a core. The function comes from an installed package with
    faults.
    """
    offered = metadata.entry_points(group=FAULTS_ENTRY_POINT_GROUP)
    if not offered:
        raise SettingsError(
            f"--fault {names[0]}: no installed package offers faults (entry point {FAULTS_ENTRY_POINT_GROUP})"
        )
    make_faulty: Callable[[QueueManagerFactory, Sequence[str]], RestorableCore] = next(iter(offered)).load()

    def wrap_core(make: QueueManagerFactory) -> RestorableCore:
        try:
            return make_faulty(make, names)
        except LookupError as error:
            raise SettingsError(f"--fault {error}") from error

    return wrap_core


class QueueManagerService:
    """A core with its host and, if requested, its control server."""

    def __init__(
        self,
        settings: ServeSettings,
        new_core: CoreFactory,
        store: Store | None = None,
        facilities: Collection[str] = frozenset(VERBS_BY_FACILITY),
    ) -> None:
        self.settings = settings
        surroundings = QueueManagerEnvironment(settings.directory, settings.config.identifier)
        self.host = Host(new_core, settings.listen.address, store or MemoryStore(), settings.limits, surroundings)
        self.control = ControlServer(self.host, self.stop, self.reset, facilities)
        self._end = asyncio.Event()
        self._failed = False

    async def run(self, ready: Callable[[str], None]) -> bool:
        """Serve until SIGTERM, SIGINT or ``stop``, and return False after an internal failure.

        ``ready`` is called with one line that lists the bound ports. Raise SettingsError if a port cannot be bound.
        """
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(self._on_exception)
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.stop)
        try:
            ready(await self._open_ports())
        except SettingsError:
            self._close_listeners()
            raise
        await self._end.wait()
        self._close_listeners()
        if self._failed:
            return False
        await self.host.stop()
        self.control.close_client_connections()
        return True

    def stop(self) -> None:
        """Make ``run`` return."""
        self._end.set()

    def reset(self) -> None:
        """Return the queue manager to the state of a fresh installation with the same settings.

        Raise ControlError or StoreError if a reset is impossible.
        """
        if self.settings.directory is not None:
            raise ControlError("reset: the directory belongs to the whole enterprise; restart all its systems instead")
        self.host.reset()

    async def _open_ports(self) -> str:
        """Bind every port before the core starts, so that a failure has no side effect."""
        listen = self.settings.listen
        bound = dict.fromkeys(("tcp", "ping", "rpc", "rpc_read", "mapper", "control"), "none")
        with _convert_port_errors("tcp", Endpoint(listen.address, listen.tcp_port), "--tcp-port"):
            bound["tcp"] = self._format_open_endpoint(await self.host.bind_tcp(listen.tcp_port))
        if listen.ping:
            with _convert_port_errors("udp", Endpoint(listen.address, listen.ping_port), "--ping-port"):
                bound["ping"] = self._format_open_endpoint(self.host.bind_ping(listen.ping_port))
        if self.settings.rpc.enabled:
            await self._open_rpc_ports(bound)
        if self.settings.control is not None:
            with _convert_port_errors("tcp", self.settings.control, "--control"):
                bound["control"] = self._format_open_endpoint(await self.control.bind(self.settings.control))
                await self.control.start()
        with _convert_port_errors("tcp", Endpoint(listen.address, listen.tcp_port), "--tcp-port"):
            await self.host.start()
        return "ready " + " ".join(f"{name}={where}" for name, where in bound.items())

    async def _open_rpc_ports(self, bound: dict[str, str]) -> None:
        rpc, address = self.settings.rpc, self.settings.listen.address
        with _convert_port_errors("tcp", Endpoint(address, rpc.port), "--rpc-port"):
            listening = await self.host.bind_rpc(*rpc.ports)
        bound["rpc"], bound["rpc_read"] = (
            self._format_open_endpoint(listening.handshake),
            self._format_open_endpoint(listening.read),
        )
        if rpc.mapper:
            with _convert_port_errors("tcp", Endpoint(address, rpc.mapper_port), "[rpc] mapper_port"):
                bound["mapper"] = self._format_open_endpoint(await self.host.rpc.bind(address, rpc.mapper_port))

    def _format_open_endpoint(self, endpoint: Endpoint) -> str:
        text = format_endpoint(endpoint)
        if not ipaddress.ip_address(endpoint.host).is_loopback:
            log.warning("%s is not a loopback address: other machines can reach this queue manager", text)
        return text

    def _close_listeners(self) -> None:
        self.host.close_listeners()
        self.control.close_listener()

    def _on_exception(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Log a failure of the operating system, and continue. After an internal failure, end the process, because
        its state is unknown.
        """
        error = context.get("exception")
        if isinstance(error, OSError):
            log.warning("%s: %s", context["message"], error)
            return
        if isinstance(error, PermanentStoreFailure | StoreError | SettingsError):
            log.critical("%s", error)
        else:
            loop.default_exception_handler(context)
        self._failed = True
        self.stop()


@contextlib.contextmanager
def _convert_port_errors(transport: str, endpoint: Endpoint, flag: str) -> Iterator[None]:
    """Convert an OSError into an error whose one-line message names the port, the reason and the remedy."""
    try:
        yield
    except OSError as error:
        why = os.strerror(error.errno) if error.errno else str(error)
        raise SettingsError(
            f"cannot listen on {transport} {format_endpoint(endpoint)}: {why}; choose a different port "
            f"with {flag} or in the file (port 0 selects a free port)"
        ) from error
