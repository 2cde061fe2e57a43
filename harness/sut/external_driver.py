"""Drive a SUT that is already running at an address."""

from __future__ import annotations

import contextlib
import socket
import sys
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import TypeVar
from uuid import UUID

from harness.environment import Environment, RealEnvironment
from harness.errors import MqconformError, SutLost, SutUnavailable, UsageError
from harness.sut.agent import AgentStartedByCommand
from harness.sut.command_control import CommandControl, list_facilities
from harness.sut.control import Control, JsonlControl
from harness.sut.discovery import derive_identity_peer, discover_identifier
from harness.sut.endpoints import parse_endpoint
from harness.sut.limited_control import add_remote_reading_to_control
from harness.sut.listeners import is_own_address, refuse_foreign_address
from harness.sut.own_queues import MESSAGE_IDS_PER_TEST
from harness.sut.sut import CheckNotesInterface, Sut
from harness.sut.sut_file import PORT_KEYS, SutFile
from harness.sut.sut_process import ProcessEnd
from harness.sut.timeouts import Timeouts
from harness.sut.view import SutIdentity, build_sut_view, request_identity
from harness.sut.vital_signs import LivenessMonitor
from harness.sut.wires import ControlRoute, TcpRoute
from harness.sut.worker_configurations import derive_fresh_peer_file
from reference_qm.surface.inputs import Endpoint

ResultOfControlCall = TypeVar("ResultOfControlCall")
QUEUE_SUFFIX_DIGITS = 10
SHARED_SUT_TIME_SCALE = 4
"""The maximum of ``control.time_scale`` if several workers share a SUT. This is the factor by which the SUT's protocol
timers run faster than specified.
"""
SHORTEST_TEST_NS = 10_000_000
"""int ns: the minimum duration of a test. The time at the start of a test, divided by this value, is the number of the
block of MessageIDs that the test uses.
"""
PAUSE_BETWEEN_ATTEMPTS_S = 0.5
END_OF_PROCESS_WAIT_S = 0.5
"""The maximum time, in seconds, to wait after a SUT has closed its connections, until it is known whether its
process has ended.
"""


