"""MS-MQSO 5.1.1.2: events at one queue do not change its journal, its subqueues or other queues."""

from __future__ import annotations

from typing import Any

import pytest

from harness.expectations import each, facts, in_queue
from harness.peer.peer import Peer
from harness.run.marks import covers, needs
from harness.sut.outcomes import Outcome
from harness.sut.shown import lookup_id
from harness.sut.sut import Sut
from suites.applications import PendingRequest
from suites.messages import Sequence
from suites.mqqb.steps.ordering import ORDER_QUEUE_PATH
from suites.mqqb.steps.sender import Sender

SUBQUEUE_SUFFIX = ";mqc-part"
PEEK_REFUSED_OUTCOME = "the SUT refuses to peek"
LARGE_BODY = b"x" * 5_000


class NeighboringQueues:
    """Two queues, of which one has a name that begins with the name of the other. Each queue has messages, a journal
    and, if the SUT supports subqueues, a subqueue.
    """

    def __init__(self, sut: Sut, *, transactional: bool) -> None:
        self.sut, self.transactional = sut, transactional
        self.delivery = "transactional" if transactional else "recoverable"
        self.queue = sut.new_queue("near", transactional=transactional, journaling=True)
        self.longer = f"{self.queue}-longer"
        sut.create_queue(self.longer, transactional=transactional, journaling=True)
        self.suffixes = ["", ";journal", *([SUBQUEUE_SUFFIX] if sut.has("subqueues") else [])]
        for queue in (self.queue, self.longer):
            self.fill_queue(queue)

    def fill_queue(self, queue: str) -> None:
        """Put messages into a queue, its journal and its subqueue."""
        sut = self.sut
        sut.send_here(queue, ["journaled"], delivery=self.delivery)
        sut.control.call("receive", queue=queue, timeout_ms=0)
        if SUBQUEUE_SUFFIX in self.suffixes:
            sut.create_queue(f"{queue}{SUBQUEUE_SUFFIX}")
            sut.send_here(queue, ["moved"], delivery=self.delivery)
            number = lookup_id(sut.control.call("peek", queue=queue, limit=1)["messages"][0])
            sut.control.call("move", queue=queue, lookup_id=number, to=f"{queue}{SUBQUEUE_SUFFIX}")
        sut.send_here(queue, ["1", "2"], delivery=self.delivery)

    def list_labels_by_queue_path(self) -> dict[str, list[str]]:
        """Return the labels of the messages in both queues, their journals and their subqueues."""
        places = [f"{queue}{suffix}" for queue in (self.queue, self.longer) for suffix in self.suffixes]
        return {
            place: self.sut.labels(place)
            if self.sut.attempt("peek", queue=place) == Outcome.DONE
            else [PEEK_REFUSED_OUTCOME]
            for place in places
        }


@needs("queue_control", "send", "receive")
@covers("MQSO-5.1.1.2-D04", "MQSO-5.1.1.2-D05")
@pytest.mark.parametrize("transactional", [False, True], ids=["plain", "transactional"])
def test_purge_and_deletion_affect_only_their_queue(peer, sut, judge, transactional):
    """A purge of a queue, of its journal or of its subqueue removes only the messages in the purged place, and a
    waiting receive still waits. A deletion removes the queue with its journal and its subqueue, but does not change a
    queue whose longer name begins with the same name. A new queue with the name of the deleted queue is empty, and so
    are its journal and its subqueue.
    """
    near = NeighboringQueues(sut, transactional=transactional)
    expected = near.list_labels_by_queue_path()
    for suffix in near.suffixes:
        place = f"{near.queue}{suffix}"
        outcomes = [sut.attempt("purge", queue=place) for _ in range(2)]
        expected[place] = []
        observed: dict[str, Any] = {"purges": outcomes, **near.list_labels_by_queue_path()}
        wanted = facts(purges=each(Outcome.DONE, "purge"), **expected)
        judge(
            "MQSO-5.1.1.2-D04",
            expected=wanted,
            observed=observed,
            case=f"labels in each place after a purge of {place}",
        )
    empty = sut.new_queue("empty", transactional=transactional)
    waiting = PendingRequest(peer, "receive", queue=empty, timeout_ms=60_000)
    peer.settle()
    sut.control.call("purge", queue=empty)
    early = waiting.is_answered()
    sut.send_here(empty, ["awaited"], delivery=near.delivery)
    read = {"answered": early, "label": waiting.await_label()}
    judge("MQSO-5.1.1.2-D04", expected=facts(answered=False, label="awaited"), observed=read, case="waiting receive")
    sut.send_here(near.queue, ["3", "4"], delivery=near.delivery)
    sut.control.call("receive", queue=near.queue, timeout_ms=0)
    if SUBQUEUE_SUFFIX in near.suffixes:
        number = lookup_id(sut.control.call("peek", queue=near.queue, limit=1)["messages"][0])
        sut.send_here(near.queue, ["5"], delivery=near.delivery)
        sut.control.call("move", queue=near.queue, lookup_id=number, to=f"{near.queue}{SUBQUEUE_SUFFIX}")
    handle = sut.control.call("open_queue", queue=near.queue, access="receive")["handle"]
    ended = PendingRequest(peer, "receive", queue=f"{near.queue}", timeout_ms=60_000)
    ended.await_label()
    sut.delete_queue(near.queue)
    expected |= {f"{near.queue}{suffix}": [PEEK_REFUSED_OUTCOME] for suffix in near.suffixes}
    observed = {
        "read_by_handle": sut.attempt("receive", handle=handle, timeout_ms=0),
        **near.list_labels_by_queue_path(),
    }
    wanted = facts(read_by_handle=Outcome.REFUSED, **expected)
    judge("MQSO-5.1.1.2-D05", expected=wanted, observed=observed, case="labels in each place after the deletion")
    sut.create_queue(near.queue, transactional=transactional)
    if SUBQUEUE_SUFFIX in near.suffixes:
        sut.create_queue(f"{near.queue}{SUBQUEUE_SUFFIX}")
    expected |= {f"{near.queue}{suffix}": [] for suffix in near.suffixes}
    observed = near.list_labels_by_queue_path()
    judge(
        "MQSO-5.1.1.2-D05",
        expected=facts(**expected),
        observed=observed,
        case="labels after the queue is created again",
    )


