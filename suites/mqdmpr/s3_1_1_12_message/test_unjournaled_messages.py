"""MS-MQDMPR 3.1.1.12 Message: delivered messages without PositiveJournalingRequested, such as acknowledgments of the
SUT. They are in no journal of their sender.
"""

from __future__ import annotations

import pytest

from harness.expectations import none
from harness.run.marks import covers, needs
from suites.mqqb.steps.sender import Sender

SYSTEM_JOURNAL = "system$;journal"


@needs("receive")
@covers("MQDMPR-3.1.1.12-23")
@pytest.mark.parametrize("delivery", ["express", "recoverable"])
def test_delivered_messages_without_jp_are_not_journaled(peer, sut, judge, delivery):
    """The SUT sends three messages without JP: messages from an application, or acknowledgments that the SUT itself
    creates. The peer acknowledges them, and the SUT's journal contains none of them.
    """
    sender = Sender(peer, sut)
    sender.send(1, 2, 3, delivery=delivery)
    session, frames = sender.await_first_messages(3)
    session.acknowledge_all()
    session.stays_quiet()
    sent = {
        f"{{{frame['UserHeader'].SourceQueueManager}}}\\{frame['UserHeader'].MessageID}".lower() for frame in frames
    }
    journaled = [one["message_id"] for one in sut.control.call("peek", queue=SYSTEM_JOURNAL)["messages"]]
    judge(
        "MQDMPR-3.1.1.12-23",
        expected=none("journaled message without JP"),
        observed=sorted(sent & {one.lower() for one in journaled}),
        evidence=frames,
    )
