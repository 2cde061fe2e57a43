"""The system under test, as a check sees it: the same whatever driver reaches it."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from harness.environment import Environment
from harness.errors import ConformanceFailure, HarnessError
from harness.sut.control import Control
from harness.sut.provisioning import sut_keys
from harness.sut.remote_control import RemoteControl
from harness.sut.sut_file import CAPABILITIES, SutFile
from reference_qm.control import FACILITIES
from reference_qm.surface.inputs import Endpoint

MESSAGE_IDS_A_TEST = 1024
"""MessageIDs that a test may use. A SUT that outlives a test would take one used twice for a duplicate."""
RESPONSE_TIMEOUT_VIRTUAL_MS = 2_000
RESPONSE_TIMEOUT_REAL_MS = 3_000
QUIET_VIRTUAL_MS = 2_000
QUIET_CONTROLLED_MS = 250
"""With a control channel: a program beside the tester, which is seldom late."""
QUIET_REAL_MS = 1_500
"""Of any other: an answer that is a second late is an answer."""


class Sut:
    """One test's view of the SUT."""

    def __init__(
        self,
        file: SutFile,
        environment: Environment,
        control: Control | None,
        *,
        identifier: UUID | None,
        facilities: frozenset[str],
        tcp_port: int,
        ping_port: int,
        scale: int,
        encryption_keys: bytes = b"",
        rpc_port: int = 0,
    ) -> None:
        self.file = file
        self.environment = environment
        self._control = control
        self.identifier = identifier
        self.facilities = facilities
        self.tcp_port = tcp_port
        self.ping_port = ping_port
        self.scale = scale
        self.rpc_port = rpc_port
        """The port where it serves qmcomm and qm2qm."""
        self.encryption_keys = encryption_keys
        """Its PublicEncryptionKeyList (MQDSPUBLICKEYS), empty when its identity has none."""
        self.dirty = False
        """Whether something was left behind that only a restart clears (messages to a peer that is gone)."""
        self.first_message_id = 1
        """The first of the MessageIDs that this test's peer may use."""
        self._created: list[str] = []
        self._timers: dict[str, int] = {}
        """The timers that ``set_timers`` changed, as they were."""
        self._settings: dict[str, Any] = {}
        """The settings that ``configure`` changed, as they were."""

    # -- what it is ---------------------------------------------------------------------------------------------

    @property
    def address(self) -> str:
        """The address that it listens on."""
        return self.file.driver.address

    @property
    def endpoint(self) -> Endpoint:
        """Return the endpoint where it accepts sessions."""
        return Endpoint(self.address, self.tcp_port)

    @property
    def guid(self) -> UUID:
        """QueueManager.Identifier; ConformanceFailure when neither control nor a session has it."""
        if self.identifier is None:
            raise ConformanceFailure(
                "the SUT's QueueManager.Identifier is not known: it answered no EstablishConnection"
            )
        return self.identifier

    @property
    def receiving_keys(self) -> bytes:
        """The keys to encrypt for it with: those it tells of, else those of ``mqconform provision``."""
        return self.encryption_keys or sut_keys()

    def has(self, need: str) -> bool:
        """Return whether it has a capability (declared) or a facility (of its control channel)."""
        if need in CAPABILITIES:
            return self.file.capabilities.get(need, False)
        if need in FACILITIES:
            return need in self.facilities
        raise HarnessError(f"unknown need {need!r}; known are {', '.join([*CAPABILITIES, *FACILITIES])}")

    # -- time ---------------------------------------------------------------------------------------------------

    @property
    def response_timeout_ms(self) -> int:
        """Return how long to wait for something that should come at once."""
        return RESPONSE_TIMEOUT_VIRTUAL_MS if self.environment.virtual else RESPONSE_TIMEOUT_REAL_MS

    @property
    def quiet_ms(self) -> int:
        """Return the silence window: how long to wait before nothing counts as nothing."""
        if self.environment.virtual:
            return QUIET_VIRTUAL_MS
        return QUIET_REAL_MS if self.file.control.kind == "none" else QUIET_CONTROLLED_MS

    def duration_ms(self, specified_ms: int) -> int:
        """Return how long a protocol timer of so many specified ms runs here (set_timers)."""
        return max(1, specified_ms // self.scale)

    def slack_ms(self, specified_ms: int) -> int:
        """Return how much later than its duration a timer may be seen to expire: network, scheduling."""
        return 20 if self.environment.virtual else 300 + self.duration_ms(specified_ms) // 4

    # -- queues and messages ------------------------------------------------------------------------------------

    @property
    def control(self) -> Control:
        """The control channel; ask ``has`` first."""
        if self._control is None:
            raise HarnessError("a check without needs(...) used the control channel")
        return self._control

    def queue(self, kind: str = "plain") -> str:
        """Return the path name of a queue of the SUT: plain, transactional, admin.

        It is made empty, and if need be made, where control or remote reading allows.
        """
        name: str = getattr(self.file.queues, kind)
        if isinstance(self._control, RemoteControl) and name not in self._created:
            self._control.call("purge", queue=name)
            self._created.append(name)
        elif "queue_control" in self.facilities and name not in self._created:
            existing = {queue["name"].lower() for queue in self.control.call("list")["queues"]}
            if name.lower() in existing:
                self.control.call("purge", queue=name)
            else:
                self.control.call("create_queue", name=name, transactional=kind == "transactional")
            self._created.append(name)
        return name

    def format_name(self, kind: str = "plain") -> str:
        """Return the direct format name of a queue of the SUT."""
        return f"DIRECT=TCP:{self.address}\\{self.queue(kind)}"

    def send(self, to: str, **fields: Any) -> str:
        """Let the SUT send a message; return its message id."""
        self.dirty = True
        return str(self.control.call("send", to=to, **fields)["message_id"])

    def messages(self, kind: str = "plain") -> list[dict[str, Any]]:
        """Read what is in a queue of the SUT (control verb peek), leaving it there."""
        return list(self.control.call("peek", queue=self.queue(kind))["messages"])

    def pause(self, to: str) -> None:
        """Hold the outgoing queue for a format name (MS-MQQB 3.1.7.13)."""
        self.dirty = True
        self.control.call("pause_queue", to=to)

    def resume(self, to: str) -> None:
        """Let the outgoing queue for a format name send again (MS-MQQB 3.1.7.14)."""
        self.control.call("resume_queue", to=to)

    def inspect(self) -> dict[str, Any]:
        """Read the SUT's abstract data model."""
        return dict(self.control.call("inspect")["adm"])

    def set_timers(self, **durations: int) -> None:
        """Change specified durations (in specified ms, before scaling) of the SUT for this test."""
        self.dirty = True
        in_force = self.control.call("set_timers")
        self._timers = {name: in_force[name] for name in durations} | self._timers
        self.control.call("set_timers", **durations)
        self.scale = durations.get("scale", self.scale)

    def slow_down(self, scale: int) -> None:
        """Let protocol timers run at most so many times faster than specified, where a check has to act in between."""
        if self.scale > scale:
            self.set_timers(scale=scale)

    def configure(self, **settings: Any) -> None:
        """Change settings of the SUT (MS-MQQB 3.1.1.3) for this test."""
        in_force = self.control.call("configure")
        self._settings = {name: in_force[name] for name in settings} | self._settings
        self.control.call("configure", **settings)

    def restart(self) -> None:
        """Stop and start the SUT: express messages and sessions are gone."""
        self.control.call("restart")
        self._created.clear()
        self.dirty = False

    def close(self) -> None:
        """Leave the SUT as the next test wants it, as far as its control channel allows."""
        if "reset" not in self.facilities:  # else the next test begins with it
            self._put_back()
        if self._control is not None:
            self._control.close()

    def _put_back(self) -> None:
        if self._timers:
            self.control.call("set_timers", **self._timers)
        if self._settings:
            self.control.call("configure", **self._settings)
        if self.dirty and "restart" in self.facilities:
            self.restart()
