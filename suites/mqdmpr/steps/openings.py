"""Openings of queues of the SUT, by whom they are asked for, and what came of them. Spec: MS-MQDMPR 3.1.7.1.5."""

from __future__ import annotations

from typing import Any

from harness.peer.association import Association, Call
from harness.peer.remote import Remote
from harness.sut.control import ControlRefused
from harness.sut.sut import Sut
from suites.applications import DONE, REFUSED, tried

OPENED = "MQ_OK"


def outcome(call: Call) -> str:
    """Describe the outcome of R_QMOpenRemoteQueue: its clients treat all failures the same (MS-MQMP 3.1.4.2)."""
    return REFUSED if call.failed or call.thrown is not None else call.outcome


def opened_and_closed(remote: Remote, association: Association, **how: Any) -> Call:
    """Open a queue as ``Remote.open_remote`` does, and close it if that was done."""
    call = remote.open_remote(association, **how)
    close(call)
    return call


def close(call: Call) -> None:
    """Close what R_QMOpenRemoteQueue opened, if it did."""
    if call.outcome == OPENED:
        call.association.call("R_QMCloseRemoteQueueContext", pphContext=call.out.pphContext)


def opened_to_send(sut: Sut, to: str, **how: Any) -> str:
    """Return whether the queues of a format name could be opened to send; they are closed again."""
    try:
        handle = sut.control.call("open_to_send", to=to, **how)["handle"]
    except ControlRefused:
        return REFUSED
    sut.control.call("close_queue", handle=handle)
    return DONE


def sent(sut: Sut, to: str, **fields: Any) -> str:
    """Return whether a message was taken to be sent to a format name."""
    return tried(lambda: sut.send(to, **fields))
