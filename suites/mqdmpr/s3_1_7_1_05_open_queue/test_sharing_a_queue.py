"""MS-MQDMPR 3.1.7.1.5 Open Queue: access and sharing modes of several readers of one queue."""

from __future__ import annotations

from harness.expectations import holds
from harness.run.marks import covers, needs, varied
from harness.sut.outcomes import Outcome
from harness.sut.shown import lookup_id
from harness.wire.rpc_qmcomm import DENY_NONE, DENY_RECEIVE, PEEK_ACCESS, RECEIVE_ACCESS
from suites.mqdmpr.steps import openings

ACCESS_AND_SHARE_BY_OPEN_MODE = {
    "receive": (RECEIVE_ACCESS, DENY_NONE),
    "exclusive receive": (RECEIVE_ACCESS, DENY_RECEIVE),
    "peek": (PEEK_ACCESS, DENY_NONE),
    "exclusive peek": (PEEK_ACCESS, DENY_RECEIVE),
}
RULES_OF_REFUSED_MODES_BY_OPEN_MODE = {
    "receive": {"exclusive receive": "MQDMPR-3.1.7.1.5-114", "exclusive peek": "MQDMPR-3.1.7.1.5-114"},
    "exclusive receive": {
        "receive": "MQDMPR-3.1.7.1.5-106",
        "exclusive receive": "MQDMPR-3.1.7.1.5-103",
        "exclusive peek": "MQDMPR-3.1.7.1.5-103",
    },
    "peek": {},
    "exclusive peek": {"receive": "MQDMPR-3.1.7.1.5-110", "exclusive receive": "MQDMPR-3.1.7.1.5-110"},
}
"""For each mode of the first reader, the modes in which the SUT refuses a second reader, each with its rule."""


@needs("qm2qm")
@covers(
    "MQDMPR-3.1.7.1.5-103",
    "MQDMPR-3.1.7.1.5-106",
    "MQDMPR-3.1.7.1.5-110",
    "MQDMPR-3.1.7.1.5-114",
    "MQDMPR-3.1.7.1.5-123",
    "MQDMPR-3.1.7.1.5-124",
    "MQDMPR-3.1.7.1.6-17",
)
def test_second_reader_is_refused_only_by_excluding_mode(remote, judge):
    """For each pair of access and sharing modes, the SUT refuses a second remote reader if and only if the mode of one
    reader excludes the other reader. When the first reader has closed the queue, or its connection is lost, the second
    reader can open the queue.
    """
    remote.empty_queue()
    first_reader, second_reader = remote.associate(), remote.associate()

    def open_queue_in_mode(association, mode):
        access, share = ACCESS_AND_SHARE_BY_OPEN_MODE[mode]
        return remote.open_remote(association, access=access, share=share)

    for first_mode, refused in RULES_OF_REFUSED_MODES_BY_OPEN_MODE.items():
        first_opening = open_queue_in_mode(first_reader, first_mode).expect_success()
        for second_mode in ACCESS_AND_SHARE_BY_OPEN_MODE:
            second = open_queue_in_mode(second_reader, second_mode)
            openings.close_opened_queue(second)
            pair, expected = (
                f"second open, for {second_mode}, while the queue is open for {first_mode}",
                Outcome.REFUSED if second_mode in refused else openings.OPENED_OUTCOME,
            )
            rules = (
                (refused[second_mode], "MQDMPR-3.1.7.1.5-123") if second_mode in refused else ("MQDMPR-3.1.7.1.5-124",)
            )
            evidence = [first_opening, second]
            judge(
                *rules, expected=expected, observed=openings.get_opening_outcome(second), case=pair, evidence=evidence
            )
        openings.close_opened_queue(first_opening)
        for second_mode in list(refused)[-1:]:
            later_opening = open_queue_in_mode(second_reader, second_mode)
            openings.close_opened_queue(later_opening)
            case = f"open for {second_mode} after the open for {first_mode} is closed"
            judge(
                "MQDMPR-3.1.7.1.6-17",
                expected=openings.OPENED_OUTCOME,
                observed=openings.get_opening_outcome(later_opening),
                case=case,
                evidence=later_opening,
            )
    for mode in ("exclusive receive", "exclusive peek"):
        access, share = ACCESS_AND_SHARE_BY_OPEN_MODE[mode]
        lost = remote.open(access=access, share=share)
        lost.association.close()

        def is_second_reader_admitted_after_close():
            again = open_queue_in_mode(second_reader, "receive")
            openings.close_opened_queue(again)
            return openings.get_opening_outcome(again) == openings.OPENED_OUTCOME

        judge(
            "MQDMPR-3.1.7.1.6-17",
            expected=holds("opened", otherwise="refused"),
            observed=bool(remote.peer.eventually(is_second_reader_admitted_after_close)),
            case=f"open for receive after the connection of the reader for {mode} is lost",
            evidence=lost.session,
        )


