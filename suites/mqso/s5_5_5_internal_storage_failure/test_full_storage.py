"""MS-MQSO 5.5.5, 5.1.1.1 (Throttled): requests while the disk is full."""

from __future__ import annotations

from typing import Any

from harness.expectations import each, facts
from harness.peer.peer import PEER_QUEUE
from harness.peer.timeouts import RECOVERABLE_ACK_MS
from harness.run.marks import covers, needs
from harness.sut.outcomes import Outcome
from suites.messages import Sequence
from suites.mqqb.steps.disposition import MISSING_QUEUE
from suites.mqqb.steps.sender import Sender
from suites.mqqb.steps.sequences import get_transaction_header

SMALL_QUOTA_KB, BODY_BYTES_IN_SMALL_QUOTA = 8, 5_000
"""The quota of a queue, and the size of a body that fits into the quota once, but not twice."""


@needs("environment", "transactions", "send", "receive", "queue_control", "restart")
@covers("MQSO-5.5.5-01")
def test_request_on_full_disk_fails_entirely(peer, sut, judge):
    """On a full disk, each commit, send, receive, queue creation and change of a queue is either refused without any
    effect or carried out entirely; a restart does not change this.
    """
    plain, transactional = sut.queue(), sut.queue("transactional")
    refused_names = [f"private$\\mqc-{sut.own}-never-{number}" for number in range(2)]
    sut.send_here(plain, ["kept"], delivery="recoverable")
    sut.send_here(transactional, ["received"], delivery="transactional")
    transaction = sut.control.call("begin")["transaction"]
    sut.read_label("receive", queue=transactional, transaction=transaction)
    for label in ("one", "two"):
        sut.send(sut.direct_name(transactional), label=label, body=label, transaction=transaction)
    connection, label_before = peer.open_raw(), sut.control.call("get_queue", name=plain)["label"]
    sut.change_environment(storage=False)
    commit, send, receive, *create, change = outcomes = [
        sut.attempt("commit", transaction=transaction),
        sut.attempt(sut.send_here, plain, ["sent"], delivery="recoverable"),
        sut.attempt("receive", queue=plain, timeout_ms=0),
        *(
            sut.attempt("create_queue", name=name, transactional=bool(number))
            for number, name in enumerate(refused_names)
        ),
        sut.attempt("set_queue", name=plain, label="changed"),
    ]
    packet = connection.send(peer.recoverable_message(label="of the peer"))
    peer.settle()
    sut.change_environment(storage=True)
    if commit == Outcome.REFUSED:
        sut.attempt("abort", transaction=transaction)
    state = {
        "labels in the plain queue": [
            *(["kept"] if receive == Outcome.REFUSED else []),
            *([] if send == Outcome.REFUSED else ["sent"]),
        ],
        "labels in the transactional queue": ["received"] if commit == Outcome.REFUSED else ["one", "two"],
        "creation of a plain and a transactional queue": create,
        "label of the plain queue": label_before if change == Outcome.REFUSED else "changed",
    }

    def read_labels_and_outcomes() -> dict[str, Any]:
        of_us = [label for label in sut.labels(plain) if label != "of the peer" or send == Outcome.REFUSED]
        found = [sut.attempt("get_queue", name=name) for name in refused_names]
        label = sut.control.call("get_queue", name=plain)["label"]
        return {
            "labels in the plain queue": of_us,
            "labels in the transactional queue": sut.labels(transactional),
            "creation of a plain and a transactional queue": found,
            "label of the plain queue": label,
        }

    properties_before = read_labels_and_outcomes()
    sut.restart()
    properties_after = read_labels_and_outcomes()
    for name, outcome in zip(refused_names, create, strict=True):
        if outcome != Outcome.REFUSED:
            sut.attempt("delete_queue", name=name)
    if properties_before == properties_after == state and Outcome.REFUSED not in outcomes:
        judge.mark_not_exercised("MQSO-5.5.5-01", reason="the SUT could store all requests although the disk was full")
        return
    judge("MQSO-5.5.5-01", expected=state, observed=properties_before, evidence=[packet])
    judge("MQSO-5.5.5-01", expected=state, observed=properties_after, evidence=[packet])
    sut.send_here(plain, ["after"], delivery="recoverable")
    judge(
        "MQSO-5.5.5-01",
        expected=["after"],
        observed=sut.labels(plain)[-1:],
        case="label of the last message in the queue",
    )


