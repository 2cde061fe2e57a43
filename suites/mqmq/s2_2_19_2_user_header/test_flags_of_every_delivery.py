"""MS-MQMQ 2.2.19.2 UserHeader: the bits of Flags in sent messages of every delivery."""

from __future__ import annotations

import pytest

from harness.expectations import fields
from harness.run.marks import covers, needs, varied
from suites.mqmq.steps.layout import Layout
from suites.mqmq.steps.outgoing import MessagesSentBySut

REQUESTED_JOURNALING_COMBINATIONS: tuple[list[str], ...] = ([], ["positive"], ["negative"], ["positive", "negative"])


@needs("send")
@covers("MQMQ-2.2.19.2-D02")
@pytest.mark.parametrize("delivery", ["express", "recoverable", "transactional"])
@varied("application tag", "response queue", "time to reach queue")
def test_flags_of_sent_message_are_in_place(peer, sut, judge, delivery):
    """The SUT sends messages of one delivery mode with each combination of journaling. In Flags, RC is 0; DM, JN, JP,
    TH and MP have the values of the message, and all other bits whose value the message determines are clear.
    """
    outgoing = MessagesSentBySut(peer, sut)
    for journal in REQUESTED_JOURNALING_COMBINATIONS:
        frame = outgoing.send(body="flags", label="flags", delivery=delivery, journal=journal)
        wanted = {
            "RC": 0,
            "DM": int(delivery != "express"),
            "JN": int("negative" in journal),
            "JP": int("positive" in journal),
            "DQ": 7,
            "AQ": 0,
            "TH": int(delivery == "transactional"),
            "MP": 1,
            "CQ": 0,
            "MQ": 0,
            "HH": 0,
        }
        judge(
            "MQMQ-2.2.19.2-D02",
            expected=fields({f"UserHeader.Flags.{name}": value for name, value in wanted.items()}),
            observed=Layout(frame),
            case=f"journaling {' and '.join(journal) or 'none'}",
            evidence=frame,
        )
    outgoing.end()