@needs("qm2qm", "queues", "receive")
@covers(
    "MQDMPR-3.1.7.1.5-103",
    "MQDMPR-3.1.7.1.5-106",
    "MQDMPR-3.1.7.1.5-110",
    "MQDMPR-3.1.7.1.5-114",
    "MQDMPR-3.1.7.1.5-124",
)
@varied("queue journaling", "queue privacy")
def test_remote_reader_beside_application_is_refused_only_by_excluding_mode(remote, sut, judge):
    """An application has a queue open, and a remote reader opens it too, with each pair of access and sharing modes.
    The SUT refuses the remote reader if and only if the mode of one of them excludes the other.
    """
    remote.empty_queue()
    association = remote.associate()
    for first_mode, refused in RULES_OF_REFUSED_MODES_BY_OPEN_MODE.items():
        access, share = ACCESS_AND_SHARE_BY_OPEN_MODE[first_mode]
        handle = sut.control.call(
            "open_queue",
            queue=sut.queue(),
            access="receive" if access == RECEIVE_ACCESS else "peek",
            deny_receive=share == DENY_RECEIVE,
        )["handle"]
        for second_mode, (access, share) in ACCESS_AND_SHARE_BY_OPEN_MODE.items():
            second = remote.open_remote(association, access=access, share=share)
            openings.close_opened_queue(second)
            judge(
                refused.get(second_mode, "MQDMPR-3.1.7.1.5-124"),
                expected=Outcome.REFUSED if second_mode in refused else openings.OPENED_OUTCOME,
                observed=openings.get_opening_outcome(second),
                case=f"open for {second_mode} while an application has the queue open for {first_mode}",
                evidence=second,
            )
        sut.control.call("close_queue", handle=handle)


@needs("qm2qm", "queues", "receive")
@covers("MQDMPR-3.1.7.1.5-106", "MQDMPR-3.1.7.1.5-124")
@varied("queue journaling", "queue privacy", read_by=("queue", "cursor"))
def test_application_can_peek_beside_exclusive_remote_reader(remote, sut, judge):
    """While a remote reader has a queue open with ReceiveAccess and DenyReceive, an application can peek, but the SUT
    refuses its receive. When the reader has closed the queue, a peek and a receive succeed.
    """
    remote.empty_queue()
    remote.deliver(["first", "second", "third"])
    queue = sut.queue()
    lookup_ids = [lookup_id(one) for one in sut.control.call("peek", queue=queue, limit=1)["messages"]]
    place = {"lookup_id": lookup_ids[0], "seek": "next"}
    opened = remote.open_remote(remote.associate(), access=RECEIVE_ACCESS, share=DENY_RECEIVE).expect_success()

    def attempt_read_with_each_handle() -> dict[str, str]:
        return {
            "peek": sut.attempt("peek_message", queue=queue, timeout_ms=0),
            "peek by identifier": sut.attempt("peek_by_lookup_id", queue=queue, **place),
            "receive by identifier": sut.attempt("receive_by_lookup_id", queue=queue, **place),
            "receive": sut.attempt("receive", queue=queue, timeout_ms=0),
        }

    outcomes_beside = attempt_read_with_each_handle()
    openings.close_opened_queue(opened)
    outcomes_alone = attempt_read_with_each_handle()
    for rule, reading, expected in (
        ("MQDMPR-3.1.7.1.5-124", "peek", Outcome.DONE),
        ("MQDMPR-3.1.7.1.5-106", "receive", Outcome.REFUSED),
    ):
        for way in (reading, f"{reading} by identifier"):
            wanted, observed = (
                {"while the queue is open exclusively": expected, "after the close": Outcome.DONE},
                {"while the queue is open exclusively": outcomes_beside[way], "after the close": outcomes_alone[way]},
            )
            judge(rule, expected=wanted, observed=observed, case=f"{way} by an application", evidence=opened)
