"""MS-MQQB 3.1.5.5.4 Source Journaling."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import facts
from harness.run.marks import covers, needs, varied
from harness.wire import session_ack
from suites.mqqb.steps.acknowledging import (
    MESSAGE_AS_HEADER_CARRIER,
    SESSION_ACK_AS_HEADER_CARRIER,
    send_session_header_in_carrier,
)
from suites.mqqb.steps.opening import private_name
from suites.mqqb.steps.sender import Sender
from suites.whole_messages import UNCHANGED_PROPERTIES_OUTCOME, describe_differences

SYSTEM_JOURNAL = "system$;journal"
TAG_OF_OWN_MESSAGE, TAG_OF_FORWARDED_MESSAGE = 1, 2


@covers("MQQB-3.1.5.5-06", "MQQB-3.1.5.5.4-01")
@needs("send", "receive")
@pytest.mark.parametrize(
    ("delivery", "carrier"),
    [
        ("express", SESSION_ACK_AS_HEADER_CARRIER),
        ("recoverable", SESSION_ACK_AS_HEADER_CARRIER),
        ("recoverable", MESSAGE_AS_HEADER_CARRIER),
    ],
)
@varied("response queue", "time to be received", priority=("3", "0"))
def test_acknowledged_messages_with_jp_are_journaled(peer, sut, judge, delivery, carrier):
    """The peer acknowledges three of four messages. Before the acknowledgment, the SUT's journal is empty. Afterwards,
    it contains the two acknowledged messages with JP set, one of which has no body.
    """
    sender = Sender(peer, sut)
    with_jp = sender.send(1, journal=["positive"], delivery=delivery)
    with_jp += sender.send(2, journal=["positive", "negative"], delivery=delivery, body="")
    without_jp = sender.send(3, delivery=delivery)
    unacknowledged = sender.send(4, journal=["positive"], delivery=delivery)
    session, sent = sender.await_first_messages(4)
    if [bool(frame["UserHeader"].JP) for frame in sent] != [True, True, False, True]:
        raise ConformanceFailure("the messages did not arrive in order with their JP bits")

    names = dict(zip([*with_jp, *without_jp, *unacknowledged], (1, 2, 3, 4), strict=True))

    def list_journaled_messages() -> list[int]:
        return sorted(names[one["message_id"]] for one in sut.kept(SYSTEM_JOURNAL))

    unacknowledged_journal = list_journaled_messages()
    flags: dict[str, Any] = (
        {"RecoverableMsgAckSeqNumber": 1, "RecoverableMsgAckFlags": 0b111} if delivery == "recoverable" else {}
    )
    ack = send_session_header_in_carrier(carrier, session, AckSequenceNumber=3, **flags)
    peer.eventually(lambda: list_journaled_messages() == [1, 2])
    judge.all(
        expected=facts(journal_before_the_acknowledgment=[], journal_after_the_acknowledgment=[1, 2]),
        observed={
            "journal_before_the_acknowledgment": unacknowledged_journal,
            "journal_after_the_acknowledgment": list_journaled_messages(),
        },
        evidence=[*sent, ack],
    )
    session.acknowledge_all()


@covers("MQQB-3.1.5.5-06", "MQQB-3.1.5.5.4-01")
@needs("send", "receive")
@varied("response queue", "time to reach queue", "trace")
def test_recoverable_messages_are_journaled_when_acknowledged_as_stored(peer, sut, judge):
    """The peer acknowledges three recoverable messages as received, then two of them as stored, and later the third as
    stored. The SUT journals each message when it is acknowledged as stored. A fourth message of 5,000 bytes is
    journaled only when the peer acknowledges it on the next session, and not when it is sent or its session is lost.
    """
    sender = Sender(peer, sut)
    identifiers = [
        one
        for number in (1, 2, 3, 4)
        for one in sender.send(
            number,
            journal=["positive"],
            delivery="recoverable",
            label=f"label {number}",
            body=f"body {number}" * (1 if number < 4 else 834),
            priority=3,
        )
    ]
    session, sent = sender.await_first_messages(4)

    def list_journaled_messages() -> list[str]:
        found = {one["message_id"]: one for one in sut.kept(SYSTEM_JOURNAL)}
        kept = [found[one] for one in identifiers if one in found]
        return [
            f"{one['label']}, {one['body'][:6]} ({len(one['body'])} bytes), priority {one['priority']}" for one in kept
        ]

    observed, evidence = [list_journaled_messages()], list(sent)
    for number, flags, count in ((1, 0b101, 2), (2, 1, 3)):
        evidence.append(
            session.send(
                session_ack(AckSequenceNumber=3, RecoverableMsgAckSeqNumber=number, RecoverableMsgAckFlags=flags)
            )
        )
        peer.eventually(functools.partial(_has_found_enough_messages, list_journaled_messages, count))
        observed.append(list_journaled_messages())
    kept = [one for one in sut.kept(SYSTEM_JOURNAL) if one["message_id"] == identifiers[0]]
    judge.all(
        expected=UNCHANGED_PROPERTIES_OUTCOME,
        observed=describe_differences(sent[0], kept[0] if kept else None, sut.guid),
        case="properties of the first message in the journal",
        evidence=evidence,
    )
    session.close()
    next_session = sender.await_session()
    evidence += sender.collect_messages(next_session, 1)
    observed.append(list_journaled_messages())
    evidence.append(next_session.acknowledge_all())
    peer.eventually(functools.partial(_has_found_enough_messages, list_journaled_messages, 4))
    observed.append(list_journaled_messages())
    first, second, third = (f"label {number}, body {number} (6 bytes), priority 3" for number in (1, 2, 3))
    fourth = "label 4, body 4 (5004 bytes), priority 3"
    three = [first, second, third]
    judge.all(
        expected=[[], [first, third], three, three, [*three, fourth]],
        observed=observed,
        case="journal after each acknowledgment, after the loss of the session, and after the last acknowledgment",
        evidence=evidence,
    )


def _has_found_enough_messages(found: Callable[[], list[str]], count: int) -> bool:
    return len(found()) >= count


@covers("MQQB-3.1.5.5.4-01")
@needs("send", "private_names", "receive")
@pytest.mark.parametrize("delivery", ["express", "recoverable"])
@varied("label", "queue privacy", priority=("3", "0"))
def test_forwarded_message_with_jp_is_not_journaled(peer, sut, judge, delivery):
    """The peer acknowledges a message with JP that an application of the SUT sent, and a message with JP that the SUT
    forwards. The SUT journals only the message of the application.
    """
    sender = Sender(peer, sut, private_name(peer.identifier))
    [own] = sender.send(TAG_OF_OWN_MESSAGE, journal=["positive"], delivery=delivery)
    sender.collect_messages(session := sender.await_session(), 1)
    user = peer.build_fields_for_private_destination(peer.identifier, 1) | {
        "DM": int(delivery == "recoverable"),
        "JP": 1,
    }
    forwarded = peer.open_raw().send(peer.message(user, destination=None, ApplicationTag=TAG_OF_FORWARDED_MESSAGE))
    came = sender.collect_messages(session, 2)
    if Sender.list_tags(came) != [TAG_OF_OWN_MESSAGE, TAG_OF_FORWARDED_MESSAGE]:
        raise ConformanceFailure(
            f"the SUT sent the messages {Sender.list_tags(came)}, not {[TAG_OF_OWN_MESSAGE, TAG_OF_FORWARDED_MESSAGE]}"
        )
    ack = session.acknowledge_all()

    def list_journaled_messages() -> list[str]:
        return [
            "message of the application" if one["message_id"] == own else "forwarded message"
            for one in sut.kept(SYSTEM_JOURNAL)
        ]

    peer.eventually(lambda: bool(list_journaled_messages()))
    peer.pass_time(sut.quiet_ms)
    judge(
        "MQQB-3.1.5.5.4-01",
        expected=["message of the application"],
        observed=list_journaled_messages(),
        case="messages in the journal",
        evidence=[forwarded, *came, ack],
    )
