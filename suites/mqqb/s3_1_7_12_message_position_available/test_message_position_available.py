"""MS-MQQB 3.1.7.12 Message Position Available Event."""

from __future__ import annotations

from functools import partial
from typing import Any

from harness.errors import ConformanceFailure
from harness.expectations import fields, holds
from harness.peer.peer import PEER_QUEUE
from harness.run.marks import covers, needs, varied
from harness.sut.sut_file import UNUSED_ADDRESS
from suites.applications import DONE, get_request_outcome, list_computer_names
from suites.mqqb.steps.ordering import build_order_ack
from suites.mqqb.steps.provoking import make_sut_send_message
from suites.mqqb.steps.sender import Sender
from suites.mqqb.steps.sequences import SequenceSentBySut

INITIAL_POSITION_FLAGS = {
    "AwaitingAck": False,
    "ReceivedSessionAck": False,
    "ReceivedOrderAck": False,
    "Transmitted": False,
}
QUEUE_NAMES_OF_MULTICAST_AND_HTTP = ("MULTICAST=234.1.1.1:1801", "DIRECT=HTTP://{address}/msmq/private$\\mqc-peer")
SEND_ARGUMENTS_FOR_PAUSED_QUEUE: tuple[dict[str, Any], ...] = (
    {},
    {"delivery": "recoverable"},
    {"delivery": "transactional"},
    {"priority": 7},
)
SEND_ARGUMENTS_OF_WAITING_MESSAGES: tuple[dict[str, Any], ...] = (
    {},
    {"delivery": "recoverable"},
    {"priority": 7},
    {"delivery": "recoverable", "priority": 0},
    {},
)
TAG_OF_MULTICAST_MESSAGE, TAG_OF_MESSAGE_BESIDE_MULTICAST, TAG_OF_LAST_MESSAGE = 0x7000, 0x7001, 0x7002
FIRST_TAG_OF_UNPAUSED_QUEUE = 100
"""The messages to a queue that is not paused have this tag and higher tags."""
LARGE_BODY = "a large body " * 800
HTTPS_QUEUE_NAME_TEMPLATE = "DIRECT=HTTPS://{address}/msmq/private$\\mqc-peer"


@needs("send", "queue_control")
@covers(
    "MQQB-3.1.7.12-06",
    "MQQB-3.1.7.12-07",
    "MQQB-3.1.7.12-08",
    "MQQB-3.1.7.12-09",
    "MQQB-3.1.7.12-14",
    "MQQB-3.1.7.12-15",
    "MQQB-3.1.7.12-16",
)
@varied("time to be received", priority=("3", "0"), acknowledgments=("none", "of receipt"))
def test_available_message_gets_entry_and_is_sent_once(peer, sut, judge):
    """The SUT has two messages for an unreachable peer; then the peer listens, and the application sends a third
    message with a large body. All three messages have entries in OutgoingMessageTable, and are sent once, with their
    identifiers, labels and bodies. A later message to another queue has its own label and body.
    """
    to = peer.direct_name()
    waiting = _send_two_messages_to_unreachable_queue(sut, to)
    judge("MQQB-3.1.7.12-07", expected=2, observed=sut.outgoing(to)["count"], case="entries in OutgoingMessageTable")
    judge.conclude("MQQB-3.1.7.12-07")

    sender = Sender(peer, sut)
    session = sender.poll_session()
    judge(
        "MQQB-3.1.7.12-06",
        expected=holds("the SUT opened a session", otherwise="the SUT opened no session"),
        observed=bool(session),
    )
    judge.conclude("MQQB-3.1.7.12-06")
    if session is None:
        raise ConformanceFailure("the SUT established no session for its messages")
    sender.collect_messages(session, 2)
    third = sender.send(3, label="label 3", body=LARGE_BODY)
    came = sender.collect_messages_until_silence(session, 3)
    judge(
        "MQQB-3.1.7.12-14",
        expected=[1, 2, 3],
        observed=Sender.list_tags(came),
        case="numbers of the messages sent",
        evidence=came,
    )
    ordinals = [int(one.rpartition("\\")[2]) for one in (*waiting, *third)]
    judge(
        "MQQB-3.1.7.12-08",
        "MQQB-3.1.7.12-15",
        expected=ordinals,
        observed=[int(frame["UserHeader"].MessageID) for frame in came],
        case="MessageIDs of the messages sent",
        evidence=came,
    )
    contents = [("label 1", "message 1"), ("label 2", "message 2"), ("label 3", LARGE_BODY)]
    judge(
        "MQQB-3.1.7.12-09",
        "MQQB-3.1.7.12-16",
        expected=contents,
        observed=_list_labels_and_bodies(came),
        case="labels and bodies of the messages sent",
        evidence=came,
    )
    session.acknowledge_all()
    sut.send(peer.direct_name("mqc-beside"), body="beside", label="beside", application_tag=FIRST_TAG_OF_UNPAUSED_QUEUE)
    beside = peer.inbox.wait(lambda frame: Sender.list_tags([frame]) == [FIRST_TAG_OF_UNPAUSED_QUEUE])
    judge(
        "MQQB-3.1.7.12-09",
        expected=[("beside", "beside")],
        observed=_list_labels_and_bodies(beside),
        case="label and body of a message to another queue",
        evidence=beside,
    )
    peer.inbox.acknowledge()


