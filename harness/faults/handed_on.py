"""Faults of headers in messages for several queues, in signed ones and in those that are only handed on.

Spec: MS-MQMQ 2.2.18.1.4.2, 2.2.19.1 to 2.2.19.3, 2.2.20.1, 2.2.20.3, 2.2.20.5 to 2.2.20.7.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.primitives import always, procedure, skip, wrong_fields
from harness.faults.registry import Install, add
from reference_qm.codec import (
    BaseHeader,
    MQFDistributionQueueFormatName,
    PublicQueueFormatName,
    TransactionHeader,
    UserMessagePacket,
)
from reference_qm.core.protocol.expiring import Expiring
from reference_qm.core.protocol.security_on_receipt import SecurityOnReceipt
from reference_qm.core.protocol.sending import Sending
from reference_qm.core.queue_manager import QueueManager
from reference_qm.model.adm import Message

Original = Callable[..., Any]
MESSAGE = UserMessagePacket
OTHER = UUID("6d71636f-6e66-4f72-8d00-0000000000bb")
SIGNED_BY_QUEUE_MANAGER, SIGNED_BY_NOBODY = 2, 0
LISTS = "MultiQueueFormatHeader.Destination"


def _soap(**changes: Any) -> Install:
    fields = {f"SoapHeader.{name}": value for name, value in changes.items()}
    return wrong_fields(MESSAGE, {**fields, "SoapHeader.Padding": None}, lambda packet: packet.SoapHeader is not None)


def _with_elements(change: Callable[[tuple[Any, ...]], tuple[Any, ...]]) -> Install:
    changes = {f"{LISTS}.FormatNameList": change, f"{LISTS}.HeaderSize": None, f"{LISTS}.Padding": None}
    return wrong_fields(MESSAGE, changes, lambda packet: packet.MultiQueueFormatHeader is not None)


def _lists(change: Callable[[Any], Any]) -> Install:
    """Change the elements that are distribution lists."""
    return _with_elements(
        lambda elements: tuple(
            replace(one, FormatName=change(one.FormatName), Padding=None)
            if isinstance(one.FormatName, MQFDistributionQueueFormatName)
            else one
            for one in elements
        )
    )


def _as_public(name: MQFDistributionQueueFormatName) -> PublicQueueFormatName:
    return PublicQueueFormatName(name.DistributionListIdentifier)


def _of_sender(kind: int, changes: dict[str, Any]) -> Install:
    """Change the SecurityHeader of signed messages whose sender is of a kind (ST)."""
    fields = {f"SecurityHeader.{name}": value for name, value in changes.items()}

    def meant(packet: Any) -> bool:
        security = packet.SecurityHeader
        return security is not None and bool(security.SignatureSize) and kind == security.ST

    return wrong_fields(MESSAGE, {**fields, "SecurityHeader.SecurityData.Padding": None}, meant)


def _named_provider(packet: Any) -> bool:
    security = packet.SecurityHeader
    return security is not None and bool(security.ProviderInfoSize and security.SignatureSize)


def _only_its_own(original: Original) -> Original:
    """List only the queue that a copy goes to."""

    def construct(qm: QueueManager, position: Any) -> UserMessagePacket:
        message: Message = position.MessageReference
        if message.DestinationMultiQueueFormatName is not None:
            alone = replace(message, DestinationMultiQueueFormatName=message.DestinationQueueFormatName)
            position = replace(position, MessageReference=alone)
        return original(qm, position)  # type: ignore[no-any-return]

    return construct


def _unpublished(qm: QueueManager) -> None:
    machine = qm.enterprise.state.LocalQueueManager
    qm.enterprise.state.LocalQueueManager = replace(machine, PublicEncryptionKeyList=b"")


def _known_value(name: str, value: int) -> Install:
    """Take every value of a field of MessagePropertiesHeader for one that is known."""

    def make(original: Original) -> Original:
        def check(qm: QueueManager, session: Any, packet: UserMessagePacket, *rest: Any) -> Any:
            return (
                packet
                if getattr(packet.MessagePropertiesHeader, name) == value
                else original(qm, session, packet, *rest)
            )

        return check

    return procedure(SecurityOnReceipt.check_security, make)


for _name, _rules, _says, _install in (
    ("soap-header-id", "20.7-01", "HeaderSectionID is another.", _soap(HeaderSectionID=0x0321)),
    ("soap-header-length", "20.7-03", "Header has no null.", _soap(HeaderTerminated=False)),
    ("soap-body-id", "20.7-04", "BodySectionID is another.", _soap(BodySectionID=0x0385)),
    ("soap-body-length", "20.7-06", "Body has no null.", _soap(BodyTerminated=False)),
    ("list-as-public-queue", "18.1.4.2-01", "A distribution list is listed as a queue.", _lists(_as_public)),
    (
        "another-list",
        "18.1.4.2-02",
        "A distribution list is listed with another GUID.",
        _lists(lambda name: replace(name, DistributionListIdentifier=OTHER)),
    ),
    (
        "one-destination",
        "20.1-01",
        "Destination lists only the queue that the copy goes to.",
        procedure(Sending.construct_user_message, _only_its_own),
    ),
    (
        "list-signature",
        "20.3-05",
        "The signature of a list is made of something else.",
        wrong_fields(
            MESSAGE,
            {"MultiQueueFormatHeader.Signature.Signature": lambda old: old[::-1]},
            lambda packet: packet.MultiQueueFormatHeader is not None,
        ),
    ),
    (
        "nobody-signs-as-somebody",
        "20.6-02",
        "A message of nobody has a SecurityID.",
        _of_sender(SIGNED_BY_NOBODY, {"SecurityData.SecurityID": OTHER.bytes_le}),
    ),
    (
        "queue-manager-signs-as-another",
        "20.6-04 20.6-22 20.6-24",
        "A queue manager's message has another's GUID.",
        _of_sender(SIGNED_BY_QUEUE_MANAGER, {"SecurityData.SecurityID": OTHER.bytes_le}),
    ),
    (
        "provider-unnamed",
        "20.6-07",
        "The provider has no name.",
        wrong_fields(
            MESSAGE,
            {
                "SecurityHeader.SecurityData.ProviderInfo": lambda old: old[:4] + bytes(2),
                "SecurityHeader.SecurityData.Padding": None,
            },
            _named_provider,
        ),
    ),
    ("keys-unpublished", "20.6-36", "The directory has no keys of the queue manager.", always(_unpublished)),
    ("any-level", "19.3-21", "PrivacyLevel 4 is no level, and taken.", _known_value("PrivacyLevel", 4)),
    ("any-hash", "19.3-22", "HashAlgorithm 0x8099 is taken for a hash.", _known_value("HashAlgorithm", 0x8099)),
    ("any-cipher", "19.3-25", "EncryptionAlgorithm 0x6699 is taken.", _known_value("EncryptionAlgorithm", 0x6699)),
    ("never-too-late", "19.2-05", "No message leaves its queue by itself.", skip(Expiring.on_expiration_timer)),
    (
        "traced-without-tr",
        "19.1-12",
        "TR is not set in a message that is traced.",
        wrong_fields(MESSAGE, {"BaseHeader.Flags": lambda old: old & ~BaseHeader.flags(TR=1)}),
    ),
    (
        "transaction-by-message",
        "20.5-06",
        "Every message has a transaction ID of its own.",
        wrong_fields(
            MESSAGE,
            {"TransactionHeader.Flags": lambda old: old & ~TransactionHeader.flags(ID=0xFFFFF)},
            lambda packet: packet.TransactionHeader is not None and bool(packet.TransactionHeader.LM),
        ),
    ),
):
    add(f"handed-{_name}", [f"MQMQ-2.2.{_rule}" for _rule in _rules.split()], _says, _install)