def _build_message_of_delivery(peer: Peer, kind: str, **headers: Any) -> Any:
    if kind == "transactional":
        return Sequence(peer).message(**headers)
    return peer.message(**headers) if kind == "express" else peer.recoverable_message(**headers)


@needs("queue_control", "receive")
@covers("MQSO-5.1.1.2-D02")
@pytest.mark.parametrize("kind", ["express", "recoverable", "transactional"])
def test_full_queue_rejects_message_of_network(peer, sut, judge, kind):
    """The peer sends two messages of 5,000 bytes to a queue with a quota of 8 KB. The queue stores the first message
    but not the second; meanwhile, another queue stores a message. After a purge, the full queue stores a message again.
    """
    transactional = kind == "transactional"
    full, other = (sut.new_queue(name, transactional=transactional, quota_kb=8) for name in ("full", "with-room"))
    sent = []

    def send_large_message(queue: str, label: str) -> None:
        headers = {"destination": rf"TCP:{sut.address}\{queue}", "label": label, "body": LARGE_BODY}
        connection = peer.open_raw()
        sent.append(connection.send(_build_message_of_delivery(peer, kind, **headers)))
        peer.settle()

    send_large_message(full, "first")
    send_large_message(full, "too much")
    send_large_message(other, "other")
    peer.eventually(lambda: bool(sut.labels(full)) and bool(sut.labels(other)))
    expected = facts(labels_in_the_full_queue=["first"], labels_in_the_other_queue=["other"])
    observed = {"labels_in_the_full_queue": sut.labels(full), "labels_in_the_other_queue": sut.labels(other)}
    judge.all(expected=expected, observed=observed, evidence=sent)
    sut.control.call("purge", queue=full)
    send_large_message(full, "again")
    peer.eventually(lambda: bool(sut.labels(full)))
    judge.all(expected=in_queue("again"), observed=sut.labels(full), evidence=sent)


@needs("queue_control", "send", "receive", "transactions")
@covers("MQSO-5.1.1.2-D01")
def test_messages_of_all_origins_are_in_order_of_arrival(peer, sut, judge):
    """Express and recoverable messages from an application and from the peer arrive alternately in a queue. Reads by
    name and by a cursor return them in this order. In a transactional queue, the messages of a transaction are next to
    each other, after the messages that arrived before its commit.
    """
    queue, transactional = sut.new_queue("mixed"), sut.new_queue("mixed-transactional", transactional=True)
    connection = peer.open_raw()
    for number in range(1, 9):
        if number % 4 < 2:
            sut.send_here(queue, [str(number)], delivery="recoverable" if number % 2 else "express")
        else:
            make = peer.recoverable_message if number % 2 else peer.message
            connection.send(make(destination=rf"TCP:{sut.address}\{queue}", label=str(number)))
        peer.eventually(lambda number=number: len(sut.labels(queue)) == number)
    labels = [str(number) for number in range(1, 9)]
    handle = sut.control.call("open_queue", queue=queue, access="peek")["handle"]
    cursor = sut.control.call("open_cursor", handle=handle)["cursor"]
    peeked = [sut.read_label("peek_message" if label == "1" else "peek_next", cursor=cursor) for label in labels]
    received = [sut.read_label("receive", queue=queue) for _ in labels]
    judge.all(expected=facts(peeked=labels, received=labels), observed={"peeked": peeked, "received": received})
    sut.send_here(transactional, ["before"], delivery="transactional")
    transaction = sut.control.call("begin")["transaction"]
    for label in ("a", "b", "c"):
        sut.send_here(transactional, [label], delivery="transactional", transaction=transaction)
    sut.control.call("commit", transaction=transaction)
    sut.send_here(transactional, ["after"], delivery="transactional")
    judge.all(expected=in_queue("before", "a", "b", "c", "after"), observed=sut.labels(transactional))


