"""MS-MQSO 4.3.1.2, 4.3.3, 3.3.4.4: messages that are sent, transferred and received in transactions."""

from __future__ import annotations

from harness.run.marks import covers, needs
from suites.applications import NOTHING, asked, received, send_here
from suites.mqqb.steps.disposition import AcknowledgingReceiver, labels
from suites.mqqb.steps.opening import direct_name, pass_time
from suites.mqqb.steps.ordering import place
from suites.mqqb.steps.sender import Sender, eventually

UNSEEN = ("MQSO-3.3.4.4-D01", "MQSO-4.3.1.2-D01")
DECIDED = ("MQSO-3.3.4.4-D02", "MQSO-4.3.1.2-D02")
COORDINATED = ("MQSO-4.3.1.2-01", "MQSO-4.3.1.2-02")
INTERNAL = ("MQSO-4.3.1.2-D08", "MQSO-4.3.3-D01")


@needs("send", "receive", "queue_control", "transactions")
@covers(*UNSEEN, *DECIDED, *COORDINATED, *INTERNAL, "MQSO-4.3.1.2-D09")
def test_a_message_is_sent_and_received_in_transactions(sut, judge):
    """Sent in transactions of either kind, aborted and committed, and received in one of the other kind.

    An external one is prepared first: until it is committed nothing is seen of what was sent in it.
    """
    queue = sut.queue("transactional")
    for external in (False, True):
        kind = "external" if external else "internal"
        for outcome, there in (("abort", []), ("commit", [kind])):
            transaction = sut.control.call("begin", external=external)["transaction"]
            send_here(sut, queue, [kind], delivery="transactional", transaction=transaction)
            for rule in UNSEEN:
                judge(rule, expected=f"{kind}: []", observed=f"{kind}: {labels(sut, queue)}")
            if external:
                voted = sut.control.call("prepare", transaction=transaction)["outcome"]
                for rule in COORDINATED:
                    judge(rule, expected="prepared: []", observed=f"{voted}: {labels(sut, queue)}")
            answer = asked(sut, outcome, transaction=transaction)
            for rule in (*DECIDED, *(COORDINATED if external else INTERNAL)):
                expected, observed = f"{outcome} done: {there}", f"{outcome} {answer}: {labels(sut, queue)}"
                judge(rule, expected=expected, observed=observed)
        receiving = sut.control.call("begin", external=not external)["transaction"]
        taken = received(sut, queue=queue, transaction=receiving)
        if not external:
            asked(sut, "prepare", transaction=receiving)
        asked(sut, "commit", transaction=receiving)
        left = received(sut, "peek_message", queue=queue)
        judge("MQSO-4.3.1.2-D09", expected=f"{kind}, then {NOTHING}", observed=f"{taken}, then {left}")


@needs("send", "transactions")
@covers(*DECIDED)
def test_a_message_leaves_when_its_transaction_commits(peer, sut, judge):
    """Of two messages for the peer, one in a transaction that is aborted, the other one comes, after its commit."""
    sender = Sender(peer, sut, direct_name(peer, "mqc-committed"))
    bodies = {}
    for tag, outcome in enumerate(("abort", "commit"), 1):
        transaction = sut.control.call("begin")["transaction"]
        sut.send(sender.to, body=outcome, application_tag=tag, delivery="transactional", transaction=transaction)
        bodies[tag] = outcome
        if outcome == "commit":
            early = peer.await_session(sut.quiet_ms) is not None
        sut.control.call(outcome, transaction=transaction)
    session = sender.next_session()
    came = [] if session is None else sender.collect_all(session, 1)
    seen = [bodies.get(int(frame["MessagePropertiesHeader"].ApplicationTag)) for frame in came]
    for rule in DECIDED:
        judge(rule, expected=["later", "commit"], observed=["at once" if early else "later", *seen], evidence=came)
    if session is not None:
        sender.acknowledge_all(session)


@needs("receive")
@covers("MQSO-3.2.1-01", "MQSO-3.2.1-D03", "MQSO-4.3.1.2-D04")
def test_a_transactional_message_is_stored_once_and_acknowledged(peer, sut, judge):
    """One that comes twice is there once, and its transfer is acknowledged; one in no transaction is not taken."""
    receiver = AcknowledgingReceiver(peer, sut)
    label = f"once {peer.message_id()}"
    packet = receiver.sequence.message(label=label)
    sent = [receiver.give(packet), receiver.give(packet)]
    ack = receiver.poll_acknowledgment()
    outside = receiver.give(receiver.asking(queue="transactional", label="in no transaction", properties={"NA": 1}))
    eventually(peer, lambda: label in labels(sut, sut.queue("transactional")))
    pass_time(peer, sut.quiet_ms)
    evidence = [*sent, outside, *([] if ack is None else [ack])]
    number = None if ack is None else place(ack).TxSequenceNumber
    judge(
        "MQSO-4.3.1.2-D04",
        expected=f"1 acknowledged, {[label]}",
        observed=f"{number} acknowledged, {labels(sut, sut.queue('transactional'))}",
        evidence=evidence,
    )
    judge(
        "MQSO-3.2.1-D03",
        expected=[label],
        observed=[one for one in labels(sut, sut.queue("transactional")) if one == label],
        evidence=sent,
    )
    judge("MQSO-3.2.1-01", expected=[label], observed=labels(sut, sut.queue("transactional")), evidence=evidence)
    receiver.end()
