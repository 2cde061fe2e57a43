"""MS-MQSO 4.3.1.3: the route to a queue manager of another site, for each session and after a restart."""

from __future__ import annotations

from harness.run.marks import covers, needs
from harness.sut.sut_file import GUID_OF_PUBLIC_QUEUE_IN_OTHER_SITE, GUID_OF_QUEUE_MANAGER_IN_OTHER_SITE
from suites.mqqb.steps.sender import Sender

RESTART_STEP_OF_DELIVERY_SERIES = "restart"
DELIVERY_AND_RESTART_STEPS = ("express", "recoverable", RESTART_STEP_OF_DELIVERY_SERIES, "recoverable", "transactional")
"""The deliveries of the messages, in order, and the restart of the SUT between them."""


@needs("directory", "environment", "inspect", "send", "restart")
@covers("MQSO-4.3.1.3-03", "MQSO-4.3.1.3-D02")
def test_each_message_to_other_site_is_sent_to_site_gate(peer, sut, judge):
    """Express, recoverable and transactional messages to a public queue of another site arrive at the peer, which is
    the site gate. Each message is sent on a new session, the last two after a restart of the SUT.
    """
    sender = Sender(peer, sut, f"PUBLIC={GUID_OF_PUBLIC_QUEUE_IN_OTHER_SITE}")
    for number, step in enumerate(DELIVERY_AND_RESTART_STEPS, 1):
        if step == RESTART_STEP_OF_DELIVERY_SERIES:
            sut.restart()
            continue
        sender.send(number, delivery=step)
        session = sender.poll_session()
        frames = [] if session is None else sender.collect_messages(session, 1)
        observed = {str(frame["UserHeader"].QueueManagerAddress) for frame in frames}
        case = f"QueueManagerAddress of the messages that arrive at the site gate in step {number} ({step})"
        judge.all(expected={str(GUID_OF_QUEUE_MANAGER_IN_OTHER_SITE)}, observed=observed, case=case, evidence=frames)
        if session is None:
            return
        session.acknowledge_all()
        session.close()