class ExternalDriver:
    """A driver of a SUT at an address. The driver starts and stops no program except the command of the control
    channel.

    ``out`` is the run folder, if there is one. ``worker`` is the number of the worker; only the first worker
    prepares the SUT.
    """

    def __init__(self, file: SutFile, out: Path | None, worker: int = 0) -> None:
        self.file = file
        self.worker = worker
        self.shared = self.are_other_workers_running = False
        self.resets = True
        """Whether the SUT is reset at the start and before each test, if its control channel offers the verb reset."""
        self._timers: dict[str, int] = {}
        """The original durations of the timers that the run changed."""
        self.start_wait_s = 0
        """int s: how long to wait for a system that is not running yet."""
        self.control_endpoint = _get_control_endpoint(file)
        log = None if out is None else out / build_log_file_name_of_worker("control.log", worker)
        self.agent = AgentStartedByCommand(self._build_agent_command, log, self._start_timeout_ms)
        self.tcp_port = file.driver.tcp_port
        self.ping_port = file.driver.ping_port
        self.rpc_port = file.driver.rpc_port
        self.identifier: UUID | None = None
        self.vital_signs = LivenessMonitor(file)
        self._message_ids_block = 0
        self.tape: CheckNotesInterface | None = None
        """The object that writes notes into the capture of the check that began last."""

    def start(self) -> None:
        refuse_foreign_address(self.file.driver.peer_address, "driver.peer_address")
        if self.file.driver.second_peer_address:
            refuse_foreign_address(self.file.driver.second_peer_address, "driver.second_peer_address")
        self._connect_repeatedly()
        self.vital_signs.measure_system(self._identify_acceptor, self.ping_port, self.control_route)
        self.identifier = self._get_identifier()
        if self.control_route is not None and not (self.shared and self.worker):
            self._call_with_control(self._prepare_sut)

    def _connect_repeatedly(self) -> None:
        """Connect to the SUT and its control channel. Repeat failed attempts for ``start_wait_s`` seconds."""
        ends = time.monotonic() + self.start_wait_s
        while True:
            try:
                self._connect_once()
                return
            except SutUnavailable as error:
                if time.monotonic() >= ends:
                    waited = f" (waited {self.start_wait_s} s)" if self.start_wait_s else ""
                    raise SutUnavailable(f"{error}{waited}") from error
                self.agent.end()
            time.sleep(PAUSE_BETWEEN_ATTEMPTS_S)

    def _connect_once(self) -> None:
        driver = self.file.driver
        try:
            socket.create_connection((driver.address, self.tcp_port), timeout=5).close()
        except OSError as error:
            raise SutUnavailable(
                f"{self.file.sut.name}: cannot connect to {driver.address}:{self.tcp_port}: {error.strerror or error}; "
                "check that the system runs, and that address and tcp_port in [driver] are right"
            ) from error
        if self.control_route is not None:
            self._call_with_control(lambda control, who: None)
        if self.rpc_port == 0 and self.file.capabilities.get("qm2qm", False):
            from harness.sut import endpoint_mapper  # importing the layers of DCE/RPC takes a second

            self.rpc_port = endpoint_mapper.ask_qmcomm_port(driver.address)
            self.file = replace(self.file, driver=replace(driver, rpc_port=self.rpc_port))

    @property
    def control_route(self) -> ControlRoute | None:
        """The route to the control channel, or None if the SUT file declares no control channel."""
        if self.file.control.kind == "stdio":
            return self.agent
        return None if self.control_endpoint is None else TcpRoute(self.control_endpoint)

    @property
    def _start_timeout_ms(self) -> int:
        return self.file.driver.start_timeout_s * 1_000

    @property
    def timeouts(self) -> Timeouts:
        """The timeouts that apply. They are computed from the SUT file and from the measured speed of the system."""
        return self.vital_signs.timeouts

    def _call_with_control(self, action: Callable[[Control, SutIdentity], ResultOfControlCall]) -> ResultOfControlCall:
        """Open a control channel, call a function with it, close it, and return the result of the function."""
        route = self.control_route
        assert route is not None
        environment = RealEnvironment()
        try:
            control, who = self._open_control(environment, route)
            found = action(control, who)
            control.close()
        finally:
            environment.close()
        return found

    def _prepare_sut(self, control: Control, who: SutIdentity) -> None:
        """Reset the SUT and set its timers for the run, as far as the control channel supports this."""
        if self.resets and "reset" in who.facilities:
            control.call("reset")
        if "set_timers" in who.facilities:
            self._timers = {"scale": control.call("set_timers")["scale"]}
            wanted = self.file.control.time_scale
            scale = self.timeouts.scale(min(wanted, SHARED_SUT_TIME_SCALE) if self.shared else wanted)
            control.call("set_timers", scale=scale)

    def open(
        self, seed: str, run: str = "", fresh_peer: int | None = None, needs: Collection[str] = frozenset()
    ) -> Sut:
        environment = RealEnvironment(shares_clock=is_own_address(self.file.driver.address))
        environment.pulse = self.vital_signs.pulse(environment)
        return self.open_sut_in_environment(environment, seed, run, fresh_peer)

    def open_sut_in_environment(
        self, environment: RealEnvironment, seed: str, run: str, fresh_peer: int | None = None
    ) -> Sut:
        """Return one test's view of the SUT, in an environment that the views of other SUTs may also use."""
        file = self.file if fresh_peer is None else derive_fresh_peer_file(self.file, run, fresh_peer)
        control: Control | None = None
        who = SutIdentity(self.identifier)
        try:
            if (route := self.control_route) is not None:
                control, who = self._open_control(environment, route)
            elif file.commands:
                control, who = (
                    self._make_command_control(environment),
                    SutIdentity(self.identifier, list_facilities(file.commands)),
                )
            control, who = add_remote_reading_to_control(control, who, environment, file, self.rpc_port)
            ports = self.tcp_port, self.ping_port, self.rpc_port
            resets = self.resets and not self.are_other_workers_running
            view = build_sut_view(file, environment, control, who, *ports, reset=resets, timeouts=self.timeouts)
        except MqconformError:
            environment.close()
            raise
        view.first_message_id = self._choose_first_message_id()
        view.own = sha256(f"{run} {seed}".encode()).hexdigest()[:QUEUE_SUFFIX_DIGITS]
        view.shared = self.are_other_workers_running
        view.knows_peer = fresh_peer is None
        view.forgets = resets and "reset" in view.facilities
        view.peer_returns = file.driver.peer_address == self.file.driver.peer_address
        view.process_ended = self.describe_end
        self.tape = view.tape
        return view

    def _make_command_control(self, environment: Environment) -> CommandControl:
        commands = {
            verb: self._fill_in_command(command, f"commands.{verb}") for verb, command in self.file.commands.items()
        }
        listens = Endpoint(self.file.driver.address, self.tcp_port)
        return CommandControl(
            environment, commands, self.file.environment.timeout_s * 1_000, self._identify_acceptor, listens
        )

    def describe_end(self, within_s: float = 0) -> str | None:
        """Return None. The run did not start the SUT's process, and so cannot know its end."""
        return None

    def describe_unexpected_end(self, *, has_other_side_closed_connection: bool) -> str | None:
        """Return None, because the run cannot observe an external process."""
        return None

    def take_process_end(self, check: str | None) -> ProcessEnd | None:
        """Return None, because the run cannot observe an external process."""
        return None

    def start_again(self) -> None:
        """Do nothing, because the run did not start the process."""

    def confirm_same_system(self) -> None:
        """Raise SutLost if the sessions or the control channel now belong to a system that differs from the system
        at the start of the run.
        """
        if self.shared and self.worker:
            return  # the first worker checks it
        now = self._get_identifier()
        if self.identifier is not None and now != self.identifier:
            raise SutLost(
                f"{self.file.sut.name} was queue manager {self.identifier} at the start of the run; "
                + (
                    f"now {now} answers, which is a different system"
                    if now
                    else "now the system does not answer an EstablishConnection"
                )
            )

    def _get_identifier(self) -> UUID | None:
        """Return the QueueManager.Identifier of the SUT. Raise SutLost if a session and the control channel return
        different identifiers.
        """
        of_session = self._identify_acceptor()
        if (route := self.control_route) is None:
            return of_session
        who = self.identify_system()
        if of_session not in (None, who.identifier):
            raise SutLost(
                f"{self.file.sut.name}: {self.file.driver.address}:{self.tcp_port} is queue manager {of_session}, "
                f"but {route.name} belongs to {who.identifier}; set address, tcp_port and control.address "
                "to those of one system"
            )
        return who.identifier

    def identify_system(self) -> SutIdentity:
        """Request the system's identity and facilities on the control channel. The SUT file must declare a control
        channel.
        """
        return self._call_with_control(lambda control, who: who)

    def _identify_acceptor(self) -> UUID | None:
        """Return the identifier that the queue manager at the SUT's address returns for an EstablishConnection."""
        driver = self.file.driver
        return discover_identifier(driver.address, self.tcp_port, derive_identity_peer(driver.peer_identifier))

    def _open_control(self, environment: Environment, route: ControlRoute) -> tuple[Control, SutIdentity]:
        """Open a control channel, and request the identity of the system. Raise SutLost if the system does not
        return its identity, or if it is not the system of the start of the run.
        """
        control: Control | None = None
        try:
            control = JsonlControl(environment, route, answer_ms=self.timeouts.control_ms)
            found = request_identity(control)
        except SutUnavailable as error:
            if (how := self.describe_end(END_OF_PROCESS_WAIT_S)) is not None:
                raise SutUnavailable(f"{self.file.sut.name}: the program ended with {how}") from error
            remedy = "; check that the agent runs, and that [control] is right" if control is None else ""
            raise SutLost(f"{self.file.sut.name}: {error}{remedy}") from error
        if self.identifier is not None and found.identifier != self.identifier:
            raise SutLost(
                f"{self.file.sut.name} was queue manager {self.identifier} at the start of the run; "
                f"the control channel now belongs to {found.identifier}, which is a different system"
            )
        return control, found

    def _choose_first_message_id(self) -> int:
        """Return the first MessageID for a test. No other test and no run of the last hours has used the MessageIDs of
        this test. Therefore they are not in the SUT's history of message identifiers, which covers half an hour
        (MS-MQQB 3.1.2.8).
        """
        self._message_ids_block = max(self._message_ids_block + 1, time.time_ns() // SHORTEST_TEST_NS)
        return 1 + (self._message_ids_block * MESSAGE_IDS_PER_TEST & 0x7FFF_FFFF)

    def stop(self) -> None:
        """Restore the original timers of the SUT, end the agent, and leave the SUT running."""
        timers, self._timers = self._timers, {}
        if timers:
            with contextlib.suppress(SutUnavailable):  # a system that has ended has no timers
                self._call_with_control(lambda control, who: control.call("set_timers", **timers))
        self.agent.end()

    def _build_agent_command(self) -> list[str]:
        return self._fill_in_command(self.file.control.command, "control.command")

    def _fill_in_command(self, command: Sequence[str], key: str) -> list[str]:
        """Replace the placeholders in a command of the SUT file by the values of this worker's SUT."""
        driver = self.file.driver
        values = {name: getattr(driver, name) for name in ("address", *PORT_KEYS, "peer_address", "peer_identifier")}
        values |= {"python": sys.executable, "worker": self.worker}
        values |= {"folder": self.file.path.parent if self.file.path is not None else Path()}
        values |= {"control_port": self.control_endpoint.port if self.control_endpoint is not None else 0}
        try:
            return [part.format(**values) for part in command]
        except (KeyError, IndexError, ValueError, AttributeError) as error:
            raise UsageError(
                f"{self.file.path}: {key}: unknown placeholder {error}; known: {', '.join(values)}"
            ) from error


def build_log_file_name_of_worker(name: str, worker: int) -> str:
    """Return the name of a worker's log file in the run folder, such as control.log or control-1.log."""
    stem, _, suffix = name.partition(".")
    return f"{stem}-{worker}.{suffix}" if worker else name


def _get_control_endpoint(file: SutFile) -> Endpoint | None:
    if file.control.kind != "jsonl":
        return None
    return parse_endpoint(f"{file.path}: control.address is {file.control.address!r}", file.control.address, lowest=0)
