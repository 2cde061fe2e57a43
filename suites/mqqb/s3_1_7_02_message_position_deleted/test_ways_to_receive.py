"""MS-MQQB 3.1.7.2 Message Position Deleted, 3.1.7.2.1, 3.1.7.2.2: the ways in which an application takes a message."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from harness.capture.recorder import Frame
from harness.errors import ConformanceFailure
from harness.peer.peer import Peer
from harness.run.marks import covers, needs
from harness.sut.sut import Sut
from suites.messages import recoverable_message
from suites.mqqb.steps.disposition import (
    Q_PURGED,
    RECEIVE,
    AcknowledgingReceiver,
    arrives,
    classes,
    correlation,
    final_identifier,
    identifier,
    named,
)
from suites.mqqb.steps.opening import settle
from suites.mqqb.steps.sender import eventually

pytestmark = needs("receive", "queue_control")

WAIT_MS = 60_000


class Application:
    """An application that takes the messages of one queue of the SUT, to each of which the peer wants an answer."""

    def __init__(self, peer: Peer, sut: Sut, *, transactional: bool) -> None:
        self.peer = peer
        self.sut = sut
        self.queue = sut.new_queue("taken", transactional=transactional)
        self.transactional = transactional
        self.receiver = AcknowledgingReceiver(peer, sut)
        self.sent: dict[str, Frame] = {}

    def fill(self, *labels: str) -> None:
        """Send messages, and wait for the last; ConformanceFailure when it does not come into the queue."""
        for label in labels:
            self._give(label)
        if arrives(self.sut, self.receiver.connections[0], labels[-1], self.queue) != "in its queue":
            raise ConformanceFailure("the SUT did not take the messages")

    def _give(self, label: str) -> None:
        asks: dict[str, Any] = {
            "destination": rf"TCP:{self.sut.address}\{self.queue}",
            "properties": {"PR": 1, "NR": 1},
            "label": label,
        }
        user = self.receiver.administered()
        if self.transactional:
            packet = self.receiver.sequence.message(user, transaction={"FA": 1}, **asks)
        else:
            packet = recoverable_message(self.peer, user, **asks)
        self.sent[label] = self.receiver.give(packet)

    def wait_for(self, label: str, verb: str, **arguments: Any) -> None:
        """Let a read wait, then send the message that it waits for."""
        number = self.sut.control.begin(verb, timeout_ms=WAIT_MS, **arguments)
        settle(self.peer)
        self._give(label)
        eventually(self.peer, lambda: self.sut.control.answer(number) is not None)

    def call(self, verb: str, **arguments: Any) -> dict[str, Any]:
        """Ask for something."""
        return self.sut.control.call(verb, **arguments)

    def take(self, **where: Any) -> None:
        """Receive what is there."""
        self.call("receive", timeout_ms=0, **where)

    def begin(self, *, external: bool = False) -> str:
        """Begin a transaction."""
        return str(self.call("begin", external=external)["transaction"])

    def decide(self, verb: str, transaction: str, **arguments: Any) -> None:
        """Say what is to become of a transaction; a refusal shows in what becomes of its messages."""
        number = self.sut.control.begin(verb, transaction=transaction, **arguments)
        eventually(self.peer, lambda: self.sut.control.answer(number) is not None)

    def there(self) -> dict[str, int]:
        """Return the lookup identifiers of what can be received, by label."""
        return self.there_in(self.queue)

    def there_in(self, queue: str) -> dict[str, int]:
        """Return those of another queue."""
        messages = self.call("peek", queue=queue, limit=1_000)["messages"]
        return {str(one["label"]): int(one["lookup_id"]) for one in messages}

    def take_that(self, label: str, **arguments: Any) -> None:
        """Receive a message by its lookup identifier, if it is there."""
        there = self.there()
        if label in there:
            at = {"lookup_id": there[label], "seek": "current"}
            self.call("receive_by_lookup_id", queue=self.queue, **at, **arguments)

    def acknowledged(self, count: int) -> list[str]:
        """Wait for so many acknowledgments; return which messages have one of class ACK_RECEIVE, in order of labels."""
        self.receiver.await_acks(count)
        return self.labels_of(map(correlation, self.receiver.acks_of(RECEIVE, *self.sent.values())))

    def finally_acknowledged(self, count: int) -> list[str]:
        """Wait for so many FinalAcks; return which messages have one."""
        came = self.receiver.await_all(self.receiver.final_acks, count)
        return self.labels_of(map(final_identifier, came))

    def labels_of(self, identifiers: Iterable[str]) -> list[str]:
        """Return which messages have these identifiers, in order."""
        labels = {identifier(frame): label for label, frame in self.sent.items()}
        return sorted(labels.get(one, "another") for one in identifiers)


@covers("MQQB-3.1.7.2-01", "MQQB-3.1.7.2.1-D01")
def test_a_message_is_acknowledged_however_it_is_received(peer, sut, judge):
    """Of its queue, of a handle, by a cursor, by its lookup identifier or beside it, or waited for: each has an
    ACK_RECEIVE, and none that was only peeked at.
    """
    application = Application(peer, sut, transactional=False)
    queue = application.queue
    application.fill(*"abcdefghij")
    handle = application.call("open_queue", queue=queue, access="receive")["handle"]
    cursor = application.call("open_cursor", handle=handle)["cursor"]
    application.call("peek_message", cursor=cursor, timeout_ms=0)
    for _ in range(2):
        application.call("peek_next", cursor=cursor, timeout_ms=0)
    application.take(cursor=cursor)  # c
    application.take(handle=handle)  # a
    application.take(queue=queue)  # b
    application.call("close_cursor", cursor=cursor)
    known = application.there()
    for place, label, seek in (
        ({"queue": queue}, "g", "current"),
        ({"handle": handle}, "d", "next"),  # e
        ({"handle": handle}, "i", "previous"),  # h
        ({"queue": queue}, "d", "last"),  # j
    ):
        application.call("receive_by_lookup_id", lookup_id=known[label], seek=seek, **place)
    for seek in ("first", "current", "next", "last"):
        application.call("peek_by_lookup_id", queue=queue, lookup_id=known["d"], seek=seek)
    application.call("peek_message", handle=handle, timeout_ms=0)
    application.take(queue=queue)  # d
    for _ in range(2):
        application.take(handle=handle)  # f, i
    given_up = application.sut.control.begin("receive", handle=handle, timeout_ms=WAIT_MS)
    application.call("cancel", request=given_up)
    application.wait_for("k", "receive", handle=handle)
    application.wait_for("l", "peek_message", queue=queue)
    application.call("close_queue", handle=handle)
    observed = [application.acknowledged(11), [*application.there()]]
    evidence = list(application.sent.values())
    for rule in ("MQQB-3.1.7.2-01", "MQQB-3.1.7.2.1-D01"):
        judge(rule, expected=[[*"abcdefghijk"], ["l"]], observed=observed, evidence=evidence)
    application.receiver.end()


@needs("transactions")
@covers("MQQB-3.1.7.2-01", "MQQB-3.1.7.2.1-D01", "MQQB-3.1.7.2.2-01")
def test_what_is_received_in_a_transaction_is_acknowledged_when_that_commits(peer, sut, judge):
    """With one phase and with two, also where more is waited for: what was taken in a transaction that is aborted is
    there again, and not acknowledged; in one that is committed it has an ACK_RECEIVE and a FinalAck then, not before.
    """
    application = Application(peer, sut, transactional=True)
    queue = application.queue
    aborted = application.begin()
    application.wait_for("a", "receive", queue=queue, transaction=aborted)
    application.decide("abort", aborted)
    for verb, external in (("abort", False), ("abort", True), ("commit", False)):
        transaction = application.begin(external=external)
        application.take(queue=queue, transaction=transaction)  # a
        sut.control.begin("receive", queue=queue, timeout_ms=WAIT_MS, transaction=transaction)
        settle(peer)
        if external:
            application.decide("prepare", transaction)
        application.decide(verb, transaction)
    application.fill(*"bcdefg")
    refused = application.begin(external=True)
    application.take(queue=queue, transaction=refused)  # b
    application.decide("prepare", refused)
    application.decide("abort", refused)
    back = [*application.there()]
    committed, voted, alone = application.begin(), application.begin(external=True), application.begin(external=True)
    application.take(queue=queue, transaction=committed)  # b
    application.take_that("d", transaction=committed)
    application.take(queue=queue, transaction=voted)  # c
    application.take(queue=queue, transaction=alone)  # e
    application.decide("prepare", voted)
    early = application.acknowledged(1), application.finally_acknowledged(1)
    there = [*application.there()]
    application.decide("commit", committed)
    application.decide("commit", voted)
    application.decide("prepare", alone, single_phase=True)
    application.take(queue=queue)  # f
    late = application.acknowledged(6), application.finally_acknowledged(6)
    evidence = list(application.sent.values())
    for rules, which in ((("MQQB-3.1.7.2-01", "MQQB-3.1.7.2.1-D01"), 0), (("MQQB-3.1.7.2.2-01",), 1)):
        for rule in rules:
            expected = [[*"bcdefg"], ["a"], [*"fg"], [*"abcdef"], ["g"]]
            observed = [back, early[which], there, late[which], [*application.there()]]
            judge(rule, expected=expected, observed=observed, evidence=evidence)
    application.receiver.end()


@needs("transactions")
@covers("MQQB-3.1.7.2-01", "MQQB-3.1.7.2.1-D03")
def test_what_is_purged_while_a_transaction_has_it_is_acknowledged(peer, sut, judge):
    """Of three messages two are taken in transactions, all are purged, one transaction is committed, one aborted: what
    is not there then has one acknowledgment each; that of what nobody had is of class NACK_Q_PURGED.
    """
    application = Application(peer, sut, transactional=True)
    queue = application.queue
    application.fill(*"abc")
    committed, aborted = application.begin(), application.begin()
    for transaction in (committed, aborted):
        application.take(queue=queue, transaction=transaction)
    application.call("purge", queue=queue)
    application.decide("commit", committed)
    application.decide("abort", aborted)
    sent = list(application.sent.values())
    came = application.receiver.await_acks(3)
    evidence = [*sent, *came]
    told_of = application.labels_of(map(correlation, came))
    observed = sorted([*told_of, *application.there()])
    judge("MQQB-3.1.7.2-01", expected=[*"abc"], observed=observed, evidence=evidence)
    purged = classes([ack for ack in came if correlation(ack) == identifier(sent[2])])
    judge("MQQB-3.1.7.2.1-D03", expected=named(Q_PURGED), observed=purged, evidence=evidence)
    application.receiver.end()


@needs("subqueues")
@covers("MQQB-3.1.7.2-01", "MQQB-3.1.7.2.1-D01")
@pytest.mark.parametrize("transactional", [False, True], ids=["plain", "transactional"])
def test_what_is_moved_is_acknowledged_when_it_is_received(peer, sut, judge, transactional):
    """Messages go into a subqueue, and back: that is not acknowledged; to receive them there or here is."""
    application = Application(peer, sut, transactional=transactional)
    queue, subqueue = application.queue, f"{application.queue};mqc-sub"
    sut.create_queue(subqueue, transactional=transactional)
    application.fill(*"abcde")
    known = application.there()
    for label in "abcd":
        application.call("move", queue=queue, lookup_id=known[label], to=subqueue)
    moved = application.there_in(subqueue)
    application.call("move", queue=subqueue, lookup_id=moved["a"], to=queue)
    early = application.acknowledged(0)
    application.take(queue=subqueue)  # b
    application.call("receive_by_lookup_id", queue=subqueue, lookup_id=moved["d"], seek="current")
    for _ in range(2):
        application.take(queue=queue)
    late = application.acknowledged(4)
    evidence = list(application.sent.values())
    for rule in ("MQQB-3.1.7.2-01", "MQQB-3.1.7.2.1-D01"):
        observed = [early, late, [*application.there_in(subqueue)]]
        judge(rule, expected=[[], [*"abde"], ["c"]], observed=observed, evidence=evidence)
    application.receiver.end()
