"""MS-MQSO 4.3.3 System Influences: without a directory, messages are sent to direct names with a host name."""

from __future__ import annotations

from harness.capture.recorder import Frame
from harness.expectations import each, facts
from harness.run.marks import covers, needs
from harness.sut.outcomes import Outcome
from suites.mqqb.steps.opening import PEER_QUEUE_BY_HOST_NAME
from suites.mqqb.steps.sender import RETRY_INTERVAL_MS, Sender
from suites.mqso.s4_3_1_black_box_relationships.test_modes import DELIVERY_MODES, DIRECTORY_MODE_SKIP_REASON


@needs("send", "two_addresses")
@covers("MQSO-4.3.3-D02")
def test_messages_to_host_name_are_sent_without_directory(peer, sut, judge):
    """A SUT without a directory has an express, a recoverable and a transactional message for a direct format name with
    a host name that has two addresses. The messages arrive at the peer.
    """
    if sut.is_directory_integrated:
        judge.mark_not_exercised("MQSO-4.3.3-D02", reason=DIRECTORY_MODE_SKIP_REASON)
        return
    peer.inbox.listen()
    outcomes = {
        delivery: sut.attempt(sut.send, PEER_QUEUE_BY_HOST_NAME, body=delivery, application_tag=tag, delivery=delivery)
        for tag, delivery in enumerate(DELIVERY_MODES, 1)
    }
    tags = set(range(1, len(DELIVERY_MODES) + 1))

    def list_frames() -> list[Frame]:
        return [frame for frame in peer.inbox.copies if Sender.list_tags([frame])[0] in tags]

    retry_ms = sut.duration_ms(RETRY_INTERVAL_MS) + sut.slack_ms(RETRY_INTERVAL_MS)
    peer.environment.run_until(
        lambda: tags <= set(Sender.list_tags(list_frames())), 2 * (sut.connect_timeout_ms + retry_ms)
    )
    frames = list_frames()
    peer.inbox.acknowledge()
    judge(
        "MQSO-4.3.3-D02",
        expected=facts(sends=each(Outcome.DONE, "send"), ApplicationTags_of_the_messages_sent=tags),
        observed={"sends": outcomes, "ApplicationTags_of_the_messages_sent": set(Sender.list_tags(frames))},
        evidence=frames,
    )
