"""MS-MQMQ 2.2.20.1 MultiQueueFormatHeader: a message for several queues."""

from __future__ import annotations

from harness.capture.recorder import Frame
from harness.run.marks import covers, needs
from suites.mqqb.steps.opening import direct_name
from suites.mqqb.steps.sender import Sender, tags


@needs("send")
@covers("MQMQ-2.2.20.1-01")
def test_every_copy_lists_all_queues(peer, sut, judge):
    """A message for two queues of the peer comes twice, each time with both queues in Destination."""
    queues = [direct_name(peer, name) for name in ("mqc-several-1", "mqc-several-2")]
    sender = Sender(peer, sut, ",".join(queues))
    sender.send(1)
    came: list[Frame] = []
    while len(came) < len(queues):
        session = sender.next_session()
        if session is None:
            break
        came += sender.collect_all(session, 1)
        sender.acknowledge_all(session)
    judge("MQMQ-2.2.20.1-01", expected="2 copies", observed=f"{len(tags(came))} copies", evidence=came)
    for frame in came:
        names = [
            str(one.FormatName.DirectFormatName).rstrip("\0").removeprefix("DIRECT=").lower()
            for one in (frame["MultiQueueFormatHeader"].Destination.FormatNameList if frame["UserHeader"].MQ else [])
        ]
        listed = [name.removeprefix("DIRECT=").lower() for name in queues]
        judge("MQMQ-2.2.20.1-01", expected=str(listed), observed=str(names), evidence=frame)
