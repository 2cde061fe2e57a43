"""A topology as a check sees it, the same for all systems."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from harness.capture.recorder import Frame, Recorder
from harness.environment import Environment
from harness.sut.sut import Sut
from harness.topology.relay import Relay
from harness.topology.topology_file import RECEIVER, ROUTER, SENDER
from harness.topology.traffic import Judge, Traffic
from reference_qm.surface.inputs import Endpoint

RESEND_MS = 30_000
"""The time after which transactional messages are sent again for want of an OrderAck (MS-MQQB 3.1.2.6, note <50>)."""
POLLS_UNTIL_SENT = 24


@dataclass(frozen=True, slots=True)
class System:
    """One system. ``address``: where the two other systems find it."""

    role: str
    address: str
    sut: Sut


class Topology:
    """Three systems and the relays between them.

    ``port``: the port of each system at its address; ``residue``: gets a report of changes that could not be reverted.
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
        self.traffic = Traffic(recorder, {one.address: one.role for one in systems.values()}, judge)
        self.traffic.identifiers |= {one.sut.guid: one.role for one in systems.values()}
        self._relays = {
            one.role: Relay(environment, Endpoint(one.address, port), one.sut.endpoint, self.traffic, one.address)
            for one in systems.values()
        }

    @property
    def sender(self) -> Sut:
        """The system whose applications send."""
        return self.systems[SENDER].sut

    @property
    def router(self) -> Sut:
        """The system that messages pass on their way."""
        return self.systems[ROUTER].sut

    @property
    def receiver(self) -> Sut:
        """The system that has the queues."""
        return self.systems[RECEIVER].sut

    @property
    def broken(self) -> str | None:
        """Restore the environment of one of them; return in one line what could not be restored."""
        said = (f"{one.role}: {one.sut.broken}" for one in self.systems.values() if one.sut.broken is not None)
        return next(said, None)

    def cut(self, role: str) -> None:
        """Take the network away between a system and who connects to it."""
        self._relays[role].cut()

    def mend(self, role: str) -> None:
        """Give it back."""
        self._relays[role].let_through()

    def wait_for(self, kind: str, *, by: str, to: str, count: int = 1, within_ms: int) -> list[Frame]:
        """Return the packets of a kind that one system sent to another, as soon as ``count`` of them have come."""
        self.environment.run_until(lambda: len(self.traffic.packets_sent(kind, by=by, to=to)) >= count, within_ms)
        return self.traffic.packets_sent(kind, by=by, to=to)

    def pass_time(self, ms: int) -> None:
        """Let the systems run for a while."""
        self.environment.run_until(lambda: False, ms)

    def _has_sent_all(self, sut: Sut, names: Collection[str]) -> bool:
        """Wait until everything for queues of this check was sent and acknowledged."""
        for _ in range(POLLS_UNTIL_SENT):
            if not sut.waiting_for(names):
                return True
            self.pass_time(sut.duration_ms(RESEND_MS) // 4)
        return False

    def close(self) -> None:
        """Leave the systems as they were, while they can still talk to each other.

        Wait until no system has packets for another: they would arrive during the next check.
        """
        for relay in self._relays.values():
            relay.let_through()
        names = [name for system in self.systems.values() for name in system.sut.made_format_names()]
        for system in self.systems.values():
            if not self._has_sent_all(system.sut, names):
                system.sut.residue.append(f"messages that the {system.role} still has for others")
        for system in self.systems.values():
            system.sut.tidy()
            if system.sut.residue is not self._residue:
                self._residue += [f"{system.role}: {what}" for what in system.sut.residue]
        for relay in self._relays.values():
            relay.cut()
