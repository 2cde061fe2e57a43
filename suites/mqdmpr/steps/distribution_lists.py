"""Distribution lists in the directory of the SUT, and the recipients of messages to them. Spec: MS-MQDMPR 3.1.7.3.8."""

from __future__ import annotations

from collections.abc import Sequence

from harness.capture.recorder import Frame
from harness.peer.peer import Peer
from harness.sut.control import ControlRefused
from harness.sut.outcomes import Outcome
from harness.sut.shown import NotShown
from harness.sut.sut import Sut
from suites.mqqb.steps.sender import Sender


def create_distribution_list(peer: Peer, sut: Sut, name: str, members: Sequence[str]) -> tuple[str, str]:
    """As an administrator, create a distribution list with the given identifiers, which is deleted at the end of the
    check; return its identifier and its name.

    Raise NotShown if the control channel cannot create lists.
    """
    called = f"mqc-{sut.own}-{name}"
    try:
        directory_object = sut.change_directory_object(distribution_list=called, present=True, members=list(members))
    except ControlRefused as refused:
        raise NotShown(f"the control channel cannot create a distribution list: {refused}") from refused
    if directory_object is None:
        raise NotShown("the directory of the SUT did not create the distribution list")
    peer.call_at_end_of_test(lambda: sut.change_directory_object(distribution_list=called, present=False))
    return directory_object["identifier"], f"DL={directory_object['identifier']}"


def send_until_directory_name_is_known(peer: Peer, sut: Sut, to: str, label: str) -> str:
    """Let the SUT send to a directory name, and repeat this until the SUT knows the name; return the outcome."""
    outcomes = [Outcome.REFUSED.value]

    def is_message_sent() -> bool:
        outcomes.append(sut.attempt(sut.send, to, label=label))
        return outcomes[-1] == Outcome.DONE

    peer.eventually(is_message_sent)
    return outcomes[-1]


def send_and_receive_copies(peer: Peer, sut: Sut, to: str, count: int) -> list[Frame]:
    """Let the SUT send a message to queues of the peer with one format name, which it may not know at once; return all
    copies that arrive.
    """
    sender = Sender(peer, sut, to)
    frames: list[Frame] = []
    if not peer.eventually(lambda: sut.attempt(sender.send, 1) == Outcome.DONE):
        return frames
    while (session := sender.poll_session(sut.quiet_ms if len(frames) >= count else None)) is not None:
        frames += sender.collect_messages_until_silence(session, 1)
        session.acknowledge_all()
    return frames
