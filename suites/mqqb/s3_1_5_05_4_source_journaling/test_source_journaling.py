"""MS-MQQB 3.1.5.5.4 Source Journaling."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import facts
from harness.run.marks import covers, needs
from harness.wire import session_ack
from suites.mqqb.steps.disposition import private_queue
from suites.mqqb.steps.opening import private_name
from suites.mqqb.steps.sender import Sender, tags

JOURNAL = "system$;journal"
OWN, OF_ANOTHER = 1, 2


@covers("MQQB-3.1.5.5-06", "MQQB-3.1.5.5.4-01")
@needs("send", "receive")
@pytest.mark.parametrize("delivery", ["express", "recoverable"])
def test_acknowledged_messages_that_ask_for_it_are_journaled(peer, sut, judge, delivery):
    """Of four messages three are acknowledged; the journal then has those of them with JP set, and had none before."""
    sender = Sender(peer, sut)
    asked = sender.send(1, journal=["positive"], delivery=delivery)
    asked += sender.send(2, journal=["positive", "negative"], delivery=delivery)
    not_asked = sender.send(3, delivery=delivery)
    unacknowledged = sender.send(4, journal=["positive"], delivery=delivery)
    session, sent = sender.first(4)
    if [bool(frame["UserHeader"].JP) for frame in sent] != [True, True, False, True]:
        raise ConformanceFailure(
            "the messages did not come in their order and with the JP bits that they were sent with"
        )

    names = dict(zip([*asked, *not_asked, *unacknowledged], (1, 2, 3, 4), strict=True))

    def journaled() -> list[int]:
        return sorted(names[one["message_id"]] for one in sut.kept(JOURNAL))

    before = journaled()
    flags: dict[str, Any] = (
        {"RecoverableMsgAckSeqNumber": 1, "RecoverableMsgAckFlags": 0b111} if delivery == "recoverable" else {}
    )
    ack = session.send(session_ack(AckSequenceNumber=3, **flags))
    peer.eventually(lambda: journaled() == [1, 2])
    judge.all(
        expected=facts(before=[], after=[1, 2]),
        observed={"before": before, "after": journaled()},
        evidence=[*sent, ack],
    )
    sender.acknowledge_all(session)


@covers("MQQB-3.1.5.5-06", "MQQB-3.1.5.5.4-01")
@needs("send", "receive")
def test_recoverable_messages_are_journaled_whole_when_they_are_on_disk(peer, sut, judge):
    """All of three messages are received, two of them are on disk, then the other: each is journaled then, whole."""
    sender = Sender(peer, sut)
    identifiers = [
        one
        for number in (1, 2, 3)
        for one in sender.send(
            number, journal=["positive"], delivery="recoverable", label=f"label {number}", priority=3
        )
    ]
    session, sent = sender.first(3)

    def journaled() -> list[str]:
        found = {one["message_id"]: one for one in sut.kept(JOURNAL)}
        return [
            f"{found[one]['label']}, {found[one]['body']}, priority {found[one]['priority']}"
            for one in identifiers
            if one in found
        ]

    observed, evidence = [journaled()], list(sent)
    for number, flags, wanted in ((1, 0b101, 2), (2, 1, 3)):
        evidence.append(
            session.send(
                session_ack(AckSequenceNumber=3, RecoverableMsgAckSeqNumber=number, RecoverableMsgAckFlags=flags)
            )
        )
        peer.eventually(functools.partial(_holds, journaled, wanted))
        observed.append(journaled())
    first, second, third = (f"label {number}, message {number}, priority 3" for number in (1, 2, 3))
    judge.all(expected=[[], [first, third], [first, second, third]], observed=observed, evidence=evidence)
    sender.acknowledge_all(session)


def _holds(found: Callable[[], list[str]], count: int) -> bool:
    return len(found()) >= count


@covers("MQQB-3.1.5.5.4-01")
@needs("send", "private_names", "receive")
@pytest.mark.parametrize("delivery", ["express", "recoverable"])
def test_a_message_of_another_that_is_handed_on_is_not_journaled(peer, sut, judge, delivery):
    """A message with JP of an application here, and one of the peer that is handed on, are acknowledged: only the first
    is in the journal, because this is not the sender of the other.
    """
    sender = Sender(peer, sut, private_name(peer.identifier))
    [own] = sender.send(OWN, journal=["positive"], delivery=delivery)
    sender.collect(session := sender.session(), 1)
    user = private_queue(peer.identifier, 1) | {"DM": int(delivery == "recoverable"), "JP": 1}
    given = peer.open_raw().send(peer.message(user, destination=None, ApplicationTag=OF_ANOTHER))
    came = sender.collect(session, 2)
    if tags(came) != [OWN, OF_ANOTHER]:
        raise ConformanceFailure(f"the SUT sent the messages {tags(came)} on, not {[OWN, OF_ANOTHER]}")
    ack = sender.acknowledge_all(session)

    def journaled() -> list[str]:
        return ["own" if one["message_id"] == own else "of another" for one in sut.kept(JOURNAL)]

    peer.eventually(lambda: bool(journaled()))
    peer.pass_time(sut.quiet_ms)
    judge("MQQB-3.1.5.5.4-01", expected=["own"], observed=journaled(), evidence=[given, *came, ack])
