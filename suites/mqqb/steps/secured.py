"""Send signed and encrypted messages of the peer, and read how the SUT acknowledges and stores them.

Each message requests acknowledgments by PA and NA; the SUT sends these acknowledgments unless
SendInsecureNacks is FALSE.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from harness.capture.recorder import Frame
from harness.errors import ConformanceFailure
from harness.expectations import expectation
from harness.judging.judge import Judge
from harness.judging.verdicts import Verdict
from harness.peer.party import NO_CHANGED_FIELDS
from harness.peer.peer import PEER_QUEUE, Peer
from harness.sut.provisioning import ALICE, MALLORY, ProvisionedUser
from harness.sut.releases import LackedByRelease, find_release
from harness.sut.sut import Sut
from harness.wire import MQFDirectQueueFormatName, MQFFormatNameElement, MQFSignatureHeader
from harness.wire.protection import (
    ADVANCED_PROVIDER,
    PROVIDER_BY_PRIVACY_LEVEL,
    SIG10,
    SIG20,
    SIG30,
    RsaKey,
    compute_signature,
    encrypt_body,
    encrypt_session_key,
    read_listed_keys,
)
from reference_qm.codec import MessageClass
from suites.messages import Sequence
from suites.mqqb.steps.disposition import DEAD_LETTERS, MISSING_QUEUE
from suites.mqqb.steps.ordering import ORDERING_ACK_LABEL
from suites.mqqb.steps.sequences import SYSTEM_JOURNAL

SENDER_TYPE_OF_NO_SENDER, SENDER_TYPE_OF_SENDER_WITH_SID, SENDER_TYPE_OF_QUEUE_MANAGER = 0, 1, 2
"""The values of SecurityHeader.Flags.ST."""
SHA1, SHA256, SHA512 = 0x8004, 0x800C, 0x800E
CLEAR_BODY = b"a body that does not fill the last block"
SYMMETRIC_KEYS = {
    40: b"\x51\x02\xa3\x04\xf5",
    128: bytes(range(1, 17)),
    192: bytes(range(1, 25)),
    256: bytes(range(1, 33)),
}
"""The session keys that the peer uses, by their length in bits."""


def get_message_id_of_frame(frame: Frame) -> tuple[str, int]:
    """Return the GUID and the number in the identifier of a message."""
    user = frame["UserHeader"]
    return str(UUID(str(user.SourceQueueManager))), int(user.MessageID)


class SecuredDisposition:
    """How the SUT disposed of one message: its acknowledgments, its FinalAcks, and the message itself if it is in its
    queue.
    """

    def __init__(
        self,
        sent: Frame,
        acknowledgments: list[Frame],
        finals: list[Frame],
        found: dict[str, Any] | None,
        *,
        shows_level: bool,
    ) -> None:
        self.sent = sent
        self.shows_level = found is None or (shows_level and "security" in found)
        """Whether the control channel shows the authentication level of a message in its queue."""
        self.frames = [sent, *acknowledgments, *finals]
        self.acknowledgments = [_get_class_name(frame) for frame in acknowledgments]
        self.finals = [_get_class_name(frame) for frame in finals]
        self.found = found

    @property
    def answer(self) -> str:
        """Return the classes of the message's administration acknowledgments."""
        return ", ".join(self.acknowledgments) or "no acknowledgment"

    @property
    def final(self) -> str:
        """Return the classes of the message's FinalAcks."""
        return ", ".join(self.finals) or "no FinalAck"

    @property
    def kept(self) -> str:
        """Return whether the message is in its queue. If the message is not in its queue, the SUT must
        not acknowledge its arrival.
        """
        if self.found is not None:
            return STORED_OUTCOME
        return ARRIVAL_ONLY_OUTCOME if ARRIVAL_ACK_NAME in self.acknowledgments else NOT_STORED_OUTCOME

    @property
    def silent_refusal(self) -> str:
        """Return the message's administration acknowledgments and whether the message is in its queue."""
        return f"{self.answer} and the message is {self.kept}"

    @property
    def level(self) -> str:
        """Return the authentication level of the message."""
        return NOT_STORED_OUTCOME if self.found is None else str(self.found["security"]["authentication_level"])

    @property
    def body(self) -> str:
        """Return the body that an application receives."""
        return NOT_STORED_OUTCOME if self.found is None else str(self.found["body"])


