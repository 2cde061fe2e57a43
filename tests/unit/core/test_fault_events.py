"""Faults that change the handling of events, or the state after it."""

from __future__ import annotations

import pytest
from core_network import Host, Network

from harness.faults.events import call_after_posted_events, replace_method_during_event
from harness.faults.parts import override_method
from harness.faults.registry import FaultyCore
from reference_qm.core.events import MessageDeadlinesChanged, SessionMaySend
from reference_qm.core.replacing import replace_part_by_subclass
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.core.transfer.transactional_sending import TransactionalSending
from reference_qm.model.adm import OutgoingTransferSequence, Session

POSTER = TransactionalSending.on_ack_wait_timer


@pytest.fixture
def host() -> Host:
    return Network().host(1)


@pytest.fixture
def sent(host) -> list[int]:
    """Return the numbers of the sessions that were permitted to send."""
    numbers: list[int] = []
    noted = override_method(
        MessageSending.dispatch_messages, lambda original: lambda qm, session, now: numbers.append(session.number)
    )
    replace_part_by_subclass(host.core, noted)
    return numbers


def expire(host: Host, number: int) -> None:
    """Let a step post the event that a session may send."""
    session = Session(number, initiator=True)
    session.TxOutgoingSequence = OutgoingTransferSequence(ResendInterval=30, TimeOfLastAck=0)
    host.core.transactional_sending.on_ack_wait_timer(session, host.network.now)


def hear(host: Host) -> None:
    host.core.handle_events(host.network.now)


def tenfold(original, qm, session, now):
    return lambda qm, session, now: original(qm, Session(10 * session.number, initiator=True), now)


def test_method_is_replaced_while_event_is_handled(host, sent):
    replace_method_during_event(POSTER, SessionMaySend, MessageSending.dispatch_messages, tenfold)(
        FaultyCore(host.core)
    )
    expire(host, 1)
    host.core.post_event(SessionMaySend(Session(2, initiator=True)))
    hear(host)
    assert sent == [10, 2]


def test_method_is_not_replaced_while_other_event_is_handled(host, sent):
    replace_method_during_event(POSTER, MessageDeadlinesChanged, MessageSending.dispatch_messages, tenfold)(
        FaultyCore(host.core)
    )
    expire(host, 1)
    hear(host)
    assert sent == [1]


def test_two_method_replacements_during_one_event_compose(host, sent):
    for add in (1, 5):
        replace_method_during_event(
            POSTER,
            SessionMaySend,
            MessageSending.dispatch_messages,
            lambda original, *_, add=add: (
                lambda qm, session, now: original(qm, Session(session.number + add, initiator=True), now)
            ),
        )(FaultyCore(host.core))
    expire(host, 1)
    hear(host)
    assert sent == [7]


def test_fault_change_takes_effect_after_earlier_posted_events(host, sent):
    seen: list[list[int]] = []
    expire(host, 1)
    call_after_posted_events(host.core, lambda: seen.append(list(sent)))
    expire(host, 2)
    hear(host)
    assert (seen, sent) == ([[1]], [1, 2])
