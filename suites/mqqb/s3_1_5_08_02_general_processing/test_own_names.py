"""MS-MQQB 3.1.5.8.2 General Processing: messages that name the computer of their queue."""

from __future__ import annotations

from harness.run.marks import covers, needs
from suites.applications import computer_names
from suites.mqqb.steps.exchanges import deliver_message, taken


@needs("receive")
@covers("MQQB-3.1.5.8.2-14")
def test_a_message_for_each_name_of_this_computer_is_taken(peer, sut, judge):
    """One for the name of the computer as its agent has it, and one for that without its domain, are in their queue."""
    for name in computer_names(sut):
        packet = peer.recoverable_message(destination=rf"OS:{name}\{sut.queue()}", label=name)
        done = deliver_message(peer, packet, name)
        judge("MQQB-3.1.5.8.2-14", expected=taken(sut), observed=done.outcome, evidence=done.frames)
