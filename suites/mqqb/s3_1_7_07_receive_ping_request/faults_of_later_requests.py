"""Faults that break rules of MS-MQQB 3.1.7.7 Receive Ping Request for a later request or another state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.faults.registry import FaultyCore, Install, add
from reference_qm.codec import parse_ping
from reference_qm.model.states import SessionState
from reference_qm.surface.effects import Effect, SendDatagram
from reference_qm.surface.inputs import PingSocket

_SIGNATURE_OFFSET = 2


def _clear_signature_of_ping_response(when: Callable[[FaultyCore, list[bytes]], bool]) -> Install:
    """Return an installer of a fault that sets Signature of selected Ping Responses to 0. ``when`` is called with all
    responses so far, including the present response.
    """

    def install(faulty: FaultyCore) -> None:
        sent: list[bytes] = []

        def filter_response(effect: Effect) -> list[Effect]:
            if not isinstance(effect, SendDatagram) or effect.socket is not PingSocket.LISTENER:
                return [effect]
            sent.append(effect.data)
            if not when(faulty, sent):
                return [effect]
            data = effect.data[:_SIGNATURE_OFFSET] + b"\0\0" + effect.data[_SIGNATURE_OFFSET + 2 :]
            return [replace(effect, data=data)]

        faulty.effect_filters.append(filter_response)

    return install


def _has_open_session(faulty: FaultyCore, sent: list[bytes]) -> bool:
    return any(one.SessionState is SessionState.OPEN for one in faulty.core.sessions.values())


for _name, _says, _when in (
    (
        "acceptor-refusing-ping-response-without-signature",
        "The acceptor sets Signature of a Ping Response with RF 1 to 0.",
        lambda faulty, sent: bool(parse_ping(sent[-1]).RF),
    ),
    (
        "acceptor-second-ping-response-without-signature",
        "The acceptor sets Signature of its second and later Ping Responses to 0.",
        lambda faulty, sent: len(sent) > 1,
    ),
    (
        "acceptor-ping-response-during-session-without-signature",
        "The acceptor sets Signature of a Ping Response to 0 while a session is open.",
        _has_open_session,
    ),
):
    add(_name, "MQQB-3.1.7.7-10", _says, _clear_signature_of_ping_response(_when), blind=True)
