"""Faults of MS-MQQB 3.1.6.1 Session Retry Connect Timer Event that appear at a later expiry or on a second session."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.parts import change_step, fault
from harness.faults.registry import Install, add
from reference_qm.core.sessions.session_address_resolving import SessionAddressResolving
from reference_qm.core.sessions.session_connecting import SessionConnecting
from reference_qm.core.sessions.session_establishing import SessionEstablishing
from reference_qm.core.sessions.session_initialization import SessionInitialization
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now

RetryCondition = Callable[[Any, Any, int], bool]
"""The type of conditions: a function of the part, the session and the number of earlier expiries of its timer."""


def _ignore_retry_timer(when: RetryCondition) -> Install:
    """Return an installer of a fault that ignores selected expiries of the Session Retry Connect Timer."""

    def run(self: Any, original: Any, session: Any, now: Any) -> None:
        expired = self.__dict__.setdefault("expired", {})
        earlier = expired.get(session.number, 0)
        if session.SessionState is SessionState.WAITING_RECONNECT:
            expired[session.number] = earlier + 1
            if when(self, session, earlier):
                return
        original(session, now)

    return change_step(SessionEstablishing.on_session_retry_connect_timer, run)


def _is_older_session_waiting_for_retry(self: Any, session: Any, earlier: int) -> bool:
    return any(
        one.number < session.number
        for one in self.qm.sessions.values()
        if one.initiator and one.SessionState is SessionState.WAITING_RECONNECT
    )


def _change_session_after_next_hop_selection(change: Callable[[Any, Any], None]) -> Install:
    """Return an installer of a fault that changes a session after the selection of a further next hop."""

    def run(self: Any, original: Any, session: Any) -> None:
        original(session)
        if session.NextHopIndexer:
            change(self, session)

    return change_step(SessionAddressResolving.select_next_hop, run)


def _advance_next_hop_index_by_two(self: Any, original: Any, session: Any, now: Any) -> None:
    if session.NextHopIndexer == 1:
        session.NextHopIndexer += 1
    original(session, now)


def _try_second_next_hop_again(self: Any, original: Any, session: Any, now: Any) -> None:
    if session.NextHopIndexer == 1 and len(session.NextHopCollection) > 2:
        session.NextHopIndexer = 0
    original(session, now)


def _resolve_host_name_again_at_second_next_hop(self: Any, original: Any, session: Any, now: Any) -> None:
    waiting = session.SessionState is SessionState.WAITING_RECONNECT and len(session.OutgoingMessageTable)
    if waiting and session.NextHopIndexer >= 1 and self.qm.session_connecting.may_connect():
        self.establish(session, now, again=True)
    else:
        original(session, now)


def _stop_retries_after_last_next_hop(self: Any, original: Any, session: Any, now: Any) -> None:
    hops = session.NextHopCollection
    if len(hops) > 1 and session.NextHopIndexer + 1 >= len(hops):
        return
    original(session, now)


def _connect_to_second_next_hop_address(self: Any, original: Any, session: Any) -> None:
    address = session.RemoteQMAddress
    if session.NextHopIndexer >= 2:
        session.RemoteQMAddress = session.NextHopCollection[1].Address
    original(session)
    session.RemoteQMAddress = address


def _withhold_messages_of_lost_session(when: Callable[[Any, Any, bool], bool]) -> Install:
    """Return an installer of a fault that does not resend selected messages of a lost session."""

    def run(self: Any, original: Any, session: Any) -> None:
        losses = self.__dict__.setdefault("losses", {})
        sent = [one for one in session.OutgoingMessageTable if one.Transmitted]
        again = losses.get(session.number, 0) > 0
        losses[session.number] = losses.get(session.number, 0) + bool(sent)
        chosen = {one.order for one in sent if when(one, sent, again)}
        original(session)
        table = session.OutgoingMessageTable
        table.withhold_all_positions()
        for position in table:
            if position.order not in chosen:
                self.qm.dispatch_collection.add(session, position)

    return change_step(SessionInitialization.initialize_messages, run)


def _clear_remote_host_name(self: Any, session: Any) -> None:
    session.RemoteQMHostName = ""


_FAULTS: tuple[tuple[str, str | tuple[str, ...], str, Install], ...] = (
    (
        "initiator-third-retry-omitted",
        "MQQB-3.1.6.1-01",
        "The initiator ignores the third and each later expiry of the Session Retry Connect Timer.",
        _ignore_retry_timer(lambda self, session, earlier: earlier > 1),
    ),
    (
        "initiator-retry-of-second-session-omitted",
        "MQQB-3.1.6.1-01",
        "The initiator ignores the expiry of the timer while an older session also waits for its timer.",
        _ignore_retry_timer(_is_older_session_waiting_for_retry),
    ),
    *(
        (
            f"initiator-retry-for-{label}-omitted",
            "MQQB-3.1.6.1-01",
            f"The initiator does not connect again if {words} wait.",
            _ignore_retry_timer(when),
        )
        for label, words, when in (
            (
                "express-messages",
                "only express messages",
                lambda self, session, earlier: not any(one.recoverable for one in session.OutgoingMessageTable),
            ),
            (
                "transactional-messages",
                "transactional messages",
                lambda self, session, earlier: any(one.TxSequenceNumber for one in session.OutgoingMessageTable),
            ),
            (
                "several-messages",
                "several messages",
                lambda self, session, earlier: len(session.OutgoingMessageTable) > 1,
            ),
            (
                "own-messages",
                "only messages that the initiator created itself",
                lambda self, session, earlier: all(
                    one.UserMessage.MessagePropertiesHeader.MessageClass for one in session.OutgoingMessageTable
                ),
            ),
        )
    ),
    (
        "initiator-third-next-hop-skipped",
        ("MQQB-3.1.6.1-04", "MQQB-3.1.6.1-05"),
        "The initiator advances NextHopIndexer by two after the second next hop.",
        change_step(SessionEstablishing.on_session_retry_connect_timer, _advance_next_hop_index_by_two),
    ),
    (
        "initiator-third-next-hop-never-tried",
        ("MQQB-3.1.6.1-04", "MQQB-3.1.6.1-05"),
        "The initiator alternates between the first and the second next hop.",
        change_step(SessionEstablishing.on_session_retry_connect_timer, _try_second_next_hop_again),
    ),
    (
        "initiator-third-next-hop-resolved-again",
        ("MQQB-3.1.6.1-04", "MQQB-3.1.6.1-09"),
        "The initiator resolves the addresses again after the second next hop, even if there is a third next hop.",
        change_step(SessionEstablishing.on_session_retry_connect_timer, _resolve_host_name_again_at_second_next_hop),
    ),
    (
        "initiator-no-retry-after-last-of-several-next-hops",
        "MQQB-3.1.6.1-03",
        "The initiator does not connect again after the last of several next hops.",
        change_step(SessionEstablishing.on_session_retry_connect_timer, _stop_retries_after_last_next_hop),
    ),
    (
        "initiator-third-next-hop-with-second-address",
        "MQQB-3.1.6.1-06",
        "The initiator connects to the address of the second next hop when it tries the third next hop.",
        change_step(SessionConnecting.connect_transport, _connect_to_second_next_hop_address),
    ),
    (
        "initiator-host-name-of-further-next-hop-empty",
        "MQQB-3.1.6.1-07",
        "The initiator sets RemoteQMHostName to an empty string when it tries a further next hop.",
        _change_session_after_next_hop_selection(_clear_remote_host_name),
    ),
    *(
        (
            f"initiator-{label}-of-lost-session-not-sent-again",
            ("MQQB-3.1.6.1-10", "MQQB-3.1.6.1-D01"),
            f"The initiator does not send {words} of a lost session on the new session.",
            _withhold_messages_of_lost_session(when),
        )
        for label, words, when in (
            (
                "last-message",
                "the last of several messages",
                lambda one, sent, again: len(sent) > 2 and one is sent[-1],
            ),
            ("express-messages", "the express messages", lambda one, sent, again: not one.recoverable),
            ("transactional-messages", "the transactional messages", lambda one, sent, again: one.TxSequenceNumber),
            (
                "messages-of-second-loss",
                "the messages that were also sent on an earlier lost session",
                lambda one, sent, again: again,
            ),
            (
                "own-messages",
                "the messages that it created itself",
                lambda one, sent, again: bool(one.UserMessage.MessagePropertiesHeader.MessageClass),
            ),
        )
    ),
)
for _name, _breaks, _says, _install in _FAULTS:
    add(_name, _breaks, _says, _install, blind=True)


@fault("initiator-last-of-several-next-hops-tried-forever", breaks="MQQB-3.1.6.1-03", blind=True)
class InitiatorLastOfSeveralNextHopsTriedForever(SessionEstablishing):
    """The initiator connects to the last next hop again, if the Session Retry Connect Timer expires after the last of
    several next hops. It does not establish the session from the beginning.
    """

    def on_session_retry_connect_timer(self, session: Session, now: Now) -> None:
        hops = len(session.NextHopCollection)
        waits = session.SessionState is SessionState.WAITING_RECONNECT and len(session.OutgoingMessageTable)
        if not waits or hops < 2 or session.NextHopIndexer + 1 < hops or not self.qm.session_connecting.may_connect():
            super().on_session_retry_connect_timer(session, now)
            return
        session.is_retrying_connection = True
        self.qm.session_initialization.initialize_session(session, now)
        self.qm.session_address_resolving.select_next_hop(session)
        self.qm.ping_handling.ping_before_session(session, now)
