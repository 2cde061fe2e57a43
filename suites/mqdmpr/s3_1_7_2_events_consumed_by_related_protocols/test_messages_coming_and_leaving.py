"""MS-MQDMPR 3.1.7.2.1, 3.1.7.2.2: messages that become available, and messages that are deleted."""

from __future__ import annotations

from itertools import pairwise

from harness.errors import ConformanceFailure
from harness.expectations import acknowledged, each, facts, in_queue, none
from harness.peer.association import Call
from harness.run.marks import covers, needs, varied
from harness.sut.shown import lookup_id
from harness.wire.rpc_qm2qm import Action
from suites.mqqb.steps.acknowledged_application import AcknowledgedApplication
from suites.mqqb.steps.disposition import AckClass, AcknowledgingReceiver

LONG_READ_TIMEOUT_MS = 600_000
LIFETIME_S, INFINITE_LIFETIME_S = 4, 0xFFFFFFFF


@needs("qm2qm")
@covers("MQDMPR-3.1.7.2-01", "MQDMPR-3.1.7.2.2-04", "MQDMPR-3.1.7.2.2-07", "MQDMPR-3.1.7.2.2-14")
def test_arriving_message_completes_all_pending_peeks(remote, judge):
    """Four peeks with two handles are pending: all of them return the arriving message, which stays in the queue until
    an application receives it.
    """
    queue, other = remote.open_with_messages(), remote.open()
    reads = [one.begin(Action.PEEK_CURRENT, ulTimeout=LONG_READ_TIMEOUT_MS) for one in (queue, queue, other, other)]
    states = [read.state_after_silence() for read in reads]
    remote.deliver(["first"])
    observed = [read.wait().label_or_outcome for read in reads]
    judge(
        "MQDMPR-3.1.7.2.2-07",
        expected=facts(
            reads_before_an_arrival=each(Call.WAITING),
            read_by_the_first_handle="first",
            read_by_the_second_handle="first",
        ),
        observed={
            "reads_before_an_arrival": states,
            "read_by_the_first_handle": observed[0],
            "read_by_the_second_handle": observed[2],
        },
        evidence=reads,
    )
    labels = queue.labels()
    judge("MQDMPR-3.1.7.2.2-04", expected=["first"], observed=labels, evidence=reads, case="labels in the queue")
    judge(
        "MQDMPR-3.1.7.2.2-14",
        expected={"peeks": each("first"), "queue": in_queue("first")},
        observed={"peeks": observed, "queue": labels},
        evidence=reads,
    )
    receive = queue.start_receive()
    if receive.outcome == "MQ_OK":
        queue.acknowledge(receive)
    judge(
        "MQDMPR-3.1.7.2-01",
        expected={"before the receive": ["first"], "after the receive": []},
        observed={"before the receive": labels, "after the receive": queue.labels()},
        evidence=[*reads, receive],
        case="labels in the queue",
    )


@needs("queue_control", "receive", "transactions")
@covers("MQDMPR-3.1.7.2.1-03", "MQDMPR-3.1.7.2.2-03")
@varied("application tag", "extension", "correlation")
def test_queue_bytes_follow_arriving_and_received_messages(peer, sut, judge):
    """Three messages arrive in a queue: each message increases the size of the queue in bytes by at least the size of
    its body. An aborted receive does not change the size; each receive decreases the size, and the last receive
    decreases it to 0 (erratum E104).
    """
    application = AcknowledgedApplication(peer, sut, transactional=True)

    def read_size_in_bytes() -> int:
        return sut.control.call("get_queue", name=application.queue)["bytes"]

    sizes = [read_size_in_bytes()]
    for label in ("a", "b" * 50, "c" * 120):
        application.fill(label)
        sizes.append(read_size_in_bytes())
    stored_sizes = [after - before for before, after in pairwise(sizes)]
    evidence = list(application.sent.values())
    bodies = [len(bytes(frame["MessagePropertiesHeader"].MessageBody)) for frame in evidence]
    too_small = [
        f"{stored_size} of {body} bytes"
        for stored_size, body in zip(stored_sizes, bodies, strict=True)
        if stored_size < max(body, 1)
    ]
    transaction = application.begin_transaction()
    application.receive(transaction=transaction)
    application.end_transaction("abort", transaction)
    judge(
        "MQDMPR-3.1.7.2.2-03",
        expected={
            "while empty": 0,
            "with each message": none("number smaller than the body of the message"),
            "after the abort": sizes[-1],
        },
        observed={"while empty": sizes[0], "with each message": too_small, "after the abort": read_size_in_bytes()},
        evidence=evidence,
        case="bytes of the queue",
    )
    remaining_sizes = []
    for _ in stored_sizes:
        application.receive()
        remaining_sizes.append(read_size_in_bytes())
    expected = [sum(stored_sizes[number:]) for number in range(1, len(stored_sizes) + 1)]
    judge(
        "MQDMPR-3.1.7.2.1-03",
        expected=expected,
        observed=remaining_sizes,
        evidence=evidence,
        case="bytes of the queue after each receive",
    )
    application.receiver.acknowledge_all()


@needs("queue_control", "receive", "subqueues")
@covers("MQDMPR-3.1.7.1.7-07", "MQDMPR-3.1.7.2.7-12")
def test_messages_that_leave_subqueue_are_acknowledged(peer, sut, judge):
    """Three messages arrive in a queue. One message stays there, and two are moved to a subqueue, where one expires and
    the other is purged: the SUT acknowledges each moved message with the class of its removal.
    """
    queue = sut.new_queue("parent")
    subqueue = f"{queue};mqc-sub"
    sut.create_queue(subqueue)
    receiver = AcknowledgingReceiver(peer, sut)
    sent = {}
    for label, lifetime_s in (("stays", INFINITE_LIFETIME_S), ("expires", LIFETIME_S), ("purged", INFINITE_LIFETIME_S)):
        user = receiver.with_admin_queue({"TimeToBeReceived": lifetime_s})
        headers = {"destination": rf"TCP:{sut.address}\{queue}", "properties": {"PR": 1, "NR": 1}}
        sent[label] = receiver.send_packet(peer.message(user, label=label, **headers))
    if not peer.await_label("purged", queue):
        raise ConformanceFailure("the messages are not in the queue")
    for one in sut.control.call("peek", queue=queue)["messages"][1:]:
        sut.control.call("move", queue=queue, lookup_id=lookup_id(one), to=subqueue)
    peer.pass_time((LIFETIME_S + 1) * 1_000)
    left = sut.labels(subqueue)
    sut.control.call("purge", queue=subqueue)
    receiver.await_acks(2)
    evidence = list(sent.values())
    for rule, value, label in (
        ("MQDMPR-3.1.7.2.7-12", AckClass.RECEIVE_TIMEOUT, "expires"),
        ("MQDMPR-3.1.7.1.7-07", AckClass.Q_PURGED, "purged"),
    ):
        found = receiver.list_acks_of_class(value, *sent.values())
        judge(rule, expected=acknowledged(sent[label], of_class=value), observed=found, evidence=[*evidence, *found])
    judge("MQDMPR-3.1.7.2.7-12", expected=in_queue("purged"), observed=left, evidence=evidence)
    judge("MQDMPR-3.1.7.1.7-07", expected=in_queue("stays"), observed=sut.labels(queue), evidence=evidence)
    receiver.acknowledge_all()
