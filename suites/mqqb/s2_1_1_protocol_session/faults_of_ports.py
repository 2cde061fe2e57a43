"""Faults in the TCP port to which an initiator connects. Spec: MS-MQQB 2.1.1."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.core.sessions.session_connecting import SessionConnecting
from reference_qm.model.adm import Session


class _WrongConnectPortFault(SessionConnecting):
    """An initiator that connects to the port after the correct one, for the sessions that a subclass selects."""

    def must_use_wrong_port(self, session: Session) -> bool:
        raise NotImplementedError

    def connect_transport(self, session: Session) -> None:
        config = self.qm.config
        if self.must_use_wrong_port(session):
            self.qm.config = replace(config, remote_tcp_port=config.remote_tcp_port + 1)
        super().connect_transport(session)
        self.qm.config = config


@fault("initiator-connects-to-wrong-port-for-later-session", breaks="MQQB-2.1.1-02", blind=True)
class InitiatorConnectsToWrongPortForLaterSession(_WrongConnectPortFault):
    """After the first session with a destination, the initiator connects to a port other than 1801, the TCP port of
    queue managers.
    """

    def must_use_wrong_port(self, session: Session) -> bool:
        known = self.__dict__.setdefault("known", set())
        later = session.number in known
        known.add(session.number)
        return later


@fault("initiator-connects-to-wrong-port-for-private-name", breaks="MQQB-2.1.1-02", blind=True)
class InitiatorConnectsToWrongPortForPrivateName(_WrongConnectPortFault):
    """For a private or public format name, the initiator connects to a port other than 1801, the TCP port of queue
    managers.
    """

    def must_use_wrong_port(self, session: Session) -> bool:
        return not session.is_destination_direct
