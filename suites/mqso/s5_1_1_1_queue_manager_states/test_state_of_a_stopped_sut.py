"""MS-MQSO 5.1.1.1: the state that a stopped queue manager keeps for its next start."""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.expectations import any_order, facts, in_queue
from harness.run.marks import covers, needs
from suites.messages import Sequence
from suites.mqqb.steps.ordering import build_order_ack
from suites.mqqb.steps.sender import Sender
from suites.mqso.steps.inventory import INVENTORY_QUEUE_KINDS, QueueInventory

SHORT_LIFETIME_S = 1
EXPIRY_WAIT_MS = 4_000
"""A time after which a message with the short lifetime has expired."""
SYSTEM_QUEUES = {
    "system$;journal": "sent",
    "system$;deadletter": "late",
    "system$;deadxact": "late in a sequence",
}
"""For each system queue, the beginning of the label of its message."""


@needs("environment", "send", "receive", "queue_control")
@covers("MQSO-5.1.1.1-D01")
def test_stopped_sut_keeps_queues_journals_and_subqueues(peer, sut, judge):
    """Three queues with every property set, and their subqueues and journals, contain messages from an application and
    from the peer. After each of two stops, the SUT starts with the same properties and with the same recoverable and
    transactional messages. It also discards a message that the peer repeats.
    """
    kept = QueueInventory(peer, sut)
    queue = sut.new_queue("repeated", transactional=True)
    packet = Sequence(peer).message(destination=rf"TCP:{sut.address}\{queue}", label="once")
    sent = [peer.open_raw().send(packet)]
    if not peer.eventually(lambda: sut.labels(queue) == ["once"]):
        raise ConformanceFailure("the SUT did not store the transactional message of the peer")
    properties = kept.read_queue_properties()
    messages = {kind: kept.messages(kind) for kind in INVENTORY_QUEUE_KINDS}
    for number in (1, 2):
        sut.change_environment(service=False)
        sut.change_environment(service=True)
        case = f"properties of the queues after stop {number}"
        judge.all(expected=properties, observed=kept.read_queue_properties(), evidence=sent, case=case)
        for kind, expected in messages.items():
            case = f"messages of the {kind} queue after stop {number}"
            judge.all(expected=facts(**expected), observed=kept.messages(kind), evidence=sent, case=case)
        connection = peer.open_raw()
        sent.append(connection.send(packet))
        connection.require_session_ack_for_message()
        peer.settle()
        case = f"labels in the queue of the repeated message after stop {number}"
        judge.all(expected=in_queue("once"), observed=sut.labels(queue), evidence=sent, case=case)


@needs("environment", "send", "receive", "queue_control")
@covers("MQSO-5.1.1.1-D01")
def test_stopped_sut_keeps_messages_of_its_system_queues(peer, sut, judge):
    """The system journal contains a recoverable message that was delivered. The dead-letter queues contain a
    recoverable and a transactional message that expired. All three are still there after the SUT is stopped and
    started. A transactional message without an OrderAck is sent again with the same place in its sequence.
    """
    labels = {name: f"{label} {sut.own}" for name, label in SYSTEM_QUEUES.items()}
    unreachable = {"journal": ["negative"], "time_to_reach_queue_s": SHORT_LIFETIME_S}
    for name, delivery in (("system$;deadletter", "recoverable"), ("system$;deadxact", "transactional")):
        sut.send(peer.direct_name("mqc-late"), label=labels[name], delivery=delivery, **unreachable)
    peer.pass_time(EXPIRY_WAIT_MS)
    if not peer.eventually(lambda: all(labels[name] in sut.labels(name) for name in list(labels)[1:])):
        judge.mark_not_exercised("MQSO-5.1.1.1-D01", reason="the dead-letter queues do not get the expired messages")
        return
    sender = Sender(peer, sut, peer.direct_name("mqc-stopped"))
    sender.send(1, delivery="recoverable", journal=["positive"], label=labels["system$;journal"])
    sender.send(2, delivery="transactional")
    session, before = sender.await_first_messages(2)
    session.acknowledge_all()

    def list_kept_labels():
        return {name: [one for one in sut.labels(name) if one == labels[name]] for name in labels}

    expected = {name: [label] for name, label in labels.items()}
    if not peer.eventually(lambda: list_kept_labels() == expected):
        raise ConformanceFailure(f"the messages are not in the system queues before the stop: {list_kept_labels()}")
    sut.change_environment(service=False)
    sut.change_environment(service=True)
    judge.all(expected=expected, observed=list_kept_labels(), evidence=before, case="labels in the system queues")
    again = sender.poll_session()
    frames = [] if again is None else sender.collect_messages(again, 1)
    judge.all(
        expected=any_order(*(_get_sequence_id_and_number(one) for one in before if one["UserHeader"].TH)),
        observed=[_get_sequence_id_and_number(one) for one in frames],
        evidence=[*before, *frames],
        case="ordinal, time stamp and number of the transactional message that is sent again",
    )
    if again is not None and frames:
        again.acknowledge_all()
        again.send(build_order_ack(peer, frames[0]))


def _get_sequence_id_and_number(frame):
    """Return the Ordinal, the TimeStamp and the number that a message has in its sequence, or None for a
    nontransactional message.
    """
    if not frame["UserHeader"].TH:
        return None
    header = frame["TransactionHeader"]
    return int(header.TxSequenceID.Ordinal), int(header.TxSequenceID.TimeStamp), int(header.TxSequenceNumber)