DispositionRow = tuple[str, str, str, Any]
"""An expectation: a rule, the name of a message, an attribute of the message's disposition (answer, final, kept, level,
body), and the expected value of that attribute.
"""
DispositionTable = Iterable[DispositionRow]


INSECURE_NACK_NAMES = (
    "NACK_BAD_DST_Q",
    "NACK_BAD_ENCRYPTION",
    "NACK_BAD_SIGNATURE",
    "NACK_ACCESS_DENIED",
    "NACK_UNSUPPORTED_CRYPTO_PROVIDER",
)
"""The acknowledgments that the SUT sends only if SendInsecureNacks is TRUE (MS-MQQB 3.1.7.15)."""
RULES_OBSERVABLE_ONLY_BY_NACK = (
    "MQQB-3.1.5.8.3-15",
    "MQDMPR-3.1.1.12-D16",
    "MQQB-3.1.5.8.3-38",
    "MQQB-3.1.5.8.3-48",
    "MQQB-3.1.5.8.3-72",
    "MQQB-3.1.5.8.3-82",
    "MQDMPR-3.1.1.12-D17",
    "MQQB-3.1.5.8.3-121",
    "MQDMPR-3.1.1.12-D14",
)
"""The rules that only an acknowledgment in INSECURE_NACK_NAMES makes observable."""
ARRIVAL_ACK_NAME = "ACK_REACH_QUEUE"
NOT_STORED_OUTCOME = "not stored in its queue"
ARRIVAL_ONLY_OUTCOME = f"{NOT_STORED_OUTCOME}, but acknowledged with {ARRIVAL_ACK_NAME}"
SILENT_REFUSAL_OUTCOME = f"no acknowledgment and the message is {NOT_STORED_OUTCOME}"
VERDICT_SUBJECT_BY_DISPOSITION_ATTRIBUTE = {
    "answer": "administration acknowledgment of message",
    "final": "FinalAck of message",
    "kept": "message",
    "silent_refusal": "refusal of message",
    "level": "authentication level of message",
    "body": "body of message",
}
"""The subject of each attribute of a disposition, as text for verdicts."""
SILENT_REFUSAL_REASON = "SendInsecureNacks of the SUT is FALSE, so the SUT refuses messages without an acknowledgment"


def judge_dispositions(
    judge: Judge, secured: SecuredMessageSender, found: Mapping[str, SecuredDisposition], table: DispositionTable
) -> None:
    """Judge every expectation of a table by the dispositions of the named messages.

    If SendInsecureNacks is FALSE, only the absence of a message from its queue shows that the SUT refused the message,
    and rules about the acknowledgment are not exercised.
    """
    silent, unseen = set[str](), set[str]()
    for rule, name, attribute, expected in table:
        if rule in RULES_OBSERVABLE_ONLY_BY_NACK and not secured.tells:
            silent.add(rule)
            continue
        if attribute == "level" and not found[name].shows_level:
            unseen.add(rule)
            continue
        if attribute == "answer" and not secured.tells and depends_on_insecure_nacks(expected):
            attribute, expected = "silent_refusal", SILENT_REFUSAL_OUTCOME
        subject = VERDICT_SUBJECT_BY_DISPOSITION_ATTRIBUTE[attribute]
        case = f'{subject} "{name}"' if name else subject.removesuffix(" of message")
        judge(rule, expected=expected, observed=getattr(found[name], attribute), case=case, evidence=found[name].frames)
    if silent:
        judge.mark_not_exercised(*sorted(silent), reason=SILENT_REFUSAL_REASON)
    if not unseen.issubset(judge.judged):
        judge.give_up(Verdict.NOT_OBSERVABLE, "the control channel does not show the authentication level of a message")