@needs("send")
@covers("MQQB-3.1.7.12-03", "MQQB-3.1.7.12-07", "MQQB-3.1.7.12-08", "MQQB-3.1.7.12-15")
def test_each_waiting_message_is_sent_once_on_each_session(peer, sut, judge):
    """The SUT has five messages with JP and a transaction of two messages for an unreachable peer, a message with JP to
    a second queue of the peer, and a message to a multicast address. Each message to a queue is sent once to the peer,
    and the multicast message is not sent to the peer. The messages with JP are in the system journal after their
    acknowledgment. After the end of the session, a further message is sent once.
    """
    to, beside = peer.direct_name(), peer.direct_name("mqc-beside")
    waiting = [
        sut.send(to, body="waits", label="the same label", application_tag=tag, journal=["positive"], **kind)
        for tag, kind in enumerate(SEND_ARGUMENTS_OF_WAITING_MESSAGES, 1)
    ]
    waiting.append(
        sut.send(beside, body="waits", application_tag=TAG_OF_MESSAGE_BESIDE_MULTICAST, journal=["positive"])
    )
    journaled = waiting.copy()
    if sut.has("transactions"):
        transaction = sut.control.call("begin")["transaction"]
        waiting += [sut.send(to, body="waits", transaction=transaction) for _ in range(2)]
        sut.control.call("commit", transaction=transaction)
    count = sut.outgoing(to)["count"]
    judge("MQQB-3.1.7.12-07", expected=len(waiting) - 1, observed=count, case="entries in OutgoingMessageTable")
    sender = Sender(peer, sut)
    peer.inbox.wait(lambda frame: True, len(waiting))
    get_request_outcome(
        partial(
            sut.send, QUEUE_NAMES_OF_MULTICAST_AND_HTTP[0], body="multicast", application_tag=TAG_OF_MULTICAST_MESSAGE
        )
    )
    peer.inbox.wait(lambda frame: Sender.list_tags([frame]) == [TAG_OF_MULTICAST_MESSAGE], within_ms=sut.quiet_ms)
    came = peer.inbox.copies
    numbers = sorted(int(frame["UserHeader"].MessageID) for frame in came if not _is_multicast_message(frame))
    ordinals = sorted(int(one.rpartition("\\")[2]) for one in waiting)
    case = "MessageIDs of the messages sent"
    judge("MQQB-3.1.7.12-07", "MQQB-3.1.7.12-15", expected=ordinals, observed=numbers, case=case, evidence=came)
    multicast = sum(_is_multicast_message(frame) for frame in came)
    judge("MQQB-3.1.7.12-03", expected=0, observed=multicast, case="multicast messages to the peer", evidence=came)
    peer.inbox.acknowledge()
    for frame in peer.inbox.messages:
        if frame["UserHeader"].TH:
            peer.inbox.conversation(frame).send(build_order_ack(peer, frame))
    peer.settle()
    if sut.has("receive"):
        _judge_journaled_messages(peer, sut, judge, journaled)
    else:
        judge.mark_not_exercised("MQQB-3.1.7.12-08", reason="the control channel does not show the system journal")
    peer.hang_up()
    sender.send(TAG_OF_LAST_MESSAGE)
    peer.inbox.wait(lambda frame: Sender.list_tags([frame]) == [TAG_OF_LAST_MESSAGE])
    peer.pass_time(sut.quiet_ms)
    again = [frame for frame in peer.inbox.copies if Sender.list_tags([frame]) == [TAG_OF_LAST_MESSAGE]]
    case = "number of copies of the message after the end of the session"
    judge("MQQB-3.1.7.12-15", expected=1, observed=len(again), case=case, evidence=again)
    peer.inbox.acknowledge()


