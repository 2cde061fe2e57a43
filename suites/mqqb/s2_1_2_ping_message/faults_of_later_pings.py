"""Faults in the ports of later Ping Requests. Spec: MS-MQQB 2.1.2."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.other_sessions import list_open_sessions
from harness.faults.parts import fault
from reference_qm.core.sessions.ping_handling import PingHandling
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


@fault("initiator-ignores-ping-response-while-session-is-open", breaks="MQQB-2.1.2-01", blind=True)
class InitiatorIgnoresPingResponseWhileSessionIsOpen(PingHandling):
    """The initiator receives no Ping Response on its source port while it has an open session."""

    def receive_response(self, data: bytes, now: Now) -> None:
        if not any(
            one.transport is not None for one in self.qm.sessions.values() if one.transport in self.qm.transports
        ):
            super().receive_response(data, now)


@fault("initiator-ping-response-to-later-request-not-received", breaks="MQQB-2.1.2-01", blind=True)
class InitiatorPingResponseToLaterRequestNotReceived(PingHandling):
    """The initiator receives only the first Ping Response on its source port."""

    def receive_response(self, data: bytes, now: Now) -> None:
        if not self.__dict__.get("has_received"):
            super().receive_response(data, now)
        self.__dict__["has_received"] = True


class _WrongPingPortFault(PingHandling):
    """An initiator that sends a Ping Request to the port after the correct one, for the sessions that a subclass
    selects.
    """

    def must_use_wrong_port(self, session: Session) -> bool:
        raise NotImplementedError

    def send_request(self, session: Session, now: Now) -> None:
        config = self.qm.config
        if self.must_use_wrong_port(session):
            self.qm.config = replace(config, remote_ping_port=config.remote_ping_port + 1)
        super().send_request(session, now)
        self.qm.config = config


@fault("initiator-pings-wrong-port-for-private-name", breaks="MQQB-2.1.2-D01", blind=True)
class InitiatorPingsWrongPortForPrivateName(_WrongPingPortFault):
    """The initiator sends the Ping Request for a private or public format name to a port other than 3527, the UDP port
    for pings.
    """

    def must_use_wrong_port(self, session: Session) -> bool:
        return not session.is_destination_direct


@fault("initiator-pings-wrong-port-while-session-is-open", breaks="MQQB-2.1.2-D01", blind=True)
class InitiatorPingsWrongPortWhileSessionIsOpen(_WrongPingPortFault):
    """While a session is open, the initiator sends a Ping Request to a port other than 3527, the UDP port for pings."""

    def must_use_wrong_port(self, session: Session) -> bool:
        return bool(list_open_sessions(self.qm, session))
