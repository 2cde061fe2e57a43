"""Faults of MS-MQQB 3.1.5.3.1 Request Packet (of EstablishConnection)."""

from __future__ import annotations

from typing import Any

from harness.faults.made_up import OTHER_GUID
from harness.faults.parts import fault
from harness.faults.primitives import built_with, skip_during
from harness.faults.registry import add
from reference_qm.codec import (
    NULL_GUID,
    BaseHeader,
    EstablishConnectionHeader,
    EstablishConnectionPacket,
    InternalHeader,
)
from reference_qm.core.protocol.establishing import Establishing
from reference_qm.core.protocol.session_opening import SessionOpening
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now

_IN = BaseHeader.flags(IN=1)
_CS = InternalHeader.flags(CS=1)
_SE = EstablishConnectionHeader.flags(SE=1)

_FIELDS: tuple[tuple[str, str | tuple[str, ...], str, dict[str, Any]], ...] = (
    (
        "establish-response-not-internal",
        "MQQB-3.1.5.3.1-03",
        "The response has BaseHeader.Flags.IN clear.",
        {"BaseHeader.Flags": lambda old: old & ~_IN},
    ),
    (
        "establish-response-other-type",
        "MQQB-3.1.5.3.1-04",
        "The response has the PT of another packet.",
        {"InternalHeader.Flags": lambda old: old ^ 1},
    ),
    (
        "establish-response-refuses-all",
        ("MQQB-3.1.5.3.1-05", "MQQB-3.1.5.3.1-06"),
        "CS is always set.",
        {"InternalHeader.Flags": lambda old: old | _CS},
    ),
    (
        "establish-response-refuses-nobody",
        ("MQQB-3.1.5.3.1-05", "MQQB-3.1.5.3.1-07"),
        "CS is never set.",
        {"InternalHeader.Flags": lambda old: old & ~_CS},
    ),
    (
        "establish-response-client",
        "MQQB-3.1.5.3.1-08",
        "ClientGuid is made up.",
        {"EstablishConnectionHeader.ClientGuid": OTHER_GUID},
    ),
    (
        "establish-response-server",
        "MQQB-3.1.5.3.1-09",
        "ServerGuid is made up.",
        {"EstablishConnectionHeader.ServerGuid": OTHER_GUID},
    ),
    (
        "establish-response-timestamp",
        "MQQB-3.1.5.3.1-10",
        "TimeStamp is one more than asked.",
        {"EstablishConnectionHeader.TimeStamp": lambda old: old + 1 & 0xFFFFFFFF},
    ),
    (
        "establish-response-session-flag",
        "MQQB-3.1.5.3.1-11",
        "SE is the opposite of the request's.",
        {"EstablishConnectionHeader.OperatingSystem": lambda old: old ^ _SE},
    ),
    (
        "establish-response-reserved",
        "MQQB-3.1.5.3.1-12",
        "Reserved is 1.",
        {"EstablishConnectionHeader.Reserved": 1},
    ),
)
for _name, _rules, _says, _changes in _FIELDS:
    add(_name, _rules, _says, built_with(SessionOpening.build_establish_response, _changes))
add(
    "establish-response-unsent",
    "MQQB-3.1.5.3.1-02",
    "It is never sent.",
    skip_during(SessionOpening.receive_establish_request, Establishing.send),
)


@fault("remote-guid-of-acceptor", breaks="MQQB-3.1.5.3.1-01")
class RemoteGuidOfAcceptor(SessionOpening):
    """RemoteQMGuid of an accepted session is zero."""

    def receive_establish_request(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        super().receive_establish_request(session, packet, now)
        session.RemoteQMGuid = NULL_GUID


@fault("state-after-response-waiting-ec-msg", breaks="MQQB-3.1.5.3.1-13")
class StateAfterResponse(SessionOpening):
    """SessionState is WAITING_EC_MSG where it is to be WAITING_CP_MSG."""

    def receive_establish_request(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        super().receive_establish_request(session, packet, now)
        if session.SessionState is SessionState.WAITING_CP_MSG:
            session.SessionState = SessionState.WAITING_EC_MSG
