"""MS-MQDMPR 3.1.4: decisions about a transaction while other transactions are open, decisions without a vote, and
decisions after the Reenlistment Timeout.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from harness.errors import ConformanceFailure
from harness.expectations import each
from harness.run.marks import covers, needs
from harness.sut.control import ControlRefused
from harness.sut.outcomes import Outcome
from harness.sut.sut import Sut
from suites.applications import Application

UNKNOWN_TRANSACTION_GUID = UUID("6d71636f-6e66-4f72-8d00-0000000000ab")
PREPARED_STATE = "prepared"


def _request_transaction_decision(sut: Sut, verb: str, transaction: str, **how: Any) -> str:
    """Request to prepare, commit or abort a transaction; return the outcome, or REFUSED."""
    try:
        return str(sut.control.call(verb, transaction=transaction, **how).get("outcome"))
    except ControlRefused:
        return Outcome.REFUSED


def _get_transaction_states(sut: Sut) -> dict[str, str]:
    listed = sut.control.call("list")["transactions"]
    return {one["transaction"].lower(): one["state"].lower() for one in listed}


@needs("receive", "queue_control", "transactions")
@covers("MQDMPR-3.1.4.3-03")
def test_single_phase_prepare_leaves_other_transactions_unprepared(peer, sut, judge):
    """A coordinator has three transactions with one receive each, and requests a single-phase prepare of the second.
    The other two transactions are not prepared, and still accept operations.
    """
    application = Application(peer, sut, transactional=True)
    packets = application.fill_queue(*"abcde")
    transactions = [application.begin_transaction(external=True) for _ in range(3)]
    for transaction in transactions:
        application.receive(transaction=transaction)
    application.end_transaction("prepare", transactions[1], single_phase=True)
    others = [transactions[0], transactions[2]]
    states = [_get_transaction_states(sut).get(one.lower()) for one in others]
    more = [sut.attempt("receive", queue=application.queue, timeout_ms=0, transaction=one) for one in others]
    for one in others:
        application.end_transaction("abort", one)
    judge(
        "MQDMPR-3.1.4.3-03",
        expected=[True, True],
        observed=[state is not None and state != PREPARED_STATE for state in states],
        case="whether the other transactions are listed and not prepared",
        evidence=packets,
    )
    judge("MQDMPR-3.1.4.3-03", expected=each(Outcome.DONE, "further receive"), observed=more, evidence=packets)


@needs("inspect", "receive", "queue_control", "transactions")
@covers("MQDMPR-3.1.4.3-04")
def test_single_phase_is_true_in_transaction_with_operations(peer, sut, judge):
    """A transaction without a coordinator receives two messages: its SinglePhase is True after each of them."""
    application = Application(peer, sut, transactional=True)
    packets = application.fill_queue(*"abc")
    transaction = application.begin_transaction()
    for number in (1, 2):
        application.receive(transaction=transaction)
        shown = {
            one["Identifier"].lower(): one["SinglePhase"]
            for one in sut.inspect_queue_manager()["TransactionCollection"]
        }
        judge(
            "MQDMPR-3.1.4.3-04",
            expected=True,
            observed=shown.get(transaction.lower()),
            case=f"SinglePhase after {number} receives",
            evidence=packets,
        )
    application.end_transaction("abort", transaction)


@needs("receive", "queue_control", "transactions")
@covers("MQDMPR-3.1.4.8-05")
def test_abort_before_vote_is_answered_aborted(peer, sut, judge):
    """A coordinator aborts transactions that it has not prepared, without operations and with a receive: the SUT
    answers that the transactions are aborted.
    """
    application = Application(peer, sut, transactional=True)
    packets = application.fill_queue("a")
    empty, receiving = (application.begin_transaction(external=True) for _ in range(2))
    application.receive(transaction=receiving)
    outcomes = [_request_transaction_decision(sut, "abort", one) for one in (empty, receiving)]
    judge("MQDMPR-3.1.4.8-05", expected=each("aborted", "answer"), observed=outcomes, evidence=packets)


@needs("transactions")
@covers("MQDMPR-3.1.4.6-11")
def test_unknown_transaction_gets_no_vote_and_is_not_committed(sut, judge):
    """A coordinator requests that the SUT prepare an unknown transaction, in two phases and in a single phase. Neither
    request gets a vote, and the transaction cannot be committed afterwards.
    """
    unknown = str(UNKNOWN_TRANSACTION_GUID)
    observed = {
        "two-phase prepare": _request_transaction_decision(sut, "prepare", unknown),
        "single-phase prepare": _request_transaction_decision(sut, "prepare", unknown, single_phase=True),
        "commit": _request_transaction_decision(sut, "commit", unknown),
    }
    judge("MQDMPR-3.1.4.6-11", expected=each(Outcome.REFUSED, "request"), observed=observed)


@needs("restart", "transactions", "receive", "queue_control", "send")
@covers("MQDMPR-3.1.4.11-D02")
def test_every_request_is_refused_after_reenlistment_timeout(peer, sut, judge):
    """The SUT restarts with a prepared transaction, and the Reenlistment Timeout expires. Then the SUT refuses each
    request of an application to receive, to peek and to send, even when the application repeats the requests.
    """
    application = Application(peer, sut)
    application.store("kept")
    transaction = application.begin_transaction(external=True)
    application.call("prepare", transaction=transaction)
    sut.restart()
    try:
        sut.control.call("reenlistment_timeout")
    except ControlRefused:
        raise ConformanceFailure("the SUT has no transaction in doubt after a restart") from None
    queue, to = application.queue, sut.direct_name(application.queue)
    outcomes = []
    for _ in range(2):
        outcomes += [
            sut.attempt("receive", queue=queue, timeout_ms=0),
            sut.attempt("peek_message", queue=queue, timeout_ms=0),
            sut.attempt(sut.send, to, label="refused"),
        ]
    sut.restart()
    application.end_transaction("abort", transaction)
    judge("MQDMPR-3.1.4.11-D02", expected=each(Outcome.REFUSED, "request"), observed=outcomes)
