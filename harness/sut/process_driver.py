"""Drive a SUT that is a program on this machine, at a loopback address."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.errors import SutLost, SutUnavailable, UsageError
from harness.sut.external_driver import END_OF_PROCESS_WAIT_S, ExternalDriver, build_log_file_name_of_worker
from harness.sut.free_ports import find_free_rpc_port, free_port
from harness.sut.listeners import SutPort, refuse_foreign_address, refuse_foreign_listener, refuse_taken_port
from harness.sut.sut_file import DriverTable, SutFile
from harness.sut.sut_process import ProcessEnd, SutProcess
from reference_qm.surface.inputs import Endpoint

END_AFTER_RESET_WAIT_S = 0.05
"""The maximum time, in seconds, that a process needs to close all its connections when it ends."""


class ProcessDriver(ExternalDriver):
    """A driver of a program on loopback. The driver starts the program for the run, and restarts the program when
    it has ended.
    """

    def __init__(self, file: SutFile, out: Path, worker: int = 0) -> None:
        super().__init__(file, out, worker)
        self.process = SutProcess(out / build_log_file_name_of_worker("sut.log", worker))
        self.restarts = 0
        self._dead = False
        self._command: list[str] = []
        self._ports: list[SutPort] = []

    def start(self) -> None:
        if self.worker and self.control_endpoint is not None and self.control_endpoint.port:
            raise UsageError(
                f"{self.file.path}: control.address is {self.file.control.address}: each worker starts its own "
                "program; give port 0, so that each program gets a free port"
            )
        refuse_foreign_address(self.file.driver.peer_address, "driver.peer_address")
        if self.file.driver.second_peer_address:
            refuse_foreign_address(self.file.driver.second_peer_address, "driver.second_peer_address")
        self.file = replace(self.file, driver=assign_free_ports(self.file.driver))
        driver = self.file.driver
        self.tcp_port, self.ping_port, self.rpc_port = driver.tcp_port, driver.ping_port, driver.rpc_port
        if self.control_endpoint is not None and not self.control_endpoint.port:
            host = self.control_endpoint.host
            self.control_endpoint = Endpoint(host, free_port(host, socket.SOCK_STREAM))
        self._command = self._fill_in_command(driver.command, "driver.command")
        self._ports = self._list_listening_ports()
        self._launch_program()

    def describe_end(self, within_s: float = 0) -> str | None:
        """Return a description of how the program ended, or None while the program runs."""
        how = self.process.describe_end(within_s)
        return how if self.tape is None else self.tape.record_observation("ended", how)

    def describe_unexpected_end(self, *, has_other_side_closed_connection: bool) -> str | None:
        """Return a description of how the program ended, or None if it is still running. If the program refuses
        connections, the driver waits for its end, because a program that is ending closes its connections before
        its end becomes known.
        """
        return self.describe_end(
            END_OF_PROCESS_WAIT_S if has_other_side_closed_connection and self._is_connection_refused() else 0
        )

    def _is_connection_refused(self) -> bool:
        """Return whether a new connection is refused, or reset at once. Both happen after the end of the process."""
        try:
            with socket.create_connection(
                (self.file.driver.address, self.tcp_port), timeout=END_OF_PROCESS_WAIT_S
            ) as probe:
                probe.settimeout(END_AFTER_RESET_WAIT_S)
                return not probe.recv(1)
        except TimeoutError:
            return False
        except OSError:
            return True

    def take_process_end(self, check: str | None) -> ProcessEnd | None:
        """Return the record of how the program ended. Each record is returned only once, and only in the process
        that started the program.
        """
        if not self.process.is_started_by_this_process or self._dead or (how := self.process.describe_end()) is None:
            return None
        self._dead = True
        return ProcessEnd(self.worker, check, how, self.process.last_line())

    def start_again(self) -> None:
        """Restart the program, but at most ``driver.max_restarts`` times."""
        self.process.stop()
        if self.restarts == self.file.driver.max_restarts:
            raise SutLost(
                f"{self.file.sut.name}: the program ended {self.restarts + 1} times (driver.max_restarts is "
                f"{self.restarts}); see {self.process.log_path}"
            )
        self.restarts += 1
        self.identifier = None  # a new process may be a new queue manager
        self._launch_program()

    def confirm_same_system(self) -> None:
        """Raise SutLost if a different system answers now. Do nothing if the program has ended, because its end is
        reported separately.
        """
        if self.process.describe_end() is None:
            super().confirm_same_system()

    def _launch_program(self) -> None:
        refuse_taken_port(self._ports)
        self._dead = False
        self.process.start(self._command)
        self._await_ports()
        if self.file.driver.own_ports:
            refuse_foreign_listener(self._ports, self.process.pid)
        super().start()

    def _list_listening_ports(self) -> list[SutPort]:
        """Return the ports at which the program must listen: the ports in its arguments, and the ports that the SUT
        file declares.
        """
        driver = self.file.driver
        ports = [SutPort("driver.tcp_port", driver.address, self.tcp_port)]
        if self._serves_capability("ping", "{ping_port}"):
            ports.append(SutPort("driver.ping_port", driver.address, self.ping_port, socket.SOCK_DGRAM))
        if self._serves_capability("qm2qm", "{rpc_port}"):
            ports.append(SutPort("driver.rpc_port", driver.address, self.rpc_port))
        if driver.rpc_read_port:
            ports.append(SutPort("driver.rpc_read_port", driver.address, driver.rpc_read_port))
        if self.control_endpoint is not None:
            ports.append(SutPort("control.address", self.control_endpoint.host, self.control_endpoint.port))
        return ports

    def _serves_capability(self, capability: str, placeholder: str) -> bool:
        told = any(placeholder in part for part in self.file.driver.command)
        return told or self.file.capabilities.get(capability, False)

    def _await_ports(self) -> None:
        """Wait until the program listens at every port at which it must listen."""
        optional = () if self.file.capabilities.get("qm2qm", False) else ("driver.rpc_port", "driver.rpc_read_port")
        ports = [
            each for each in self._ports if each.kind is socket.SOCK_STREAM and each.key_in_sut_file not in optional
        ]
        deadline = time.monotonic() + self.file.driver.start_timeout_s
        while ports:
            if (how := self.process.describe_end()) is not None:
                raise SutUnavailable(
                    f"{self.file.sut.name}: the program ended with {how}: {self.process.last_line()}; "
                    f"see {self.process.log_path}"
                )
            if time.monotonic() > deadline:
                raise SutUnavailable(
                    f"{self.file.sut.name}: no program listens on {ports[0]} {self.file.driver.start_timeout_s} s "
                    f"after the start; see {self.process.log_path}"
                )
            try:
                socket.create_connection((ports[0].address, ports[0].number), timeout=0.2).close()
                ports.pop(0)
            except OSError:
                self.process.describe_end(within_s=0.05)

    def stop(self) -> None:
        self.agent.end()
        self.process.stop()


def assign_free_ports(driver: DriverTable) -> DriverTable:
    """Return the table [driver] in which each port 0 is replaced by a free port, at the address of the SUT or of
    the peer.
    """
    picked: dict[str, Any] = {}
    for name, pick in _PORT_FINDER_BY_KEY.items():
        for key, address in ((name, driver.address), (f"peer_{name}", driver.peer_address)):
            if getattr(driver, key) == 0:
                picked[key] = pick(address)
    return replace(driver, **picked)


_PORT_FINDER_BY_KEY: dict[str, Callable[[str], int]] = {
    "tcp_port": lambda address: free_port(address, socket.SOCK_STREAM),
    "ping_port": lambda address: free_port(address, socket.SOCK_DGRAM),
    "rpc_port": find_free_rpc_port,
}