def depends_on_insecure_nacks(expected: object) -> bool:
    """Return whether an expected answer is an acknowledgment that the SUT sends only if SendInsecureNacks is TRUE."""
    return any(expectation(expected).compare(nack) is None for nack in INSECURE_NACK_NAMES)


def _get_class_name(frame: Frame) -> str:
    value = int(frame["MessagePropertiesHeader"].MessageClass)
    names = {int(each): each.name.removeprefix("MQMSG_CLASS_") for each in MessageClass}
    return names.get(value, f"0x{value:04X}")


STORED_OUTCOME = "stored in its queue"
NO_SIGNATURE_ACCEPTED_REASON = (
    "the SUT accepts no signature of the peer: the SUT and the tester possibly hash different bytes (E81)"
)
GREATEST_TIME_SCALE = 20
"""The highest factor by which the timers may be accelerated. Signing and encrypting take time, and the session must not
become idle in this time.
"""


class SecuredMessageSender:
    """Open a session of the peer to the SUT, and let the SUT open its own session for its answers."""

    def __init__(self, peer: Peer, sut: Sut, **settings: Any) -> None:
        self.peer = peer
        self.sut = sut
        sut.limit_time_scale(GREATEST_TIME_SCALE)
        if sut.has("configure"):
            sut.configure(send_insecure_nacks=True, **settings)
        peer.listen()
        self.connection = peer.open_raw()
        self.sequences = self.messages = 0
        self._await_session_of_sut()
        self.tells = sut.has("configure") or self._has_acks_of_refusals()
        """Whether SendInsecureNacks is TRUE."""

    def _await_session_of_sut(self) -> None:
        """Let the SUT acknowledge a message, so that the session of the SUT is open and the SUT can send
        later answers at once.
        """
        sent = self.connection.send(
            self.peer.message(self._await_administration_ack, queue="admin", properties={"PA": 1})
        )
        if not self.peer.environment.run_until(
            lambda: _get_ack_correlation_id(sent) in self._list_acks_by_correlation(), self.sut.connect_timeout_ms
        ):
            raise ConformanceFailure("the SUT does not acknowledge the arrival of an ordinary message")
        self.peer.inbox.acknowledge()

    def _has_acks_of_refusals(self) -> bool:
        """Return whether the SUT acknowledges the refusal of a message to a missing queue."""
        nowhere = f"TCP:{self.sut.address}\\{MISSING_QUEUE}"
        packet = self.peer.message(self._await_administration_ack, destination=nowhere, properties={"PA": 1, "NA": 1})
        sent = self.connection.send(packet)
        return self.peer.environment.run_until(
            lambda: _get_ack_correlation_id(sent) in self._list_acks_by_correlation(), self.sut.response_timeout_ms
        )

    @property
    def _await_administration_ack(self) -> dict[str, Any]:
        return {"AdminQueue": f"TCP:{self.peer.address}\\{PEER_QUEUE}"}

    def message(
        self,
        user: ProvisionedUser = ALICE,
        *,
        queue: str = "plain",
        header: Mapping[str, Any] = NO_CHANGED_FIELDS,
        security: Mapping[str, Any] = NO_CHANGED_FIELDS,
        several: bool = False,
        sequence: Sequence | None = None,
        **fields: Any,
    ) -> Any:
        """Build an unsigned message of a user with SID and certificate; ``header``: fields of UserHeader.

        The messages are recoverable and express in turn, and request both kinds of journaling: a receiver does not
        journal a message that it refuses.

        With ``queue`` "transactional", the message is the next message of ``sequence``, or the first message of a new
        sequence if ``sequence`` is not given. ``several``: the message has a MultiQueueFormatHeader.
        """
        self.messages += 1
        delivery = {} if queue == "transactional" else {"DM": self.messages % 2}
        own = self._await_administration_ack | {"JN": 1, "JP": 1} | delivery | dict(header)
        claims = {
            "ST": SENDER_TYPE_OF_SENDER_WITH_SID,
            "DE": 1,
            "SecurityID": user.security_id,
            "SenderCert": user.certificate,
        }
        headers: dict[str, Any] = {
            "PA": 1,
            "NA": 1,
            "HashAlgorithm": SHA512,
            "security": claims | dict(security),
        } | fields
        if several:
            name = MQFDirectQueueFormatName(DirectFormatName=self.sut.format_name(queue).removeprefix("DIRECT="))
            headers["mqf"] = {"Destination": [MQFFormatNameElement(FormatName=name)]}
        if queue != "transactional":
            return self.peer.message(own, queue=queue, **headers)
        return (sequence or self.create_sequence()).message(own, queue=queue, **headers)

    def create_sequence(self) -> Sequence:
        """Begin another sequence of transactional messages."""
        self.sequences += 1
        return Sequence(self.peer, self.sequences)

    def open_another_session(self) -> None:
        """Send the next messages on another session."""
        self.connection.end()
        self.connection = self.peer.open_raw()

    def require_accepted_signature(self, user: ProvisionedUser | None = None) -> None:
        """Check that the SUT accepts a signature of the peer; raise ConformanceFailure if the SUT accepts no signature,
        because the SUT and the tester possibly hash different bytes (erratum E81).

        The messages name ``user`` as the sender. If ``user`` is not given, and the acknowledgment of a refusal shows
        the reason, the messages name no sender.
        """
        by = user or (None if self.tells else ALICE)
        claims = {} if by else {"ST": SENDER_TYPE_OF_NO_SENDER, "SecurityID": b"", "SenderCert": MALLORY.certificate}
        found = self.send_and_read_dispositions(
            {
                str(kind): sign_message(
                    self.message(by or ALICE, security=claims, several=kind == SIG30, HashAlgorithm=one),
                    kind,
                    (by or MALLORY).key,
                )
                for kind, one in ((SIG10, SHA1), (SIG20, SHA256), (SIG30, SHA512))
            }
        )
        refused = self.refused("NACK_BAD_SIGNATURE")
        if all(one.kept != STORED_OUTCOME and one.answer == refused for one in found.values()):
            raise ConformanceFailure(NO_SIGNATURE_ACCEPTED_REASON)

    def refused(self, nack: str) -> str:
        """Return the answer to a refused message: the acknowledgment, or silence if SendInsecureNacks is FALSE."""
        return nack if self.tells else "no acknowledgment"

    def describe_refusal_without_storing(self, nack: str) -> str:
        """Return the ``silent_refusal`` of a message that the SUT refuses and does not store."""
        return f"{self.refused(nack)} and the message is {NOT_STORED_OUTCOME}"

    def plain(self, *, queue: str = "plain") -> Any:
        """Build a message without a SecurityHeader."""
        return self.peer.message(self._await_administration_ack, queue=queue, PA=1, NA=1)

    def send_and_read_dispositions(
        self, packets: Mapping[str, Any], queue: str = "plain"
    ) -> dict[str, SecuredDisposition]:
        """Send messages; return the disposition of each message by name."""
        sent = {name: self.connection.send(packet) for name, packet in packets.items()}

        def are_dispositions_known() -> bool:
            answers = self._list_acks_by_correlation()
            if queue == "transactional" and not all(self._find_final_acks(frame) for frame in sent.values()):
                return False
            return all(_get_ack_correlation_id(frame) in answers for frame in sent.values())

        self.peer.environment.run_until(are_dispositions_known, self.sut.response_timeout_ms)
        self.peer.inbox.acknowledge(
            spare=self.connection
        )  # do not send a SessionHeader after a refused recoverable message (E19)
        found = {one["message_id"].strip("{").lower().replace("}", ""): one for one in self.sut.messages(queue)}
        places = (*DEAD_LETTERS, SYSTEM_JOURNAL) if self.sut.has("receive") else ()
        for one in (one for place in places for one in self.sut.kept(place)):
            found[one["message_id"].strip("{").lower().replace("}", "")] = one
        return {name: self._build_disposition(frame, found) for name, frame in sent.items()}

    def _build_disposition(self, frame: Frame, found: Mapping[str, Any]) -> SecuredDisposition:
        guid, number = get_message_id_of_frame(frame)
        return SecuredDisposition(
            frame,
            self._list_acks_by_correlation().get(_get_ack_correlation_id(frame), []),
            self._find_final_acks(frame),
            found.get(f"{guid}\\{number}"),
            shows_level=not self.sut.reads_remotely,
        )

    def _list_acks_by_correlation(self) -> dict[bytes, list[Frame]]:
        """Return the acknowledgments that have arrived, by their CorrelationID."""
        answers: dict[bytes, list[Frame]] = {}
        for frame in self.peer.inbox.messages:
            properties = frame["MessagePropertiesHeader"]
            if properties.Label != ORDERING_ACK_LABEL:
                answers.setdefault(bytes(properties.CorrelationID), []).append(frame)
        return answers

    def _find_final_acks(self, sent: Frame) -> list[Frame]:
        identifier = _get_ack_correlation_id(sent)
        properties = [(frame, frame["MessagePropertiesHeader"]) for frame in self.peer.inbox.messages]
        return [
            frame
            for frame, one in properties
            if one.Label == ORDERING_ACK_LABEL and identifier in bytes(one.MessageBody)
        ]


