"""Define a topology (sender, router, receiver) as checks see it. This module does not depend on the drivers of the
systems.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from harness.capture.recorder import Frame, Recorder
from harness.environment import Environment
from harness.sut.sut import Sut
from harness.topology.relay import Relay
from harness.topology.topology_file import RECEIVER_ROLE, ROUTER_ROLE, SENDER_ROLE
from harness.topology.traffic import Judge, RelayTraffic
from reference_qm.surface.inputs import Endpoint

RESEND_WAIT_MS = 30_000
"""int ms: the time after which a system sends transactional messages without an OrderAck again (MS-MQQB 3.1.2.6,
note <50>).
"""
MAX_POLLS_UNTIL_MESSAGES_SENT = 24


@dataclass(frozen=True, slots=True)
class System:
    """A system of a topology. ``address``: the address at which the two other systems reach it."""

    role: str
    address: str
    sut: Sut


class Topology:
    """Three systems and the relays between them.

    ``port``: the port of each system at its address. ``residue``: the function that is called with a description of
    the changes that could not be undone.
    """

    def __init__(
        self,
        environment: Environment,
        systems: Mapping[str, System],
        port: int,
        recorder: Recorder,
        judge: Judge,
        residue: list[str],
    ) -> None:
        self.environment = environment
        self.systems = systems
        self._residue = residue
        self.traffic = RelayTraffic(recorder, {one.address: one.role for one in systems.values()}, judge)
        self.traffic.identifiers |= {one.sut.guid: one.role for one in systems.values()}
        self._relays = {
            one.role: Relay(environment, Endpoint(one.address, port), one.sut.endpoint, self.traffic, one.address)
            for one in systems.values()
        }

    @property
    def sender(self) -> Sut:
        """The system whose applications send messages."""
        return self.systems[SENDER_ROLE].sut

    @property
    def router(self) -> Sut:
        """The system that routes the messages."""
        return self.systems[ROUTER_ROLE].sut

    @property
    def receiver(self) -> Sut:
        """The system with the destination queues."""
        return self.systems[RECEIVER_ROLE].sut

    @property
    def broken(self) -> str | None:
        """A one-line message about a system whose environment could not be restored, or None if all environments
        were restored.
        """
        said = (f"{one.role}: {one.sut.broken}" for one in self.systems.values() if one.sut.broken is not None)
        return next(said, None)

    def cut(self, role: str) -> None:
        """Interrupt the network between a system and the systems that connect to it."""
        self._relays[role].cut()

    def restore_connections(self, role: str) -> None:
        """Restore the network between a system and the systems that connect to it."""
        self._relays[role].allow_connections()

    def wait_for(self, kind: str, *, by: str, to: str, count: int = 1, within_ms: int) -> list[Frame]:
        """Wait until one system has sent ``count`` packets of the given kind to another system, and return these
        packets.
        """
        self.environment.run_until(
            lambda: len(self.traffic.list_packets_from_system(kind, by=by, to=to)) >= count, within_ms
        )
        return self.traffic.list_packets_from_system(kind, by=by, to=to)

    def pass_time(self, ms: int) -> None:
        """Let time pass while the systems run."""
        self.environment.run_until(lambda: False, ms)

    def _await_sent_messages(self, sut: Sut, names: Collection[str]) -> bool:
        """Wait until all messages to queues of this check have been sent and acknowledged; return whether this happened
        in time.
        """
        for _ in range(MAX_POLLS_UNTIL_MESSAGES_SENT):
            if not sut.count_waiting_messages(names):
                return True
            self.pass_time(sut.duration_ms(RESEND_WAIT_MS) // 4)
        return False

    def close(self) -> None:
        """Restore the original state of the systems while they can still reach each other.

        First wait until no system has packets for another system, because such packets would otherwise arrive
        during the next check.
        """
        for relay in self._relays.values():
            relay.allow_connections()
        names = [name for system in self.systems.values() for name in system.sut.list_created_format_names()]
        for system in self.systems.values():
            if not self._await_sent_messages(system.sut, names):
                system.sut.residue.append(f"unsent messages of the {system.role} to other systems")
        for system in self.systems.values():
            system.sut.restore_state()
            if system.sut.residue is not self._residue:
                self._residue += [f"{system.role}: {what}" for what in system.sut.residue]
        for relay in self._relays.values():
            relay.cut()
