"""Faults of MS-MQQB 3.1.5.1 Receiving Any Packet, by an author who had not seen the checks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.registry import FaultyCore, Install, add
from reference_qm.codec import FormatError
from reference_qm.core.sessions.closing import Closing
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import BytesReceived, Input

SIGNATURE = b"LIOR"


def _change_received_bytes(change: Callable[[bytes], bytes], meant: Callable[[Session], bool]) -> Install:
    """Change the bytes that arrive on sessions that meet a condition."""

    def install_change(faulty: FaultyCore) -> None:
        def filter_bytes(event: Input) -> Iterable[Input]:
            if isinstance(event, BytesReceived):
                session = faulty.core.transports.get(event.transport)
                if isinstance(session, Session) and meant(session):
                    return [replace(event, data=change(event.data))]
            return [event]

        faulty.input_filters.append(filter_bytes)

    return install_change


def _correct_version(data: bytes) -> bytes:
    return b"\x10" + data[1:] if data[:1] == b"\x11" else data


def _correct_end_of_signature(data: bytes) -> bytes:
    return data[:4] + SIGNATURE + data[8:] if data[4:6] == SIGNATURE[:2] else data


def _correct_case_of_signature(data: bytes) -> bytes:
    return data[:4] + SIGNATURE + data[8:] if data[4:8].upper() == SIGNATURE else data


def _correct_signature(data: bytes) -> bytes:
    return data[:4] + SIGNATURE + data[8:] if len(data) >= 16 else data


for name, rule, says, change, meant in (
    (
        "queue-manager-packet-of-version-0x11-accepted",
        "MQQB-3.1.5.1.2-D01",
        "A queue manager accepts packets with VersionNumber 0x11.",
        _correct_version,
        lambda session: True,
    ),
    (
        "queue-manager-signature-compared-in-two-bytes",
        "MQQB-3.1.5.1.2-D01",
        "A queue manager compares only the first two bytes of Signature.",
        _correct_end_of_signature,
        lambda session: True,
    ),
    (
        "queue-manager-signature-compared-without-case",
        "MQQB-3.1.5.1.2-D01",
        "A queue manager accepts a Signature in lower case.",
        _correct_case_of_signature,
        lambda session: True,
    ),
    (
        "initiator-signature-of-responses-not-compared",
        "MQQB-3.1.5.1.2-01",
        "An initiator does not compare Signature of the packets of the session set-up.",
        _correct_signature,
        lambda session: session.initiator and session.SessionState is not SessionState.OPEN,
    ),
    (
        "initiator-signature-on-open-session-not-compared",
        "MQQB-3.1.5.1.2-01",
        "An initiator does not compare Signature of packets that arrive on its open session.",
        _correct_signature,
        lambda session: session.initiator and session.SessionState is SessionState.OPEN,
    ),
    (
        "acceptor-signature-on-open-session-not-compared",
        "MQQB-3.1.5.1.2-01",
        "An acceptor does not compare Signature of packets that arrive on an open session.",
        _correct_signature,
        lambda session: not session.initiator and session.SessionState is SessionState.OPEN,
    ),
):
    add(name, rule, says, _change_received_bytes(change, meant), blind=True)


@fault("receiver-malformed-packet-on-second-session-ignored", breaks="MQQB-3.1.5.1.3-01", blind=True)
class SecondSessionIgnoresMalformed(Closing):
    """While another session is open, the receiver discards a malformed packet, but keeps the session of this packet
    open.
    """

    def refuse_malformed(self, session: Session, error: FormatError, now: Now) -> None:
        others = [one for one in self.qm.sessions.values() if one is not session]
        if not any(one.SessionState is SessionState.OPEN for one in others):
            super().refuse_malformed(session, error, now)


@fault("receiver-malformed-packet-closes-every-session", breaks="MQQB-3.1.5.1.3-01", blind=True)
class EverySessionClosed(Closing):
    """After a malformed packet, the receiver closes all sessions of the sender of this packet."""

    def refuse_malformed(self, session: Session, error: FormatError, now: Now) -> None:
        super().refuse_malformed(session, error, now)
        for other in list(self.qm.sessions.values()):
            if other.RemoteQMGuid == session.RemoteQMGuid and other.SessionState is SessionState.OPEN:
                self.close(other, "a fault", now)
