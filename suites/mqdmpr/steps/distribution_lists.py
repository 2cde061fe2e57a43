"""Distribution lists in the directory of the SUT, and who gets what is sent to names. Spec: MS-MQDMPR 3.1.7.3.8."""

from __future__ import annotations

from collections.abc import Sequence

from harness.capture.recorder import Frame
from harness.peer.peer import Peer
from harness.sut.control import ControlRefused
from harness.sut.shown import NotShown
from harness.sut.sut import Sut
from suites.applications import DONE, REFUSED, tried
from suites.mqqb.steps.sender import Sender


def new_list(peer: Peer, sut: Sut, name: str, members: Sequence[str]) -> tuple[str, str]:
    """Have an administrator make a list of these identifiers until the check ends; return its identifier and its name.

    NotShown where nobody can make one.
    """
    called = f"mqc-{sut.own}-{name}"
    try:
        made = sut.published(distribution_list=called, present=True, members=list(members))
    except ControlRefused as refused:
        raise NotShown(f"nobody makes a distribution list in the SUT's directory: {refused}") from refused
    if made is None:
        raise NotShown("no distribution list is made in the SUT's directory")
    peer.at_end(lambda: sut.published(distribution_list=called, present=False))
    return made["identifier"], f"DL={made['identifier']}"


def sent_when_known(peer: Peer, sut: Sut, to: str, label: str) -> str:
    """Let the SUT send to a name that its directory has now, and the SUT may know later; say what it said."""
    said = [REFUSED]

    def done() -> bool:
        said.append(tried(lambda: sut.send(to, label=label)))
        return said[-1] == DONE

    peer.eventually(done)
    return said[-1]


def copies(peer: Peer, sut: Sut, to: str, count: int) -> list[Frame]:
    """Let the SUT send a message to queues of the peer, in one name that it may know a little later.

    Return what comes, if it does not refuse.
    """
    sender = Sender(peer, sut, to)
    came: list[Frame] = []
    if not peer.eventually(lambda: tried(lambda: sender.send(1)) == DONE):
        return came
    while (session := sender.next_session(sut.quiet_ms if len(came) >= count else None)) is not None:
        came += sender.collect_all(session, 1)
        sender.acknowledge_all(session)
    return came