def _judge_journaled_messages(peer, sut, judge, identifiers: list[str]) -> None:
    """Judge that the entries refer to the messages that became available: after their acknowledgment, each message with
    JP is in the system journal.
    """

    def list_journaled_messages() -> list[str]:
        kept = {one["message_id"] for one in sut.kept("system$;journal")}
        return [one for one in identifiers if one in kept]

    peer.eventually(lambda: list_journaled_messages() == identifiers)
    judge(
        "MQQB-3.1.7.12-08",
        expected=identifiers,
        observed=list_journaled_messages(),
        case="messages in the system journal after their acknowledgment",
    )


def _is_multicast_message(frame) -> bool:
    """Return whether a message is the multicast message of this check."""
    return Sender.list_tags([frame]) == [TAG_OF_MULTICAST_MESSAGE]


def _list_labels_and_bodies(frames) -> list[tuple[str, str]]:
    """Return the label and the body of each message."""
    properties = [frame["MessagePropertiesHeader"] for frame in frames]
    return [(str(one.Label).rstrip("\0"), bytes(one.MessageBody).decode(errors="replace")) for one in properties]


def _send_two_messages_to_unreachable_queue(sut, to: str) -> list[str]:
    """Let the SUT send an express and a recoverable message to a format name; return their message ids."""
    return [
        sut.send(to, body=f"message {tag}", label=f"label {tag}", application_tag=tag, delivery=delivery)
        for tag, delivery in ((1, "express"), (2, "recoverable"))
    ]


@covers("MQQB-3.1.7.12-06", "MQQB-3.1.7.12-14", "MQQB-3.1.7.4-04")
def test_message_is_sent_while_other_destination_is_unreachable(peer, sut, judge):
    """The SUT has a message for an address that does not answer, and then a message for a queue of the same name at the
    peer's address: it opens a session to the peer and sends the second message.
    """
    make_sut_send_message(peer, sut, f"DIRECT=TCP:{UNUSED_ADDRESS}\\{PEER_QUEUE}")
    sender = Sender(peer, sut)
    sender.send(1)
    session = sender.poll_session()
    came = [] if session is None else sender.collect_messages(session, 1)
    judge.all(
        expected=[1], observed=Sender.list_tags(came), case="numbers of the messages sent to the peer", evidence=came
    )
    if session is not None:
        session.acknowledge_all()


@needs("send", "inspect")
@covers("MQQB-3.1.7.12-10", "MQQB-3.1.7.12-11", "MQQB-3.1.7.12-12", "MQQB-3.1.7.12-13")
def test_new_outgoing_message_entry_has_initial_values(peer, sut, judge):
    """The SUT has two messages for an unreachable peer: their entries in OutgoingMessageTable have all flags FALSE and
    all numbers 0.
    """
    to = peer.direct_name()
    _send_two_messages_to_unreachable_queue(sut, to)
    entries = list_outgoing_entries(sut, to)
    first = entries[-1] if entries else {}
    states = {name: first.get(name) for name in INITIAL_POSITION_FLAGS}
    judge("MQQB-3.1.7.12-10", expected=INITIAL_POSITION_FLAGS, observed=states)
    for rule, name in (
        ("MQQB-3.1.7.12-11", "SequenceNumber"),
        ("MQQB-3.1.7.12-12", "RecoverableSequenceNumber"),
        ("MQQB-3.1.7.12-13", "TxSequenceNumber"),
    ):
        judge(rule, expected=[0, 0], observed=[one[name] for one in entries], case=name)
    sender = Sender(peer, sut)
    session = sender.await_session()
    sender.collect_messages(session, 2)
    session.acknowledge_all()


