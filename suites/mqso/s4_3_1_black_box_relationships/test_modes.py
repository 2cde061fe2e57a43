"""MS-MQSO 4.3.1.1, 4.3.1.3, 4.3.3: workgroup mode and directory mode."""

from __future__ import annotations

from harness.expectations import facts
from harness.run.marks import covers, needs, varied
from harness.sut.outcomes import Outcome
from suites.mqdmpr.steps.directory import Enterprise
from suites.mqqb.steps.sender import Sender

DIRECTORY_MODE_REASON = "the SUT is integrated with a directory"


@needs("send", "receive", "queue_control")
@covers("MQSO-4.3.1.1-01", "MQSO-4.3.1.3-01", "MQSO-4.3.1.3-D01", "MQSO-4.3.3-D02")
@varied("time to be received", "extension", "trace", "label", "read by")
def test_workgroup_mode_has_private_queues_only(peer, sut, judge):
    """A SUT in workgroup mode refuses to create a public queue, receives a message into a private queue, and sends a
    message to a direct format name.
    """
    if sut.is_directory_integrated:
        judge.mark_not_exercised(
            "MQSO-4.3.1.1-01", "MQSO-4.3.1.3-01", "MQSO-4.3.1.3-D01", "MQSO-4.3.3-D02", reason=DIRECTORY_MODE_REASON
        )
        return
    outcome = Enterprise(peer, sut).attempt_creation()
    judge(
        "MQSO-4.3.1.3-01",
        expected=Outcome.REFUSED,
        observed=outcome,
        case="creation of a public queue in workgroup mode",
    )
    queue = sut.new_queue("private")
    label = f"message {peer.message_id()}"
    packet = peer.open_raw().send(peer.recoverable_message(destination=f"TCP:{sut.address}\\{queue}", label=label))
    peer.eventually(lambda: label in sut.labels(queue))
    received_label = sut.read_label("receive", queue=queue)
    sender = Sender(peer, sut, peer.direct_name("mqc-private"))
    sender.send(1)
    session = sender.poll_session()
    frames = [] if session is None else sender.collect(session, 1)
    if session is not None:
        session.acknowledge_all()
    judge(
        "MQSO-4.3.1.1-01",
        "MQSO-4.3.3-D02",
        "MQSO-4.3.1.3-D01",
        expected=facts(label_of_the_received_message=label, ApplicationTags_of_the_messages_sent=[1]),
        observed={
            "label_of_the_received_message": received_label,
            "ApplicationTags_of_the_messages_sent": Sender.tags(frames),
        },
        evidence=[packet, *frames],
    )
    judge("MQSO-4.3.1.3-D01", expected=Outcome.REFUSED, observed=outcome, case="creation of a public queue")


@needs("directory", "queue_control", "inspect")
@covers("MQSO-4.3.1.3-01")
def test_directory_mode_has_public_queues(peer, sut, judge):
    """A SUT in directory mode shows DirectoryIntegrated True and creates a public queue."""
    integrated = bool(sut.inspect_queue_manager()["DirectoryIntegrated"])
    outcome = Enterprise(peer, sut).attempt_creation()
    expected = facts(DirectoryIntegrated=True, creation_of_a_public_queue=Outcome.DONE)
    judge.all(expected=expected, observed={"DirectoryIntegrated": integrated, "creation_of_a_public_queue": outcome})