@needs("queue_control", "send", "receive")
@covers("MQSO-5.1.1.2-D06")
def test_cursors_of_two_queues_are_independent(sut, judge):
    """Cursors of two handles and of two queues keep their positions while another cursor is moved, receives a message
    or is closed, and while another queue is purged.
    """
    first, second = sut.new_queue("cursors-a"), sut.new_queue("cursors-b")
    for queue in (first, second):
        sut.send_here(queue, ["1", "2", "3", "4"])
    handles = [
        sut.control.call("open_queue", queue=queue, access="receive")["handle"] for queue in (first, first, second)
    ]
    cursors = [sut.control.call("open_cursor", handle=handle)["cursor"] for handle in handles]
    spare, kept = (sut.control.call("open_cursor", handle=handles[0])["cursor"] for _ in range(2))
    labels = [sut.read_label("peek_message", cursor=cursor) for cursor in (*cursors, spare, kept)]
    for _ in range(2):
        labels += [sut.read_label("peek_next", cursor=cursor) for cursor in (cursors[0], cursors[2], kept)]
    labels.append(sut.read_label("receive", cursor=cursors[1]))
    sut.control.call("close_cursor", cursor=spare)
    sut.control.call("close_queue", handle=handles[1])
    labels += [sut.read_label("peek_message", cursor=cursor) for cursor in (cursors[0], cursors[2], kept)]
    sut.control.call("purge", queue=second)
    labels += [sut.read_label("peek_next", cursor=cursor) for cursor in (cursors[0], kept)]
    expected = [*"11111", *"222", *"333", "1", *"333", *"44"]
    judge("MQSO-5.1.1.2-D06", expected=expected, observed=labels, case="labels returned by the reads")
    outcomes = [sut.attempt("peek_message", cursor=cursor, timeout_ms=0) for cursor in (spare, cursors[1])]
    judge("MQSO-5.1.1.2-D06", expected=each(Outcome.REFUSED, "closed cursor"), observed=outcomes)


@needs("send", "queue_control", "pause")
@covers("MQSO-5.1.1.2-D10")
def test_outgoing_queue_can_be_paused_repeatedly(peer, sut, judge):
    """An outgoing queue is paused and resumed three times. During each pause, the queue accepts a message of each kind
    and sends nothing. After each resumption, it sends these messages.
    """
    sender = Sender(peer, sut, peer.direct_name("mqc-repeatedly"))
    sender.send(1, delivery="recoverable")
    session, frames = sender.await_first_messages(1)
    session.acknowledge_all()
    known, tag = {1}, 1
    for number in range(3):
        peer.settle()
        sut.pause(sender.to)
        added = []
        for delivery in ("recoverable", "transactional", "express"):
            tag += 1
            added.append(tag)
            sender.send(tag, delivery=delivery)
        peer.pass_time(sut.quiet_ms)
        before = {one for one in Sender.list_tags(session.messages) if one in added}
        sut.resume(sender.to)
        session = session if session.record.closed_by is None else sender.await_session()
        peer.environment.run_until(
            lambda current=session, wanted=set(added): wanted <= set(Sender.list_tags(current.messages)),
            sut.connect_timeout_ms,
        )
        frames = session.messages
        known |= set(added)
        observed = {"during_the_pause": before, "after_the_resumption": set(Sender.list_tags(frames)) & set(added)}
        expected = facts(during_the_pause=set(), after_the_resumption=set(added))
        judge.all(expected=expected, observed=observed, evidence=frames, case=f"pause {number + 1}")
        session.acknowledge_all()


@needs("queue_control")
@covers("MQSO-5.1.1.2-D11")
def test_order_queue_belongs_to_queue_manager(sut, judge):
    """An application can neither create nor delete the order queue, in whatever letter case it spells the name."""
    names = {"order queue": ORDER_QUEUE_PATH, "order queue in capital letters": ORDER_QUEUE_PATH.upper()}
    observed = {
        f"{verb} of the {name}": sut.attempt(verb, name=path)
        for name, path in names.items()
        for verb in ("create_queue", "delete_queue")
    }
    judge.all(expected=each(Outcome.REFUSED, "request"), observed=observed)
