"""MS-MQSO 4.3.1.1, 4.3.1.3, 4.3.3: workgroup mode and directory mode."""

from __future__ import annotations

from harness.capture.recorder import Frame
from harness.expectations import any_order, each, facts
from harness.run.marks import covers, needs, varied
from harness.sut.outcomes import Outcome
from suites.applications import PendingRequest, list_computer_names
from suites.messages import Sequence
from suites.mqdmpr.steps.directory import Enterprise
from suites.mqqb.steps.sender import Sender

DELIVERY_MODES = ("express", "recoverable", "transactional")
DIRECTORY_MODE_SKIP_REASON = "the SUT is integrated with a directory"


@needs("send", "receive", "queue_control")
@covers("MQSO-4.3.1.1-01", "MQSO-4.3.1.3-01", "MQSO-4.3.1.3-D01", "MQSO-4.3.3-D02")
@varied("time to be received", "extension", "correlation", "trace", "label", "read by")
def test_workgroup_mode_has_private_queues_only(peer, sut, judge):
    """In workgroup mode, the SUT refuses to create two public queues. Applications can receive from a private queue and
    from a private transactional queue. The SUT sends messages of each kind to the direct format names of two queues.
    """
    if sut.is_directory_integrated:
        judge.mark_not_exercised(
            "MQSO-4.3.1.1-01",
            "MQSO-4.3.1.3-01",
            "MQSO-4.3.1.3-D01",
            "MQSO-4.3.3-D02",
            reason=DIRECTORY_MODE_SKIP_REASON,
        )
        return
    outcome = Enterprise(peer, sut).attempt_creation_of_public_queue()
    judge(
        "MQSO-4.3.1.3-01",
        expected=Outcome.REFUSED,
        observed=outcome,
        case="creation of a public queue in workgroup mode",
    )
    queue = sut.new_queue("private")
    label = f"message {peer.next_message_id()}"
    packet = peer.open_raw().send(peer.recoverable_message(destination=f"TCP:{sut.address}\\{queue}", label=label))
    peer.eventually(lambda: label in sut.labels(queue))
    received_label = sut.read_label("receive", queue=queue)
    computers = list_computer_names(sut)
    by_name = [
        peer.open_raw().send(peer.recoverable_message(destination=rf"OS:{name}\{queue}", label=name))
        for name in computers
    ]
    peer.eventually(lambda: len(sut.labels(queue)) == len(computers))
    judge(
        "MQSO-4.3.1.3-D01",
        expected=any_order(*computers),
        observed=sut.labels(queue),
        case="messages to direct names with the computer name",
        evidence=by_name,
    )
    sut.control.call("purge", queue=queue)
    transactional = sut.new_queue("private-transactional", transactional=True)
    in_sequence = Sequence(peer).message(destination=f"TCP:{sut.address}\\{transactional}", label=label)
    peer.open_raw().send(in_sequence)
    peer.eventually(lambda: label in sut.labels(transactional))
    own = {
        delivery: sut.attempt(sut.send_here, queue, [delivery], delivery=delivery) for delivery in DELIVERY_MODES[:2]
    }
    own["transactional"] = sut.attempt(sut.send_here, transactional, ["transactional"], delivery="transactional")
    stored = {"outcomes": own, "plain": sut.labels(queue), "transactional": sut.labels(transactional)}
    received = [PendingRequest(peer, "receive", queue=transactional, timeout_ms=0).await_label() for _ in range(2)]
    names = [peer.direct_name(f"mqc-private-{number}") for number in range(2)]
    peer.inbox.listen()
    sent = {
        f"{tag} {delivery}": sut.attempt(
            sut.send, names[tag % 2], body=delivery, application_tag=tag, delivery=delivery
        )
        for tag, delivery in enumerate(2 * DELIVERY_MODES, 1)
    }
    tags = set(range(1, 2 * len(DELIVERY_MODES) + 1))

    def list_frames() -> list[Frame]:
        return [frame for frame in peer.inbox.copies if Sender.list_tags([frame])[0] in tags]

    peer.environment.run_until(lambda: tags <= set(Sender.list_tags(list_frames())), sut.connect_timeout_ms)
    frames = list_frames()
    peer.inbox.acknowledge()
    judge(
        "MQSO-4.3.1.1-01",
        "MQSO-4.3.3-D02",
        "MQSO-4.3.1.3-D01",
        expected=facts(
            label_of_the_received_message=label,
            labels_received_from_the_transactional_queue=[label, "transactional"],
            messages_in_queues=facts(
                outcomes=each(Outcome.DONE, "send"),
                plain=list(DELIVERY_MODES[:2]),
                transactional=[label, "transactional"],
            ),
            sends_to_the_peer=each(Outcome.DONE, "send"),
            ApplicationTags_of_the_messages_sent=tags,
        ),
        observed={
            "label_of_the_received_message": received_label,
            "labels_received_from_the_transactional_queue": received,
            "messages_in_queues": stored,
            "sends_to_the_peer": sent,
            "ApplicationTags_of_the_messages_sent": set(Sender.list_tags(frames)),
        },
        evidence=[packet, *frames],
    )
    judge("MQSO-4.3.1.3-D01", expected=Outcome.REFUSED, observed=outcome, case="creation of a public queue")


@needs("directory", "queue_control", "inspect")
@covers("MQSO-4.3.1.3-01")
def test_directory_mode_has_public_queues(peer, sut, judge):
    """A SUT in directory mode shows DirectoryIntegrated True and creates a public queue."""
    integrated = bool(sut.inspect_queue_manager()["DirectoryIntegrated"])
    outcome = Enterprise(peer, sut).attempt_creation_of_public_queue()
    expected = facts(DirectoryIntegrated=True, creation_of_a_public_queue=Outcome.DONE)
    judge.all(expected=expected, observed={"DirectoryIntegrated": integrated, "creation_of_a_public_queue": outcome})
