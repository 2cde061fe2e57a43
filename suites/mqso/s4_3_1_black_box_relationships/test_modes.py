"""MS-MQSO 4.3.1.1, 4.3.1.3, 4.3.3: a system without a directory, and what only one with a directory has."""

from __future__ import annotations

from harness.expectations import facts
from harness.run.marks import covers, needs
from harness.sut.outcomes import Outcome
from suites.mqdmpr.steps.directory import Enterprise
from suites.mqqb.steps.sender import Sender, tags

INTEGRATED = "it is integrated with a directory"


@needs("send", "receive", "queue_control", "inspect")
@covers("MQSO-4.3.1.1-01", "MQSO-4.3.1.3-01", "MQSO-4.3.1.3-D01", "MQSO-4.3.3-D02")
def test_in_workgroup_mode_there_are_private_queues_and_direct_names(peer, sut, judge):
    """A queue manager in workgroup mode has private queues and direct format names, and makes no public queue."""
    if sut.inspect_queue_manager()["DirectoryIntegrated"]:
        judge.mark_not_exercised(
            "MQSO-4.3.1.1-01", "MQSO-4.3.1.3-01", "MQSO-4.3.1.3-D01", "MQSO-4.3.3-D02", reason=INTEGRATED
        )
        return
    made = Enterprise(peer, sut).attempt_creation()
    judge("MQSO-4.3.1.3-01", expected=Outcome.REFUSED, observed=made, case="workgroup mode")
    queue = sut.new_queue("private")
    label = f"in {peer.message_id()}"
    sent = peer.open_raw().send(peer.recoverable_message(destination=f"TCP:{sut.address}\\{queue}", label=label))
    peer.eventually(lambda: label in sut.labels(queue))
    taken = sut.read_label("receive", queue=queue)
    sender = Sender(peer, sut, peer.direct_name("mqc-private"))
    sender.send(1)
    session = sender.next_session()
    came = [] if session is None else sender.collect(session, 1)
    if session is not None:
        sender.acknowledge_all(session)
    judge(
        "MQSO-4.3.1.1-01",
        "MQSO-4.3.3-D02",
        "MQSO-4.3.1.3-D01",
        expected=facts(received=label, sent=[1]),
        observed={"received": taken, "sent": tags(came)},
        evidence=[sent, *came],
    )
    judge("MQSO-4.3.1.3-D01", expected=Outcome.REFUSED, observed=made)


@needs("directory", "queue_control", "inspect")
@covers("MQSO-4.3.1.3-01")
def test_in_directory_mode_there_are_public_queues(peer, sut, judge):
    """A queue manager that is integrated with a directory makes a public queue."""
    integrated = bool(sut.inspect_queue_manager()["DirectoryIntegrated"])
    made = Enterprise(peer, sut).attempt_creation()
    expected = facts(DirectoryIntegrated=True, public_queue=Outcome.DONE)
    judge.all(expected=expected, observed={"DirectoryIntegrated": integrated, "public_queue": made})
