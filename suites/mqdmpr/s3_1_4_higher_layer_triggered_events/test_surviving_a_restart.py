"""MS-MQDMPR 3.1.4.9, 3.1.4.10: transactions in doubt that are committed or aborted after a restart."""

from __future__ import annotations

from harness.expectations import none
from harness.run.marks import covers, needs
from harness.sut.outcomes import Outcome
from suites.mqqb.steps.ordering import build_order_ack
from suites.mqqb.steps.sender import Sender
from suites.mqqb.steps.sequences import get_transaction_header


@needs("send", "restart", "transactions")
@covers("MQQB-3.1.1.3.1-12", "MQDMPR-3.1.4.9-D01", "MQDMPR-3.1.4.10-D01")
def test_transaction_in_doubt_is_decided_after_restart(peer, sut, judge):
    """Two transactions are prepared before a restart. After the restart, the SUT sends the messages of the committed
    transaction in order with FM and LM, and never sends the messages of the aborted transaction.
    """
    sender = Sender(peer, sut, peer.direct_name("mqc-prepared"))
    first, second = (sut.control.call("begin", external=True)["transaction"] for _ in range(2))
    sender.send(1, 2, transaction=first)
    sender.send(9, delivery="recoverable")
    sender.send(3, transaction=second)
    for transaction in (first, second):
        sut.control.call("prepare", transaction=transaction)
    sender.await_first_messages(1)
    sut.restart()
    session = sender.poll_session()
    while session is not None and session.record.closed_by is not None:  # what it had before the restart
        session = sender.poll_session()
    early_frames = [] if session is None else sender.collect_messages_until_silence(session, 1)
    judge(
        "MQQB-3.1.1.3.1-12",
        expected=[9],
        observed=Sender.list_tags(early_frames),
        evidence=early_frames,
        case="ApplicationTags of the messages sent before the decision",
    )
    aborting, committing = sut.attempt("abort", transaction=second), sut.attempt("commit", transaction=first)
    for rule, decision in (("MQDMPR-3.1.4.10-D01", aborting), ("MQDMPR-3.1.4.9-D01", committing)):
        judge(rule, expected=Outcome.DONE, observed=decision, case="decision of the transaction", evidence=early_frames)
    frames = [] if session is None else sender.collect_messages_until_silence(session, 3)[len(early_frames) :]
    expected = [f"message {one} with TxSequenceNumber {one}" for one in (1, 2)]
    observed = [
        f"message {tag} with TxSequenceNumber {int(get_transaction_header(frame).TxSequenceNumber)}"
        for tag, frame in zip(Sender.list_tags(frames), frames, strict=True)
    ]
    judge(
        "MQQB-3.1.1.3.1-12",
        "MQDMPR-3.1.4.9-D01",
        expected=expected,
        observed=observed,
        evidence=frames,
        case="messages of the committed transaction",
    )
    aborted = [f"message {tag}" for tag in Sender.list_tags(frames) if tag == 3] + _read_transaction_state(sut, second)
    judge("MQDMPR-3.1.4.10-D01", expected=none("message of the aborted transaction"), observed=aborted, evidence=frames)
    ends = [
        {"FM": int(get_transaction_header(frame).FM), "LM": int(get_transaction_header(frame).LM)} for frame in frames
    ]
    judge(
        "MQQB-3.1.1.3.1-12",
        expected=[{"FM": 1, "LM": 0}, {"FM": 0, "LM": 1}],
        observed=ends,
        evidence=frames,
        case="FM and LM of the messages",
    )
    if session is not None and frames:
        session.acknowledge_all()
        session.send(build_order_ack(peer, frames[-1]))
        peer.settle()


def _read_transaction_state(sut, transaction):
    """Return the state of a transaction, if the SUT lists transactions."""
    transactions = sut.control.call("list")["transactions"] if sut.has("queue_control") else []
    return [one["state"] for one in transactions if one["transaction"] == transaction]
