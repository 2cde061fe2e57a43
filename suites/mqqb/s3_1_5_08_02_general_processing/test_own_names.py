"""MS-MQQB 3.1.5.8.2 General Processing: messages that contain the name of the SUT's computer."""

from __future__ import annotations

from harness.run.marks import covers, needs, varied
from suites.applications import list_computer_names
from suites.mqqb.steps.exchanges import deliver_message


@needs("receive")
@covers("MQQB-3.1.5.8.2-14")
@varied("extension", "correlation", "queue privacy", acknowledgments=("none", "of receipt"))
def test_message_to_each_name_of_the_computer_is_accepted(peer, sut, judge):
    """The peer sends messages to the full name and to the short name of the SUT's computer. The SUT acknowledges these
    messages and stores them in their queue.
    """
    for name in list_computer_names(sut):
        packet = peer.recoverable_message(destination=rf"OS:{name}\{sut.queue()}", label=name)
        delivery = deliver_message(peer, packet, label=name)
        expected = delivery.accepted_outcome
        judge(
            "MQQB-3.1.5.8.2-14", expected=expected, observed=delivery.outcome, evidence=delivery.frames, case="message"
        )