def _get_ack_correlation_id(sent: Frame) -> bytes:
    """Return the CorrelationID that the acknowledgments of a message have."""
    guid, number = get_message_id_of_frame(sent)
    return UUID(guid).bytes_le + number.to_bytes(4, "little")


def sign_message(packet: Any, version: int = SIG20, key: RsaKey = ALICE.key) -> Any:
    """Sign a message; the signature does not cover later changes."""
    value = compute_signature(packet, version, key)
    return add_signature(packet, value, in_list=version == SIG30)


def add_signature(packet: Any, value: bytes, *, in_list: bool = False) -> Any:
    """Put a signature into a message."""
    if in_list:
        packet["MultiQueueFormatHeader"].Signature = MQFSignatureHeader(Signature=value)
    else:
        packet["SecurityHeader"].Signature = value
    return packet


def flip_signature_bit(packet: Any) -> Any:
    """Change one bit of the signature of a message."""
    several = packet.haslayer("MultiQueueFormatHeader")
    value = packet["MultiQueueFormatHeader"].Signature.Signature if several else packet["SecurityHeader"].Signature
    return add_signature(packet, bytes([value[0] ^ 1]) + value[1:], in_list=bool(several))


def encrypt_message(sut: Sut, packet: Any, level: int, algorithm: int, key: bytes, **changes: Any) -> Any:
    """Encrypt the body of a message for the SUT; ``changes``: fields of MessagePropertiesHeader, ``blob``, ``body``.

    Raise LackedByRelease when the SUT's release has no key of the provider, and ConformanceFailure when a required key
    is missing.
    """
    provider = PROVIDER_BY_PRIVACY_LEVEL.get(changes.pop("for_level", level), PROVIDER_BY_PRIVACY_LEVEL[5])
    receiver = read_listed_keys(sut.receiving_keys).get(provider)
    if receiver is None and provider == ADVANCED_PROVIDER and not find_release(sut).has_aes_provider:
        raise LackedByRelease(
            "the SUT has no public key of the AES provider, so no body can be encrypted with AES (MS-MQQB <65>)"
        )
    if receiver is None:
        raise ConformanceFailure(f"the SUT has no public key of {provider}, so no body can be encrypted for the SUT")
    blob = changes.pop("blob", None)
    properties, security = packet["MessagePropertiesHeader"], packet["SecurityHeader"]
    properties.MessageBody = changes.pop("body", None) or encrypt_body(properties.MessageBody, algorithm, key)
    properties.PrivacyLevel, properties.EncryptionAlgorithm = level, algorithm
    security.EB = 1
    security.EncryptionKey = encrypt_session_key(algorithm, key, receiver) if blob is None else blob
    for name, value in changes.items():
        setattr(properties, name, value)
    return packet