@needs("send", "inspect", "pause")
@covers("MQQB-3.1.7.12-10")
def test_new_entry_behind_acknowledged_message_has_initial_flags(peer, sut, judge):
    """The peer sends the OrderAck of the first of two transactional messages. Then an application pauses the queue and
    sends a third message: its entry in OutgoingMessageTable has all flags FALSE.
    """
    outgoing = SequenceSentBySut(peer, sut, "mqc-behind-acknowledged")
    outgoing.send(2)
    outgoing.send_session_ack()
    outgoing.send_order_ack(1)
    peer.settle()
    sut.pause(outgoing.to)
    outgoing.sender.send(peer.next_message_id(), delivery="transactional")
    entries = list_outgoing_entries(sut, outgoing.to)
    last = entries[-1] if entries else {}
    judge(
        "MQQB-3.1.7.12-10",
        expected=INITIAL_POSITION_FLAGS,
        observed={name: last.get(name) for name in INITIAL_POSITION_FLAGS},
        case="flags of the entry behind an acknowledged message",
    )
    sut.resume(outgoing.to)
    outgoing.sent = outgoing.sender.collect_messages(outgoing.session, 3)
    outgoing.acknowledge_all()


@needs("send", "pause")
@covers("MQQB-3.1.7.12-04")
@varied("positive journaling", "negative journaling", acknowledgments=("none", "of receipt"))
def test_message_for_paused_queue_is_not_sent_on_open_session(peer, sut, judge):
    """An application pauses the SUT's outgoing queue of an open session after its first message. The SUT does not send
    an express, a recoverable, a transactional and an urgent message to that queue, although it sends a message of each
    kind to a different queue (erratum E85).
    """
    sender = Sender(peer, sut)
    beside = peer.direct_name("mqc-beside")
    sender.send(1)
    session, _ = sender.await_first_messages(1)
    sut.pause(sender.to)
    for number, kind in enumerate(SEND_ARGUMENTS_FOR_PAUSED_QUEUE, 2):
        sender.send(number, **kind)
        sut.send(beside, body="beside", application_tag=FIRST_TAG_OF_UNPAUSED_QUEUE + number, **kind)
    last = FIRST_TAG_OF_UNPAUSED_QUEUE + 1 + len(SEND_ARGUMENTS_FOR_PAUSED_QUEUE)
    if not peer.inbox.wait(lambda frame: Sender.list_tags([frame]) == [last]):
        raise ConformanceFailure("the SUT did not send the messages to the queue that is not paused")
    at_once = [
        tag
        for tag in Sender.list_tags(sender.collect_messages_until_silence(session, 1))
        if tag < FIRST_TAG_OF_UNPAUSED_QUEUE
    ]
    peer.inbox.acknowledge(spare=session)
    judge(
        "MQQB-3.1.7.12-04",
        expected=[1],
        observed=at_once,
        case="numbers of the messages sent",
        evidence=session.messages,
    )
    sut.resume(sender.to)
    sender.collect_messages_until_silence(session, 1 + len(SEND_ARGUMENTS_FOR_PAUSED_QUEUE))
    peer.inbox.acknowledge()
    for frame in peer.inbox.messages:
        if frame["UserHeader"].TH:
            session.send(build_order_ack(peer, frame))


