"""Describe the end of a read that RemoteQMCancelReceive cancelled."""

from __future__ import annotations

from harness.peer.association import Call

NO_MESSAGE_OUTCOME = "ended without a message"


def describe_cancelled_read(read: Call) -> str:
    """Return the verdict text for the end of a read that was cancelled. The informational status and a failure have the
    same text (erratum E51).
    """
    read.wait()
    informed = read.outcome == "MQ_INFORMATION_REMOTE_CANCELED_BY_CLIENT"
    return NO_MESSAGE_OUTCOME if informed or read.failed else read.label_or_outcome
