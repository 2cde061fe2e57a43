"""MS-MQQB 3.1.7.1.4 Signing the Packet: messages to several destinations, of several users and hash algorithms."""

from __future__ import annotations

from harness.capture.recorder import Frame
from harness.errors import ConformanceFailure
from harness.expectations import holds
from harness.run.marks import covers, needs
from harness.sut.provisioning import ALICE, BOB, ProvisionedUser
from harness.wire.protection import SIG30, is_signature

HASH_ALGORITHM_NAMES = ("sha1", "sha256", "sha512")
QUEUES = ("mqc-first", "mqc-second")


@needs("security", "send")
@covers("MQQB-3.1.7.1.4-04", "MQQB-3.1.7.1.4-05")
def test_copies_for_several_destinations_have_signature_of_their_user(peer, sut, judge):
    """The SUT sends messages of two users to two queues, with several hash algorithms. MultiQueueFormatHeader of every
    copy contains a signature over both destinations, made with the key of the message's user.
    """
    peer.listen()
    alone = _await_copies(peer, sut, 1, QUEUES[:1], ALICE, "sha512")[0]
    if not _has_signature_of_user(alone, ALICE):
        raise ConformanceFailure(
            "no signature of the SUT is valid: the SUT and the tester possibly hash different bytes (E81)"
        )
    for tag, (user, algorithm) in enumerate(((one, name) for one in (ALICE, BOB) for name in HASH_ALGORITHM_NAMES), 2):
        for frame in _await_copies(peer, sut, tag, QUEUES, user, algorithm):
            judge.all(
                expected=holds("the signature of the user over both destinations", otherwise="no valid signature"),
                observed=_has_signature_of_user(frame, user),
                case=f"{algorithm} of {user.name}",
                evidence=[alone, frame],
            )


def _await_copies(peer, sut, tag: int, queues, user: ProvisionedUser, algorithm: str) -> list[Frame]:
    """Let the SUT send a signed message to queues of the peer; return the copies, which the peer acknowledges."""
    sut.send(
        ",".join(peer.direct_name(queue) for queue in queues),
        body="signed",
        label="a label",
        application_tag=tag,
        authentication_level="sig30",
        hash_algorithm=algorithm,
        sender=user.name,
    )
    copies = peer.inbox.wait(lambda frame: frame["MessagePropertiesHeader"].ApplicationTag == tag, count=len(queues))
    peer.inbox.acknowledge()
    if len(copies) < len(queues):
        raise ConformanceFailure("the SUT did not send a copy of the message to each destination")
    return copies


def _has_signature_of_user(frame: Frame, user: ProvisionedUser) -> bool:
    """Return whether MultiQueueFormatHeader of a message contains the user's signature."""
    value = bytes(frame["MultiQueueFormatHeader"].Signature.Signature) if frame["UserHeader"].MQ else b""
    return bool(value) and is_signature(value, frame.data, SIG30, user.certificate)
