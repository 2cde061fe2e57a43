"""MS-MQSO 5.1.1.1, 5.5.4: messages that are sent in a transaction while the directory is unavailable."""

from __future__ import annotations

from harness.expectations import any_order, each
from harness.run.marks import covers, needs
from harness.sut.outcomes import Outcome
from harness.sut.sut_file import PEER_PUBLIC_QUEUE
from suites.mqdmpr.steps.directory import Enterprise
from suites.mqqb.steps.sender import Sender


@needs("directory", "environment", "inspect", "queue_control", "send", "transactions")
@covers("MQSO-5.1.1.1-D07")
def test_transaction_without_directory_is_sent_after_return(peer, sut, judge):
    """While the directory is unavailable, an application sends two messages in a transaction to a public queue of the
    peer, and commits the transaction. The SUT sends both messages when the directory is available again.
    """
    enterprise = Enterprise(peer, sut)
    sender = Sender(peer, sut, f"PUBLIC={PEER_PUBLIC_QUEUE}")
    enterprise.go_offline()
    steps = {}
    transaction = sut.control.call("begin")["transaction"]
    for tag in (1, 2):
        how = {"delivery": "transactional", "transaction": transaction}
        steps[f"send of message {tag}"] = sut.attempt(sender.send, tag, **how)
    steps["commit"] = sut.attempt("commit", transaction=transaction)
    judge("MQSO-5.1.1.1-D07", expected=each(Outcome.DONE, "step"), observed=steps, case="transaction")
    sut.change_environment(directory=True)
    enterprise.await_directory_online()
    session = sender.poll_session()
    frames = [] if session is None else sender.collect_messages_until_silence(session, 2)
    judge(
        "MQSO-5.1.1.1-D07",
        expected=any_order(1, 2),
        observed=Sender.list_tags(frames),
        evidence=frames,
        case="ApplicationTags of the sent messages",
    )
    if session is not None:
        session.acknowledge_all()
