"""MS-MQDMPR 3.1.7.1.5 Open Queue: the directory is queried whenever a public queue is opened for sending."""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.run.marks import covers, needs
from harness.sut.outcomes import Outcome
from suites.mqdmpr.steps import openings
from suites.mqdmpr.steps.directory import Enterprise

OUTGOING_QUEUE_IDLE_DURATION_MS = 2_000


@needs("open_to_send", "queue_control", "set_timers", "directory", "environment")
@covers("MQDMPR-3.1.7.1.5-68")
def test_public_queue_is_opened_as_directory_shows_it_at_that_time(peer, sut, judge):
    """The directory contains a public queue of the SUT's computer that does not exist on the SUT. An open of this queue
    while the directory is unavailable is refused, or creates an outgoing queue, which disappears when it is idle. When
    the directory is available again, the SUT refuses to open the queue, because the directory shows that the queue
    belongs to this computer.
    """
    enterprise = Enterprise(peer, sut)
    missing = enterprise.make_new_path_name()
    peer.call_at_end_of_test(lambda: sut.change_directory_object(queue=missing, present=False))
    directory_object = sut.change_directory_object(queue=missing, present=True)
    if directory_object is None:
        judge.end_unobservable("the directory of the SUT did not create the object of a queue")
        return
    name = f"PUBLIC={directory_object['identifier']}"
    sut.set_timers(outgoing_queue_idle_ms=OUTGOING_QUEUE_IDLE_DURATION_MS)
    enterprise.go_offline()
    openings.open_to_send(sut, name)
    sut.change_environment(directory=True)
    enterprise.await_expiry_of_online_timer()
    if enterprise.attempt_creation_of_public_queue() != Outcome.DONE:
        raise ConformanceFailure("the SUT did not use its directory when the directory was available again")

    def has_outgoing_queue() -> bool:
        return name.lower() in [one["format_name"].lower() for one in sut.control.call("list")["outgoing"]]

    peer.pass_time(sut.duration_ms(OUTGOING_QUEUE_IDLE_DURATION_MS) + sut.slack_ms(OUTGOING_QUEUE_IDLE_DURATION_MS))
    if not peer.eventually(lambda: not has_outgoing_queue()):
        judge.mark_not_exercised("MQDMPR-3.1.7.1.5-68", reason="the SUT keeps the outgoing queue of the first open")
        return
    judge(
        "MQDMPR-3.1.7.1.5-68",
        expected=Outcome.REFUSED,
        observed=openings.open_to_send(sut, name),
        case="open of the missing queue when the directory is available again",
    )
