"""Steps with which remote readers and senders open queues of the SUT, and the outcomes of these steps. Spec: MS-MQDMPR
3.1.7.1.5.
"""

from __future__ import annotations

from typing import Any

from harness.peer.association import Association, Call
from harness.peer.remote import RemoteReaderOfSut
from harness.sut.control import ControlRefused
from harness.sut.outcomes import Outcome
from harness.sut.sut import Sut

OPENED_OUTCOME = "MQ_OK"


def get_opening_outcome(call: Call) -> str:
    """Return the outcome of R_QMOpenRemoteQueue; all failures have the same outcome, because clients do not distinguish
    them (MS-MQMP 3.1.4.2).
    """
    return Outcome.REFUSED if call.failed or call.thrown is not None else call.outcome


def open_and_close_queue(remote: RemoteReaderOfSut, association: Association, **how: Any) -> Call:
    """Open a queue like ``Remote.open_remote``, and close it if it was opened; return the call that opened it."""
    call = remote.open_remote(association, **how)
    close_opened_queue(call)
    return call


def close_opened_queue(call: Call) -> None:
    """Close the queue that R_QMOpenRemoteQueue opened, if the call succeeded."""
    if call.outcome == OPENED_OUTCOME:
        call.association.call("R_QMCloseRemoteQueueContext", pphContext=call.out.pphContext)


def open_to_send(sut: Sut, to: str, **how: Any) -> str:
    """Open the queues of a format name for sending, and close them; return DONE or REFUSED."""
    try:
        handle = sut.control.call("open_to_send", to=to, **how)["handle"]
    except ControlRefused:
        return Outcome.REFUSED
    sut.control.call("close_queue", handle=handle)
    return Outcome.DONE