@needs("send", "pause")
@covers("MQQB-3.1.7.12-04")
@varied("priority", "positive journaling", "negative journaling", "trace", "label")
def test_message_for_paused_queue_opens_no_session(peer, sut, judge):
    """An application pauses the SUT's outgoing queue, the peer closes the session, and the application sends a second
    message. The SUT opens no session within two retry times (erratum E85).
    """
    sender = Sender(peer, sut)
    sender.send(1)
    session, sent = sender.await_first_messages(1)
    session.acknowledge_all()
    session.stays_quiet()
    sut.pause(sender.to)
    session.close()
    peer.pass_time(sut.quiet_ms)
    sender.send(2)
    again = sender.poll_session(sut.connect_timeout_ms)
    evidence = [*sent, *(again.received if again else [])]
    judge(
        "MQQB-3.1.7.12-04",
        expected=holds("the SUT opened no session", otherwise="the SUT opened a session"),
        observed=not again,
        evidence=evidence,
    )
    sut.resume(sender.to)
    again = again or sender.poll_session(sut.connect_timeout_ms)
    if again is not None:
        sender.collect_messages(again, 1)
        again.acknowledge_all()


@needs("send", "receive")
@covers("MQQB-3.1.7.12-02")
@varied("priority", "positive journaling", "negative journaling", "response queue", "label")
def test_message_for_own_queue_opens_no_session(peer, sut, judge):
    """The SUT sends a message to one of its own queues by its direct name, and by the name of its host, the private
    name and the public name if these names are known. The SUT also sends a transactional message to its own
    transactional queue. The messages are in these queues, and the SUT opens no session.
    """
    listener = peer.listen_without_core()
    names = [sut.format_name("plain")]
    names += [rf"DIRECT=OS:{host}\{names[0].partition(chr(92))[2]}" for host in list_computer_names(sut)[:1]]
    if sut.has("queue_control") and sut.has("private_names"):
        known = sut.format_names(sut.queue("plain"))
        names += [known[kind] for kind in ("private", "public") if known.get(kind)]
    identifiers = [sut.send(to, body="at home") for to in names]
    identifiers.append(sut.send(sut.format_name("transactional"), body="at home", delivery="transactional"))
    names.append("transactional")

    def list_own_messages() -> list[dict[str, Any]]:
        there = [*sut.messages("plain"), *sut.messages("transactional")]
        return [one for one in there if one["message_id"] in identifiers]

    peer.eventually(lambda: len(list_own_messages()) == len(names))
    arrived = list_own_messages()
    opened = listener.accept(sut.quiet_ms) is not None
    judge(
        "MQQB-3.1.7.12-02",
        expected=fields({"number of messages in the queue": len(names), "session opened": False}),
        observed={"number of messages in the queue": len(arrived), "session opened": opened},
    )


@needs("send")
@covers("MQQB-3.1.7.12-03", "MQQB-3.1.7.12-05")
@varied("priority", "positive journaling", "negative journaling", "time to reach queue", "application tag")
def test_multicast_and_http_messages_open_no_session(peer, sut, judge):
    """An application sends an express and a recoverable message to a multicast address, and a message to an HTTP name
    and to an HTTPS name. The SUT may refuse to send the messages, and opens no session.
    """
    listener = peer.listen_without_core()
    multicast, http = QUEUE_NAMES_OF_MULTICAST_AND_HTTP
    for rule, name, delivery in (
        ("MQQB-3.1.7.12-03", multicast, "express"),
        ("MQQB-3.1.7.12-03", multicast, "recoverable"),
        ("MQQB-3.1.7.12-05", http, "express"),
        ("MQQB-3.1.7.12-05", HTTPS_QUEUE_NAME_TEMPLATE, "express"),
    ):
        to = name.format(address=peer.address)
        body = "the message may be sent over a different protocol"
        taken = get_request_outcome(partial(sut.send, to, body=body, delivery=delivery)) == DONE
        peer.pass_time(1)
        opened = listener.accept(sut.quiet_ms) is not None
        judge(
            rule,
            expected=holds("the SUT opened no session", otherwise="the SUT opened a session"),
            observed=not opened,
            case=f"{delivery} message to {to}",
            note=None if taken else "the SUT refuses such a message",
        )


def list_outgoing_entries(sut, to: str) -> list[dict[str, Any]]:
    """Return OutgoingMessageTable of the session for a format name."""
    found = [one for one in sut.inspect()["Sessions"] if one["OutgoingQueueReference"] in (to, to.lower())]
    return [entry for one in found for entry in one["OutgoingMessageTable"]]
