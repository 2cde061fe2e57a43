"""Faults of MS-MQQB 3.1.7.8 Receive Ping Response in some of the Ping Responses only."""

from __future__ import annotations

from harness.faults.opening_sessions import (
    OpeningCondition,
    has_open_session,
    has_pinged_before,
    is_destination_not_direct_name,
    sends_transactional_message,
)
from harness.faults.parts import replace_part
from harness.faults.registry import Install, add
from reference_qm.codec import PingPacket
from reference_qm.core.sessions.ping_handling import PingHandling
from reference_qm.model.adm import Session
from reference_qm.model.states import AwaitedOpeningEvent
from reference_qm.surface.clock import Now


def ignore_ping_response(when: OpeningCondition) -> Install:
    """Return an installer of a fault that ignores the Ping Responses of selected sessions."""

    class ResponseIgnored(PingHandling):
        def on_ping_response_processed(self, session: Session, response: PingPacket, now: Now) -> None:
            if not when(self.qm, session):
                super().on_ping_response_processed(session, response, now)

    return replace_part(ResponseIgnored)


def delay_ping_response_until_timer_expires(when: OpeningCondition) -> Install:
    """Return an installer of a fault that uses the Ping Responses of selected sessions only when the Ping Response
    Timer expires.
    """

    class ResponseDelayed(PingHandling):
        def on_ping_response_processed(self, session: Session, response: PingPacket, now: Now) -> None:
            if when(self.qm, session):
                self.__dict__.setdefault("responses", {})[session.number] = response
            else:
                super().on_ping_response_processed(session, response, now)

        def on_response_timer(self, session: Session, now: Now) -> None:
            response = self.__dict__.get("responses", {}).pop(session.number, None)
            if response is not None and session.awaited_opening_event is AwaitedOpeningEvent.PING_RESPONSE:
                super().on_ping_response_processed(session, response, now)
            else:
                super().on_response_timer(session, now)

    return replace_part(ResponseDelayed)


for _name, _says, _when in (
    (
        "initiator-ping-response-for-transactional-message-ignored",
        "The initiator ignores the Ping Response if a transactional message waits.",
        sends_transactional_message,
    ),
    (
        "initiator-ping-response-beside-open-session-ignored",
        "The initiator ignores the Ping Response while another session is open.",
        has_open_session,
    ),
    (
        "initiator-ping-response-for-private-name-ignored",
        "The initiator ignores the Ping Response if the destination is not a direct format name.",
        is_destination_not_direct_name,
    ),
):
    add(_name, "MQQB-3.1.7.8-01", _says, ignore_ping_response(_when), blind=True)

for _name, _says, _when in (
    (
        "initiator-later-wait-for-ping-response-ends-with-timer",
        "The initiator uses the response to each Ping Request except the first only when the Ping Response Timer "
        "expires.",
        has_pinged_before,
    ),
    (
        "initiator-wait-for-ping-response-beside-open-session-ends-with-timer",
        "The initiator uses the Ping Response only when the Ping Response Timer expires if another session is open.",
        has_open_session,
    ),
    (
        "initiator-wait-for-ping-response-of-transactional-message-ends-with-timer",
        "The initiator uses the Ping Response only when the Ping Response Timer expires if a transactional message "
        "waits.",
        sends_transactional_message,
    ),
):
    add(_name, "MQQB-3.1.7.8-05", _says, delay_ping_response_until_timer_expires(_when), blind=True)
