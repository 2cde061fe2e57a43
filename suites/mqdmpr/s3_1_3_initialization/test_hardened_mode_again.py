"""MS-MQDMPR 3.1.3 Initialization, 3.1.1.1 HardenedSecurity: empty outgoing queues at a later start, and the end of the
offline state.
"""

from __future__ import annotations

from harness.errors import ConformanceFailure, SutUnavailable
from harness.expectations import each
from harness.run.marks import covers, needs
from harness.sut.control import UNUSABLE_CHANNEL_ERRORS
from suites.mqdmpr.steps import openings
from suites.mqqb.steps.hardening import harden_security
from suites.mqqb.steps.sender import Sender

SERVED_OUTCOME, NOT_SERVED_OUTCOME = "served by the SUT", "not served by the SUT"
LOCKED_QUEUE_STATE = "Locked"


@needs("restart", "configure", "queue_control", "open_to_send")
@covers("MQDMPR-3.1.3-D14")
def test_empty_outgoing_queues_are_locked_at_later_start(peer, sut, judge):
    """The SUT is in hardened security mode, and applications open outgoing queues without sending messages. The
    outgoing queues that still exist after a further restart are Locked.
    """
    names = [peer.direct_name(f"mqc-empty-{letter}-{sut.own}") for letter in "abc"]
    with harden_security(sut):
        sut.restart()
        for name in names:
            openings.open_to_send(sut, name)
        sut.restart()
        listed = {one["format_name"].lower(): one["state"] for one in sut.control.call("list")["outgoing"]}
    states = {name: listed[name.lower()] for name in names if name.lower() in listed}
    if states:
        judge("MQDMPR-3.1.3-D14", expected=each(LOCKED_QUEUE_STATE, "empty outgoing queue"), observed=states)
    else:
        judge.mark_not_exercised("MQDMPR-3.1.3-D14", reason="the SUT keeps no outgoing queue without messages")


@needs("restart", "configure", "send", "pause", "queue_control", "qm2qm")
@covers("MQDMPR-3.1.1.1-D02")
def test_hardened_security_mode_does_not_end_with_offline_state(peer, sut, remote, judge):
    """The SUT is in hardened security mode and has a message to send. An administrator takes it offline and brings it
    online again. The SUT is still in the mode: it accepts neither RPC calls nor sessions, and opens no session.
    """
    sender = Sender(peer, sut, peer.direct_name("mqc-hardened-online"))
    with harden_security(sut):
        sut.restart()
        sender.send(1, delivery="recoverable")
        sut.take_offline()
        sut.bring_online()
        session = sender.poll_session(sut.connect_timeout_ms)
        transfers = {"sessions of the SUT": NOT_SERVED_OUTCOME if session is None else SERVED_OUTCOME}
        for transport, step in (("RPC", remote.open), ("sessions", peer.open_raw)):
            try:
                step()
            except UNUSABLE_CHANNEL_ERRORS:
                raise
            except (ConformanceFailure, SutUnavailable):
                transfers[transport] = NOT_SERVED_OUTCOME
            else:
                transfers[transport] = SERVED_OUTCOME
        judge("MQDMPR-3.1.1.1-D02", expected=each(NOT_SERVED_OUTCOME, "transport"), observed=transfers)
    later = sender.poll_session()
    if later is not None:
        sender.collect_messages_until_silence(later, 1)
        later.acknowledge_all()
    peer.inbox.acknowledge()
