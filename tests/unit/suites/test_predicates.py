"""Every predicate of messages, with a packet that keeps its rule, a packet that breaks the rule, and packets to which
the rule does not apply.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from harness.capture.recorder import FROM_SUT_DIRECTION, Connection, Frame
from harness.judging.passive import MALFORMED_PACKET_KIND, Context, load_predicates, note
from harness.paths import SUITES
from harness.rules.catalogue import load_catalogue
from harness.wire import kind
from reference_qm.codec import (
    BaseHeader,
    DebugHeader,
    DirectQueueFormatName,
    EstablishConnectionHeader,
    EstablishConnectionPacket,
    FinalAckBody,
    FormatError,
    InternalHeader,
    MessagePropertiesHeader,
    MQFAddressHeader,
    MQFDirectQueueFormatName,
    MQFFormatNameElement,
    MQFSignatureHeader,
    MultiQueueFormatHeader,
    OrderAckBody,
    PrivateQueueFormatNameId,
    ProviderInfo,
    SecurityData,
    SecurityHeader,
    SimpleBlob,
    SoapHeader,
    TransactionHeader,
    UserHeader,
    UserMessagePacket,
    parse_packet,
)

PASSIVE = load_predicates()

OWN = UUID("6d71636f-6e66-4f72-8d00-0000000000aa")
OTHER = UUID("6d71636f-6e66-4f72-8d00-0000000000bb")
SID = bytes.fromhex("010500000000000515000000e967ba8a0fd2a61e6c57a2e6f4010000")
CERTIFICATE = bytes.fromhex("3082000401020304")
DIRECT = DirectQueueFormatName(r"TCP:10.0.0.1\private$\q")
ORDER_QUEUE = DirectQueueFormatName(r"TCP:10.0.0.1\PRIVATE$\order_queue$")


def message(
    *, base: int = 3, user: dict[str, Any] | None = None, properties: dict[str, Any] | None = None, **headers: Any
) -> UserMessagePacket:
    """Return a message of the SUT with the flags for its headers. ``user`` has fields of UserHeader, and bits under
    their names in upper case.
    """
    given = dict(user or {})
    bits = {name: given.pop(name) for name in list(given) if name.isupper() and len(name) <= 2}
    usual = {"DQ": 7, "MP": 1, "TH": int("TransactionHeader" in headers), "SH": int("SecurityHeader" in headers)}
    usual |= {"HH": int("SoapHeader" in headers), "MQ": int("MultiQueueFormatHeader" in headers)}
    usual |= {"DM": int("TransactionHeader" in headers)}
    flags = base | BaseHeader.flags(DH=int("DebugHeader" in headers))
    fields: dict[str, Any] = {"SourceQueueManager": OWN, "MessageID": 5, "DestinationQueue": DIRECT}
    return UserMessagePacket(
        BaseHeader=BaseHeader(Flags=flags),
        UserHeader=UserHeader(**{**fields, "Flags": UserHeader.flags(**usual | bits), **given}),
        MessagePropertiesHeader=MessagePropertiesHeader(
            **{"HashAlgorithm": 0x800E, "EncryptionAlgorithm": 0x6801, "MessageBody": b"body", **(properties or {})}
        ),
        **headers,
    )


def typed(body_type: int, message_class: int = 2) -> UserMessagePacket:
    """Return a message of the given class, by default an acknowledgment, with the given BodyType."""
    return message(properties={"MessageClass": message_class, "BodyType": body_type})


def secured(flags: dict[str, int] | None = None, **data: Any) -> UserMessagePacket:
    """Return a message with a SecurityHeader."""
    header = SecurityHeader(SecurityHeader.flags(**flags or {}), SecurityData(**data))
    return message(SecurityHeader=header)


def acknowledgment(final: bool = False, **changes: Any) -> UserMessagePacket:
    """Return an OrderAck or a FinalAck."""
    body = FinalAckBody(TxSequenceNumber=2) if final else OrderAckBody(TxSequenceNumber=2, TxPreviousSequenceNumber=1)
    usual = {"MessageClass": 0x8000 if final else 0xFF, "Label": "QM Ordering Ack", "MessageBody": body.build()}
    user = {"DestinationQueue": ORDER_QUEUE, "DM": int(final), **changes.pop("user", {})}
    return message(base=changes.pop("base", 0), user=user, properties=usual | changes)


def listed(name: str = r"TCP:10.0.0.1\q", **signature: Any) -> UserMessagePacket:
    """Return a message with a MultiQueueFormatHeader."""
    elements = (MQFFormatNameElement(MQFDirectQueueFormatName(name)),)
    header = MultiQueueFormatHeader(MQFAddressHeader(0x64, elements), Signature=MQFSignatureHeader(**signature))
    return message(MultiQueueFormatHeader=header)


def at(place: int, value: bytes) -> Callable[[UserMessagePacket], bytes]:
    """Return a function that overwrites bytes of a packet; a negative place counts from the end."""

    def change(packet: UserMessagePacket) -> bytes:
        data = packet.build()
        start = place % len(data)
        return data[:start] + value + data[start + len(value) :]

    return change


def user_bits(**bits: int) -> Callable[[UserMessagePacket], bytes]:
    """Return a function that sets bits of UserHeader.Flags, although the packet lacks the headers that they
    announce.
    """

    def change(packet: UserMessagePacket) -> bytes:
        clear = ~UserHeader.flags(**{name: vars(UserHeader)[name].mask for name in bits})
        flags = packet.UserHeader.Flags & clear | UserHeader.flags(**bits)
        return at(60, flags.to_bytes(4, "little"))(packet)

    return change


def in_list(place: int, value: int) -> Callable[[UserMessagePacket], bytes]:
    """Return a function that overwrites a number in the list of destinations, at a place relative to the HeaderID of
    the list.
    """

    def change(packet: UserMessagePacket) -> bytes:
        found = packet.build().index(b"\x64\0\0\0\1\0\0\0")
        return at(found + place, value.to_bytes(4, "little"))(packet)

    return change


def size_of_sender(value: int) -> Callable[[UserMessagePacket], bytes]:
    """Overwrite SenderIdSize."""

    def change(packet: UserMessagePacket) -> bytes:
        place = len(packet.BaseHeader.build()) + len(packet.UserHeader.build()) + 2
        return at(place, value.to_bytes(2, "little"))(packet)

    return change


BITS_OF_WHAT_IS_NOT_THERE = ("MQMQ-2.2.19.2-18", "MQMQ-2.2.19.2-22")
"""Rules about a bit that announces a header: a message without this header exercises no part of the rule."""


def judged(rule: str, data: bytes, earlier: tuple[bytes, ...] = ()) -> bool | None:
    """Return whether a packet of the SUT keeps a rule, by the rule's predicate; return None if the rule does not apply
    to the packet.
    """
    connection = Connection(1, "acceptor")
    *before, frame = (
        Frame(number, number, FROM_SUT_DIRECTION, "tcp", each, _kind(each), connection)
        for number, each in enumerate((*earlier, data))
    )
    for each in before:
        note(each)
    made = PASSIVE[rule]
    try:
        packet: Any = frame.record
        name = frame.kind
    except FormatError as error:
        packet, name = error, MALFORMED_PACKET_KIND
    if name not in made.kinds:
        return None
    finding = made.predicate(packet, Context(frame, connection))
    return finding[0] if isinstance(finding, tuple) else None


def _kind(data: bytes) -> str:
    try:
        return kind(data)
    except ValueError:
        return MALFORMED_PACKET_KIND


TRANSACTION = TransactionHeader(Flags=TransactionHeader.flags(FM=1, LM=1), TxSequenceNumber=1)
Case = tuple[str, UserMessagePacket, UserMessagePacket | Callable[[UserMessagePacket], bytes]]

CASES: tuple[Case, ...] = (
    ("MQMQ-2.2.19.2-04", message(), message(user={"QueueManagerAddress": OTHER})),
    ("MQMQ-2.2.19.2-08", message(user={"RC": 0x1D}), message(user={"RC": 0x1E})),
    ("MQMQ-2.2.19.2-09", message(user={"DM": 1}), message(user={"DM": 2})),
    ("MQMQ-2.2.19.2-15", message(), user_bits(DQ=1)),
    ("MQMQ-2.2.19.2-16", message(), user_bits(AQ=4)),
    ("MQMQ-2.2.19.2-18", message(), user_bits(SH=1)),
    ("MQMQ-2.2.19.2-19", message(TransactionHeader=TRANSACTION), user_bits(TH=0)),
    ("MQMQ-2.2.19.2-20", message(TransactionHeader=TRANSACTION), user_bits(DM=0)),
    ("MQMQ-2.2.19.2-21", message(), user_bits(MP=0)),
    ("MQMQ-2.2.19.2-22", message(), user_bits(CQ=1)),
    ("MQMQ-2.2.19.2-23", listed(), user_bits(MQ=0)),
    ("MQMQ-2.2.19.2-25", message(), message(user={"AH": 1})),
    ("MQMQ-2.2.19.2-27", message(SoapHeader=SoapHeader("a", "b")), user_bits(HH=0)),
    ("MQMQ-2.2.19.2-32", message(user={"AQ": 7, "AdminQueue": DIRECT}), lambda _: user_bits(AQ=5)(message())),
    ("MQMQ-2.2.19.2-33", message(), lambda _: user_bits(AQ=0)(message(user={"AQ": 7, "AdminQueue": DIRECT}))),
    ("MQMQ-2.2.19.2-35", message(user={"RQ": 7, "ResponseQueue": DIRECT}), lambda _: user_bits(RQ=5)(message())),
    ("MQMQ-2.2.19.2-36", message(), lambda _: user_bits(RQ=0)(message(user={"RQ": 7, "ResponseQueue": DIRECT}))),
    ("MQMQ-2.2.20-02", message(), at(2, b"\x0b")),
    ("MQMQ-2.2.20-06", message(DebugHeader=DebugHeader()), at(2, b"\x03")),
    (
        "MQMQ-2.2.19.3-11",
        message(properties={"Label": "x"}),
        message(properties={"Label": "x", "LabelTerminated": False}),
    ),
    ("MQMQ-2.2.19.3-30", message(properties={"Label": "x"}), message(properties={"Label": "x\0y"})),
    ("MQMQ-2.2.19.3-12", message(properties={"MessageClass": 0xC004}), message(properties={"MessageClass": 0x0200})),
    ("MQMQ-2.2.19.3-15", typed(0x1011), typed(0x77)),
    ("MQMQ-2.2.19.3-15", typed(8), typed(0x2000)),  # VT_BSTR stands in frame 7 of MS-MQQB section 4
    ("MQMQ-2.2.19.3-20", message(properties={"PrivacyLevel": 5}), message(properties={"PrivacyLevel": 2})),
    ("MQMQ-2.2.19.3-24", message(), message(properties={"EncryptionAlgorithm": 1})),
    ("MQMQ-2.2.19.3-26", message(properties={"PrivacyLevel": 1}), message(properties={"PrivacyLevel": 5})),
    (
        "MQMQ-2.2.20.5-02",
        message(TransactionHeader=TRANSACTION),
        message(TransactionHeader=replace(TRANSACTION, Flags=1 << 31)),
    ),
    ("MQMQ-2.2.20.5-17", message(TransactionHeader=TRANSACTION), message(TransactionHeader=TransactionHeader())),
    (
        "MQMQ-2.2.20.5-19",
        message(TransactionHeader=TRANSACTION),
        message(TransactionHeader=replace(TRANSACTION, PreviousTxSequenceNumber=1)),
    ),
    ("MQMQ-2.2.19.1-04", message(base=0, TransactionHeader=TRANSACTION), message(TransactionHeader=TRANSACTION)),
    ("MQMQ-2.2.19.1-06", acknowledgment(), at(2, b"\x08")),
    ("MQQB-2.2.4-01", acknowledgment(), acknowledgment(base=3)),
    ("MQQB-2.2.4-02", acknowledgment(), user_bits(MP=0)),
    ("MQQB-2.2.4-03", acknowledgment(user={"DM": 1}), acknowledgment(user={"JN": 1})),
    (
        "MQQB-2.2.4-04",
        acknowledgment(user={"DQ": 3, "DestinationQueue": PrivateQueueFormatNameId(4)}),
        acknowledgment(user={"DQ": 3, "DestinationQueue": PrivateQueueFormatNameId(5)}),
    ),
    (
        "MQQB-2.2.4-05",
        acknowledgment(),
        acknowledgment(user={"DestinationQueue": DirectQueueFormatName(r"OS:x\order_queue$")}),
    ),
    ("MQQB-2.2.4-07", acknowledgment(), acknowledgment(Label="QM ordering")),
    ("MQQB-2.2.4-08", acknowledgment(), acknowledgment(MessageBody=bytes(40))),
    ("MQQB-2.2.4-09", acknowledgment(), acknowledgment(Flags=1)),
    ("MQQB-2.2.4-10", acknowledgment(), acknowledgment(MessageClass=0)),
    ("MQQB-2.2.4-11", acknowledgment(), acknowledgment(BodyType=8)),
    ("MQQB-2.2.4.1-03", acknowledgment(), acknowledgment(MessageBody=OrderAckBody(TxSequenceNumber=2).build())),
    ("MQQB-2.2.5-01", acknowledgment(final=True), acknowledgment(final=True, base=3)),
    ("MQQB-2.2.5-03", acknowledgment(final=True), acknowledgment(final=True, user={"DM": 0})),
    ("MQQB-2.2.5-04", acknowledgment(final=True), acknowledgment(final=True, user={"JP": 1})),
    ("MQQB-2.2.5-08", acknowledgment(final=True), acknowledgment(final=True, Label="x")),
    ("MQMQ-2.2.20.6-01", secured({"ST": 1}, SecurityID=SID), secured({"ST": 3}, SecurityID=SID)),
    ("MQMQ-2.2.20.6-02", secured(SenderCert=b"c"), secured(SecurityID=SID)),
    ("MQMQ-2.2.20.6-03", secured({"ST": 1}, SecurityID=SID), secured({"ST": 1}, SecurityID=OWN.bytes_le)),
    ("MQMQ-2.2.20.6-04", secured({"ST": 2}, SecurityID=OWN.bytes_le), secured({"ST": 2}, SecurityID=OTHER.bytes_le)),
    ("MQMQ-2.2.20.6-05", secured(SecurityID=SID), secured({"AU": 1}, SecurityID=SID)),
    (
        "MQMQ-2.2.20.6-07",
        secured(Signature=b"s", ProviderInfo=ProviderInfo(1, "Other").build()),
        secured(Signature=b"s"),
    ),
    ("MQMQ-2.2.20.6-08", secured({"AI": 1}, SecurityID=SID), secured({"AI": 1})),
    ("MQMQ-2.2.20.6-09", secured(SecurityID=SID), secured({"AS": 1}, SecurityID=SID)),
    ("MQMQ-2.2.20.6-14", secured({"ST": 1}, SecurityID=SID), secured({"ST": 1}, SecurityID=SID[:-4])),
    ("MQMQ-2.2.20.6-15", secured(EncryptionKey=bytes(268)), secured(EncryptionKey=bytes(267))),
    ("MQMQ-2.2.20.6-16", secured(Signature=bytes(128)), secured(Signature=bytes(127))),
    ("MQMQ-2.2.20.6-17", secured(SenderCert=CERTIFICATE), secured(SenderCert=CERTIFICATE + b"\0")),
    ("MQMQ-2.2.20.6-18", secured(ProviderInfo=ProviderInfo(1, "x").build()), secured(ProviderInfo=b"\1\0\0\0x\0")),
    ("MQMQ-2.2.20.6-19", secured(SecurityID=SID), secured()),
    ("MQMQ-2.2.20.6-20", secured({"EB": 1}, EncryptionKey=b"k"), secured({"EB": 1}, SecurityID=SID)),
    (
        "MQMQ-2.2.20.6-37",
        secured(ProviderInfo=ProviderInfo(1, "x").build()),
        secured({"DE": 1}, ProviderInfo=ProviderInfo(1, "x").build()),
    ),
    ("MQQB-2.4.2-01", secured(EncryptionKey=SimpleBlob(0x6602).build()), secured(EncryptionKey=SimpleBlob(1).build())),
    ("MQMQ-2.2.18.1.4-01", listed(), lambda packet: packet.build().replace(b"\x03\x00T\x00C", b"\x07\x00T\x00C")),
    ("MQMQ-2.2.18.1.4.1-02", listed(), listed("nowhere")),
    ("MQMQ-2.2.20.3-01", listed(), listed(ID=0x015F)),
    ("MQMQ-2.2.20.3-03", listed(Signature=b"four"), at(-8, b"\xff\xff\0\0")),
    ("MQMQ-2.2.20.8-01", message(DebugHeader=DebugHeader(1, 0, OWN)), message(DebugHeader=DebugHeader(2))),
    (
        "MQMQ-2.2.20.8-17",
        message(DebugHeader=DebugHeader(1, 0, OWN)),
        lambda _: at(-4, b"\1")(message(DebugHeader=DebugHeader())),
    ),
    ("MQMQ-2.2.20.2-01", listed(), in_list(-4, 8)),
    ("MQMQ-2.2.20.2-04", listed(), in_list(4, 1000)),
    ("MQMQ-2.2.20.2-06", listed(), in_list(4, 1000)),
    ("MQMQ-2.2.20.6-21", secured({"ST": 1}, SecurityID=SID), size_of_sender(2000)),
)
OPTIONAL = ("MQMQ-2.2.20.6", "MQMQ-2.2.20.7", "MQMQ-2.2.20.8", "MQMQ-2.2.18.1.4")
"""Sections about headers that most messages lack."""


@pytest.mark.parametrize(("rule", "kept", "broken"), CASES, ids=[case[0] for case in CASES])
def test_predicate_distinguishes_compliant_and_violating_packets(
    rule: str, kept: UserMessagePacket, broken: UserMessagePacket | Callable[[UserMessagePacket], bytes]
) -> None:
    wrong = broken(kept) if callable(broken) else broken.build()
    assert judged(rule, kept.build()) is (None if rule in BITS_OF_WHAT_IS_NOT_THERE else True)
    assert judged(rule, wrong) is False


def test_a_predicate_is_registered_in_the_folder_of_its_rule() -> None:
    catalogue = load_catalogue()
    files = {rule: SUITES.parent / catalogue[rule].folder / "predicates.py" for rule in PASSIVE}
    assert [rule for rule, file in files.items() if f'"{rule}"' not in file.read_text(encoding="utf-8")] == []


@pytest.mark.parametrize("rule", [rule for rule in PASSIVE if rule.startswith(OPTIONAL)])
def test_predicates_of_missing_header_do_not_judge_message(rule: str) -> None:
    assert judged(rule, message().build()) is None


def build_numbered_message(number: int, previous: int, identifier: int) -> bytes:
    header = replace(TRANSACTION, TxSequenceNumber=number, PreviousTxSequenceNumber=previous)
    return message(base=0, user={"MessageID": identifier}, TransactionHeader=header).build()


SEQUENCE = (build_numbered_message(4, 3, 1), build_numbered_message(5, 4, 2))


@pytest.mark.parametrize(
    ("rule", "data", "found"),
    [
        ("MQMQ-2.2.20.5-16", build_numbered_message(6, 5, 3), True),
        ("MQMQ-2.2.20.5-16", build_numbered_message(7, 5, 3), True),  # 6 expired: 7 says what is before it
        ("MQMQ-2.2.20.5-16", build_numbered_message(7, 6, 3), False),
        ("MQMQ-2.2.20.5-16", build_numbered_message(4, 0, 1), True),  # sent again
        ("MQMQ-2.2.20.5-16", build_numbered_message(6, 5, 1), False),  # numbered again
        ("MQMQ-2.2.20.5-18", build_numbered_message(6, 5, 3), True),
        ("MQMQ-2.2.20.5-18", build_numbered_message(6, 4, 3), False),
        ("MQMQ-2.2.20.5-18", build_numbered_message(4, 0, 1), True),
        ("MQMQ-2.2.18.1.3-02", build_numbered_message(6, 5, 3), True),
        ("MQMQ-2.2.18.1.3-02", build_numbered_message(6, 5, 2), True),  # the same message
        ("MQMQ-2.2.18.1.3-02", message(user={"MessageID": 2}, properties={"Label": "x"}).build(), False),
    ],
)
def test_predicate_considers_earlier_packets(rule: str, data: bytes, found: bool) -> None:
    assert judged(rule, data, SEQUENCE) is found


def test_predicates_do_not_judge_a_sequence_begun_before_the_session() -> None:
    assert judged("MQMQ-2.2.20.5-16", SEQUENCE[0]) is None


def test_predicates_do_not_judge_body_type_of_application_messages() -> None:
    assert judged("MQMQ-2.2.19.3-15", typed(0x77, message_class=0).build()) is None


RESPONSE = EstablishConnectionPacket(
    BaseHeader(Flags=BaseHeader.flags(IN=1)),
    InternalHeader(Flags=InternalHeader.flags(PT=2)),
    EstablishConnectionHeader(ServerGuid=OWN),
).build()
"""The response with which the SUT accepted the session."""
NEVER_SET = (
    ("MQMQ-2.2.19.1-14", {"base": 3 | BaseHeader.flags(X6=1)}),
    ("MQMQ-2.2.19.2-26", {"user": {"X3": 2}}),
    ("MQMQ-2.2.19.3-08", {"properties": {"Flags": 0x80}}),
    ("MQMQ-2.2.20.5-15", {"TransactionHeader": TransactionHeader(Flags=1 << 31)}),
    ("MQMQ-2.2.20.6-13", {"SecurityHeader": SecurityHeader(1 << 15, SecurityData(SenderCert=CERTIFICATE))}),
    ("MQMQ-2.2.20.8-16", {"DebugHeader": DebugHeader(Reserved=1)}),
)


@pytest.mark.parametrize(("rule", "changes"), NEVER_SET, ids=[rule for rule, _ in NEVER_SET])
def test_nonzero_meaningless_field_breaks_its_rule_only_in_own_messages(rule: str, changes: dict[str, Any]) -> None:
    own = message(**changes).build()
    assert judged(rule, own, (RESPONSE,)) is False
    for of_another in ({"SourceQueueManager": OTHER}, {"RC": 1}):
        handed_on = message(**changes | {"user": changes.get("user", {}) | of_another}).build()
        assert judged(rule, handed_on, (RESPONSE,)) is None
    assert judged(rule, own) is None, "whose it is was not seen"
    assert PASSIVE[rule].advice


@pytest.mark.parametrize("data", [b"", b"\0" * 200, b"LIOR" * 40, bytes(range(256))])
def test_invalid_packet_passes_no_passive_rule(data: bytes) -> None:
    with pytest.raises(FormatError):
        parse_packet(data)
    assert [rule for rule in PASSIVE if judged(rule, data) is True] == []


@pytest.mark.parametrize("rule", ["MQMQ-2.2.18.1.3-02", "MQMQ-2.2.20.5-16", "MQMQ-2.2.20.5-18"])
def test_earlier_malformed_packet_does_not_disturb_predicates(rule: str) -> None:
    later = message(TransactionHeader=TransactionHeader(Flags=0, TxSequenceNumber=1))
    connection = Connection(1, "acceptor")
    before, frame = (
        Frame(number, number, FROM_SUT_DIRECTION, "tcp", data, "UserMessage", connection)
        for number, data in enumerate((later.build()[:60], later.build()))
    )
    note(before)
    finding = PASSIVE[rule].predicate(later, Context(frame, connection))
    assert not isinstance(finding, tuple) or finding[0]


BASE_HEADER_WRONG = {
    "MQMQ-2.2.19.1-01": at(0, b"\x11"),
    "MQMQ-2.2.19.1-21": at(4, b"ROIL"),
    "MQMQ-2.2.19.1-22": at(8, (4_000).to_bytes(4, "little")),
}


SAID_AGAIN = {"MQMQ-2.2.19.1-22": {"MQDMPR-3.1.7.1.32-04"}}
"""For a rule, the rules of other documents that make the same demand."""


@pytest.mark.parametrize("rule", BASE_HEADER_WRONG)
def test_wrong_base_header_field_breaks_only_its_own_rule(rule: str) -> None:
    wrong = BASE_HEADER_WRONG[rule](message())
    broken = {each for each in PASSIVE if judged(each, wrong) is False}
    assert broken == {rule} | SAID_AGAIN.get(rule, set())
    assert judged(rule, message().build()) is True
