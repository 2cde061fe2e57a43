"""MS-MQDMPR 3.1.1 Abstract Data Model: the Identifier in messages of each kind and after the SUT was offline, and the
operations of a prepared transaction after a restart.
"""

from __future__ import annotations

from harness.expectations import each
from harness.run.marks import covers, needs
from suites.mqqb.steps.disposition import AcknowledgingReceiver
from suites.mqqb.steps.sender import Sender


@covers("MQDMPR-3.1.1-05")
def test_acknowledgments_have_identifier_of_sut(peer, sut, judge):
    """The SUT acknowledges two messages: SourceQueueManager of each acknowledgment is the SUT's identifier."""
    receiver = AcknowledgingReceiver(peer, sut)
    for delivery_mode in (0, 1):
        receiver.send_packet(receiver.build_message({"DM": delivery_mode}, properties={"PA": 1}))
    acks = receiver.await_acks(2)
    judge(
        "MQDMPR-3.1.1-05",
        expected=each(str(sut.guid), "SourceQueueManager"),
        observed=[str(frame["UserHeader"].SourceQueueManager) for frame in acks],
        case="acknowledgments",
        evidence=acks,
    )
    receiver.acknowledge_all()


@needs("send", "pause")
@covers("MQDMPR-3.1.1-05")
def test_identifier_is_same_after_sut_was_offline(peer, sut, judge):
    """An administrator takes the SUT offline and brings it online again. The messages that the SUT sends before and
    afterwards have the same SourceQueueManager.
    """
    own = str(sut.guid)
    sender = Sender(peer, sut, peer.direct_name("mqc-identifier-online"))
    sender.send(1)
    session, frames = sender.await_first_messages(1)
    session.acknowledge_all()
    sut.take_offline()
    sut.bring_online()
    sender.send(2)
    later = sender.await_session()
    requests = [Sender.get_establish_request(one) for one in (session, later)]
    judge(
        "MQDMPR-3.1.1-05",
        expected=each(own, "ClientGuid"),
        observed=[str(one["EstablishConnectionHeader"].ClientGuid) for one in requests],
        case="sessions that the SUT requests before and after it was offline",
        evidence=requests,
    )
    came = sender.collect_messages_until_silence(later, 1)
    later.acknowledge_all()
    judge(
        "MQDMPR-3.1.1-05",
        expected=each(own, "SourceQueueManager"),
        observed=[str(frame["UserHeader"].SourceQueueManager) for frame in (*frames, *came)],
        case="messages before and after the SUT was offline",
        evidence=[*frames, *came],
    )
    judge.conclude("MQDMPR-3.1.1-05")


@needs("inspect", "send", "receive", "queue_control", "transactions", "restart")
@covers("MQDMPR-3.1.1.13-03", "MQDMPR-3.1.1.13-04")
def test_prepared_operations_keep_their_types_over_restart(sut, judge):
    """A coordinator prepares a transaction that sends two messages to local queues and receives a message. After a
    restart, the operations of the transaction have the same types as before.
    """
    queue, second = (sut.new_queue(name, transactional=True) for name in ("kept", "kept-too"))
    sut.send_here(queue, ["received"], delivery="transactional")
    transaction = sut.control.call("begin", external=True)["transaction"]
    for name in (queue, second):
        sut.send_here(name, ["sent"], transaction=transaction)
    sut.control.call("receive", queue=queue, timeout_ms=0, transaction=transaction)
    sut.control.call("prepare", transaction=transaction)
    sut.restart()
    listed = sut.inspect_queue_manager()["TransactionCollection"]
    kinds = [
        operation["OperationType"]
        for one in listed
        if one["Identifier"].lower() == transaction.lower()
        for operation in one["TransactionalOperationCollection"]
    ]
    sut.control.call("abort", transaction=transaction)
    for rule, kind, count in (("MQDMPR-3.1.1.13-03", "Enqueue", 2), ("MQDMPR-3.1.1.13-04", "Dequeue", 1)):
        judge(rule, expected=count, observed=kinds.count(kind), case=f"operations of type {kind} after a restart")
