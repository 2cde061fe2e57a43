"""MS-MQQP 3.1.4.6 RemoteQMCancelReceive: several cancels while reads wait on several handles."""

from __future__ import annotations

from harness.expectations import each, facts, none
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import Method
from suites.mqqp.steps.cancelling import NO_MESSAGE_OUTCOME, describe_cancelled_read

pytestmark = needs("qm2qm")

INVALID_HANDLE_STATUS, INVALID_PARAMETER_STATUS, GENERAL_ERROR_STATUS = (
    "MQ_ERROR_INVALID_HANDLE",
    "MQ_ERROR_INVALID_PARAMETER",
    "MQ_ERROR",
)
SHORT_READ_TIMEOUT_MS, LONG_READ_TIMEOUT_MS = 300, 600_000
LARGEST_REQUEST_ID = 0xFFFF_FFFF
REQUEST_ID_BIT_16 = 0x1_0000


@covers(
    "MQQP-3.1.4.6-05",
    "MQQP-3.1.4.6-07",
    "MQQP-3.1.4.6-08",
    "MQQP-3.1.4.6-09",
    "MQQP-3.1.4.6-10",
    "MQQP-3.1.4.6-11",
    "MQQP-3.1.4.6-14",
    "MQQP-3.1.4.6-15",
    "MQQP-3.1.4.6-19",
    "MQQP-3.1.4.6-20",
    "MQQP-3.1.4.6-D01",
    "MQQP-3.1.4.6-D02",
    *("MQQP-3.1.1.3-01", "MQQP-3.1.1.3-02"),
)
def test_second_cancel_of_handle_is_treated_like_first(remote, judge):
    """Three receives wait through one handle, and two through other handles; some of them have the same dwRequestID.
    Calls of RemoteQMCancelReceive name two receives of the first handle one after the other; between them, calls
    contain wrong values. Each call has its own result, and affects only the read that it names.
    """
    queue = remote.open()
    twin, admin = remote.open(association=queue.association), remote.open("admin", association=queue.association)
    closed = remote.open(association=queue.association)
    cursor = queue.open_cursor()
    low, foreign = remote.request_id(), remote.request_id()
    kept = queue.begin_receive(dwRequestID=low, ulTimeout=LONG_READ_TIMEOUT_MS)
    high = queue.begin_receive(dwRequestID=LARGEST_REQUEST_ID, ulTimeout=LONG_READ_TIMEOUT_MS)
    by_cursor = queue.begin_receive(
        dwRequestID=low + 1000, ulTimeout=LONG_READ_TIMEOUT_MS, hCursor=cursor, by=Method.START_RECEIVE
    )
    others = [
        admin.begin_receive(dwRequestID=LARGEST_REQUEST_ID, ulTimeout=LONG_READ_TIMEOUT_MS),
        twin.begin_receive(dwRequestID=foreign, ulTimeout=LONG_READ_TIMEOUT_MS),
    ]
    expired = queue.read(ulTimeout=SHORT_READ_TIMEOUT_MS, dwRequestID=foreign + 1000)
    before = [one.state_after_silence() for one in (kept, high, by_cursor, *others)]
    before_all = {"reads": before, "expired": expired.failed}

    first = queue.cancel(LARGEST_REQUEST_ID)
    first_end = describe_cancelled_read(high)
    closed.close().expect_success()
    wrong = [
        _call_cancel_receive(queue, low, pQueue=value) for value in (admin.pointer, queue.pointer ^ REQUEST_ID_BIT_16)
    ]
    wrong += [
        _call_cancel_receive(queue, LARGEST_REQUEST_ID, pQueue=admin.pointer),
        _call_cancel_receive(closed, low, pQueue=queue.pointer),
        _call_cancel_receive(remote.open(association=queue.association), low, pQueue=queue.pointer),
    ]
    unknown = [queue.cancel(one) for one in (LARGEST_REQUEST_ID, foreign, foreign + 1000)]
    handle = queue.handle ^ REQUEST_ID_BIT_16
    nowhere = [_call_cancel_receive(queue, low, hQueue=handle, pQueue=handle), closed.cancel(low)]
    waits = [one.state_after_silence() for one in (kept, by_cursor, *others)]
    second = queue.cancel(low + 1000)
    second_end = describe_cancelled_read(by_cursor)
    again = queue.begin_receive(dwRequestID=low + 1000, ulTimeout=LONG_READ_TIMEOUT_MS, hCursor=cursor)
    again_waits = again.state_after_silence()
    third = admin.cancel(LARGEST_REQUEST_ID)
    refused = [*wrong, *unknown, *nowhere]
    cancels = [first, second, third]

    expected = facts(
        reads=each(kept.WAITING), expired=True, cancels=each(INVALID_PARAMETER_STATUS), after=each(kept.WAITING)
    )
    observed = before_all | {"cancels": [one.outcome for one in wrong], "after": waits}
    judge("MQQP-3.1.4.6-07", expected=expected, observed=observed, evidence=wrong, case="wrong pQueue")
    expected = facts(
        reads=each(kept.WAITING), expired=True, cancels=each(GENERAL_ERROR_STATUS), after=each(kept.WAITING)
    )
    observed = before_all | {"cancels": [one.outcome for one in unknown], "after": waits}
    ids = ("MQQP-3.1.4.6-08", "MQQP-3.1.4.6-11")
    judge(
        *ids, expected=expected, observed=observed, evidence=unknown, case="dwRequestIDs that no read of the handle has"
    )
    expected = facts(cancels=each(INVALID_HANDLE_STATUS), after=each(kept.WAITING))
    observed = {"cancels": [one.outcome for one in nowhere], "after": waits}
    ids = ("MQQP-3.1.4.6-08", "MQQP-3.1.4.6-09")
    judge(*ids, expected=expected, observed=observed, evidence=nowhere, case="handles without reads")
    done = ("MQQP-3.1.4.6-05", "MQQP-3.1.4.6-20", "MQQP-3.1.1.3-01", "MQQP-3.1.1.3-02")
    outcomes = [one.outcome for one in cancels]
    judge(*done, expected=each("MQ_OK"), observed=outcomes, evidence=cancels, case="three cancels")
    faults = [one.outcome for one in refused if one.thrown is not None]
    judge("MQQP-3.1.4.6-D02", expected=none("fault"), observed=faults, evidence=refused, case="refused cancels")
    ends = [first_end, second_end]
    judge(
        "MQQP-3.1.4.6-15",
        expected=each(NO_MESSAGE_OUTCOME),
        observed=ends,
        evidence=cancels,
        case="two cancelled reads",
    )
    expected = facts(new_read=kept.WAITING, third_cancel="MQ_OK", cancel_of_ended=GENERAL_ERROR_STATUS)
    observed = {"new_read": again_waits, "third_cancel": third.outcome, "cancel_of_ended": unknown[0].outcome}
    judge("MQQP-3.1.4.6-19", expected=expected, observed=observed, evidence=cancels, case="entries after two cancels")
    judge.conclude("MQQP-3.1.4.6-07", "MQQP-3.1.4.6-09", "MQQP-3.1.4.6-11")

    twin.cancel(foreign)
    queue.cancel(low + 1000)
    remote.deliver(["first", "second"])
    kept.wait()
    then = queue.start_receive(by=Method.START_RECEIVE, hCursor=cursor)
    observed = {
        "cancelled_reads": ends,
        "read_that_was_not_cancelled": kept.label_or_outcome,
        "next_receive_by_cursor": then.label_or_outcome,
    }
    expected = facts(
        cancelled_reads=each(NO_MESSAGE_OUTCOME), read_that_was_not_cancelled="first", next_receive_by_cursor="second"
    )
    last = ("MQQP-3.1.4.6-10", "MQQP-3.1.4.6-14", "MQQP-3.1.4.6-D01")
    judge(*last, expected=expected, observed=observed, evidence=[*cancels, then], case="messages after the cancels")


def _call_cancel_receive(queue, number, **wrong):
    given = {"hQueue": queue.handle, "pQueue": queue.pointer, "dwRequestID": number}
    return queue.association.call(Method.CANCEL_RECEIVE, **(given | wrong))