@needs("environment", "send", "receive", "queue_control")
@covers("MQSO-5.5.5-01")
def test_refused_messages_on_full_disk_leave_nothing(peer, sut, judge):
    """On a full disk, an application sends a message to a queue with room for only one message, and a transactional
    message to the peer. The peer sends a recoverable and a transactional message. When the disk has room again, every
    refused message is sent again. Each message arrives once, and the outgoing sequence has no gap.
    """
    tight = sut.new_queue("tight", quota_kb=SMALL_QUOTA_KB)
    queues = {
        "recoverable": sut.new_queue("arrived"),
        "transactional": sut.new_queue("in-sequence", transactional=True),
    }
    sender, sequence = Sender(peer, sut, peer.direct_name("mqc-sequence")), Sequence(peer)
    sender.send(1, delivery="transactional")
    session, first = sender.await_first_messages(1)
    where = {name: rf"TCP:{sut.address}\{queue}" for name, queue in queues.items()}
    packets = [
        peer.recoverable_message(destination=where["recoverable"], label="arrived"),
        sequence.message(destination=where["transactional"], label="arrived"),
    ]

    def send_to_queue_with_small_quota() -> str:
        body = "x" * BODY_BYTES_IN_SMALL_QUOTA
        return sut.attempt(sut.send, sut.direct_name(tight), label="tight", body=body, delivery="recoverable")

    def send_message_to_peer() -> str:
        return sut.attempt(sender.send, 2, delivery="transactional")

    connections = [peer.open_raw() for _ in packets]
    sut.change_environment(storage=False)
    refused = [send for send in (send_to_queue_with_small_quota, send_message_to_peer) if send() == Outcome.REFUSED]
    for connection, packet in zip(connections, packets, strict=True):
        if connection.record.closed_by is None:
            connection.send(packet)
    peer.settle()
    sut.change_environment(storage=True)
    peer.settle()
    connection = peer.open_raw()
    evidence = [connection.send(packet) for packet in packets]
    repeated = {send.__name__: send() for send in refused}
    judge.all(expected=each(Outcome.DONE, "repeated request"), observed=repeated)
    peer.eventually(lambda: all(sut.labels(one) for one in (tight, *queues.values())))
    observed = {name: sut.labels(one) for name, one in {**queues, "tight": tight}.items()}
    expected = facts(recoverable=["arrived"], transactional=["arrived"], tight=["tight"])
    judge.all(expected=expected, observed=observed, evidence=evidence)
    frames = sender.collect_messages(session, 2)
    headers = [get_transaction_header(one) for one in frames]
    judge.all(
        expected=facts(tags=[1, 2], follows=headers[0].TxSequenceNumber),
        observed={"tags": Sender.list_tags(frames), "follows": headers[-1].PreviousTxSequenceNumber},
        evidence=[*first, *frames],
        case="sequence to the peer",
    )


@needs("environment", "configure", "restart", "send", "queue_control")
@covers("MQSO-5.5.5-01")
def test_setting_on_full_disk_is_refused_or_kept(sut, judge):
    """On a full disk, a change of the setting hardened_security is either refused without effect, or made and kept
    across a restart.
    """
    if "hardened_security" not in sut.control.call("configure"):
        judge.end_unobservable("the SUT has no setting hardened_security")
        return
    sut.change_environment(storage=False)
    outcomes = [sut.attempt("configure", hardened_security=value) for value in (False, True)]
    sut.change_environment(storage=True)
    sut.send_here(sut.queue(), ["written"], delivery="recoverable")
    sut.restart()
    setting = sut.control.call("configure")["hardened_security"]
    judge.all(
        expected=outcomes[1] == Outcome.DONE,
        observed=setting,
        case=f"hardened_security after a restart (outcome of the change: {outcomes[1]})",
    )
    sut.configure(hardened_security=False)
    sut.restart()


@needs("environment", "receive", "queues")
@covers("MQSO-5.5.5-01")
def test_message_after_full_disk_is_acknowledged(peer, sut, judge):
    """When a full disk has room again, an arriving recoverable message is stored and acknowledged."""
    queue, connection = sut.queue(), peer.open_raw()
    sut.change_environment(storage=False)
    asks = {"destination": rf"TCP:{sut.address}\{MISSING_QUEUE}", "properties": {"NA": 1}}
    admin = rf"TCP:{peer.address}\{PEER_QUEUE}"
    packets = [connection.send(peer.recoverable_message({"AdminQueue": admin}, **asks))]
    peer.settle()
    sut.change_environment(storage=True)
    peer.settle()  # it has to notice
    if connection.record.closed_by is not None:
        connection = peer.open_raw()
    packets.append(connection.send(peer.recoverable_message(label="after")))

    def is_acknowledged() -> bool:
        headers = [frame["SessionHeader"] for frame in connection.received if frame.kind == "SessionAck"]
        return any(one.RecoverableMsgAckFlags for one in headers)

    within_ms = 3 * sut.duration_ms(RECOVERABLE_ACK_MS) + sut.slack_ms(RECOVERABLE_ACK_MS)
    peer.environment.run_until(is_acknowledged, within_ms)
    observed = {"labels_in_the_queue": sut.labels(queue), "message_acknowledged": is_acknowledged()}
    judge.all(
        expected=facts(labels_in_the_queue=["after"], message_acknowledged=True), observed=observed, evidence=packets
    )
