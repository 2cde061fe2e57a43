"""Faults that break the rules MQQB-3.1.5.8.3-01 to MQQB-3.1.5.8.3-13."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.faults.parts import change_step, fault
from harness.faults.primitives import set_fields
from harness.faults.registry import Install
from reference_qm.codec import SecurityHeader, UserMessagePacket
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.security import HashAlgorithm
from suites.mqmq.steps.kinds_of_messages import is_express, is_transactional
from suites.mqqb.s3_1_5_08_03_security.fault_steps import (
    MessageSelectionCondition,
    accept_refused_messages,
    has_destination_list,
    is_encrypted,
    register_faults_written_without_knowing_checks,
    skip_security_step_for_selected_messages,
)

_MASK_OF_AUTHENTICATION_TYPE_AS = SecurityHeader.flags(AS=0xF)


def _set_as_field_of_security_header(packet: UserMessagePacket, kind: int) -> UserMessagePacket:
    header = packet.SecurityHeader
    assert header is not None
    return replace(
        packet,
        SecurityHeader=replace(
            header, Flags=header.Flags & ~_MASK_OF_AUTHENTICATION_TYPE_AS | SecurityHeader.flags(AS=kind)
        ),
    )


KNOWN_HASH_ALGORITHMS = frozenset(HashAlgorithm)


def is_signed_msmq_1_or_3(packet: UserMessagePacket) -> bool:
    """Return whether a message has an authenticated MSMQ 1.0 or 3.0 signature."""
    return packet.SecurityHeader is not None and packet.SecurityHeader.AS in {1, 5}


def _replace_authentication_signature(old: int, new: int, when: MessageSelectionCondition) -> Install:
    def run(self: Any, original: Any, packet: UserMessagePacket) -> Any:
        done = original(packet)
        header = done.SecurityHeader
        return (
            _set_as_field_of_security_header(done, new)
            if header is not None and old == header.AS and when(packet)
            else done
        )

    return change_step(SecurityOnReceipt.authenticate_packet, run)


def _change_signed_content(kind: int, field: str, value: Any) -> Install:
    def run(self: Any, original: Any, packet: UserMessagePacket, asked: Any) -> bytes:
        if asked == kind and getattr(packet, field.split(".")[0]) is not None:
            packet = set_fields(packet, {field: value})
        done: bytes = original(packet, asked)
        return done

    return change_step(SecurityOnReceipt.build_signed_properties, run)


def _trust_sender_after_first_check(name: str) -> Install:
    """Make the receiver trust a sender whose first message has passed a step."""

    def run(self: Any, original: Any, packet: UserMessagePacket, *rest: Any) -> Any:
        known = self.__dict__.setdefault("known" + name, set())
        header = packet.SecurityHeader
        sender = None if header is None else header.SecurityData.SecurityID
        signed = header is not None and header.SecurityData.Signature
        if signed and sender in known:
            return _set_as_field_of_security_header(packet, 3) if name == "authenticate_packet" else None
        done = original(packet, *rest)
        if signed:
            known.add(sender)
        return done

    return change_step(getattr(SecurityOnReceipt, name), run)


def _accept_signature_verified_before(self: Any, original: Any, packet: UserMessagePacket) -> Any:
    known = self.__dict__.setdefault("known_signatures", set())
    header = packet.SecurityHeader
    signature = None if header is None else header.SecurityData.Signature
    if signature and signature in known:
        return _set_as_field_of_security_header(packet, 3)
    done = original(packet)
    known.add(signature)
    return done


def _verify_signature_with_first_certificate(self: Any, original: Any, packet: UserMessagePacket) -> Any:
    header = packet.SecurityHeader
    if header is None or not header.SecurityData.Signature:
        return original(packet)
    kept = self.__dict__.setdefault("certificate", header.SecurityData.SenderCert)
    data = replace(header.SecurityData, SenderCert=kept, Padding=None)
    done = original(replace(packet, SecurityHeader=replace(header, SecurityData=data)))
    return replace(done, SecurityHeader=replace(done.SecurityHeader, SecurityData=header.SecurityData))


def _check_security_only_on_first_session(
    self: Any, original: Any, session: Any, packet: UserMessagePacket, *rest: Any
) -> Any:
    first = self.__dict__.setdefault("first", session.number)
    return original(session, packet, *rest) if session.number == first else packet


def _check_security_only_for_empty_queue(
    self: Any, original: Any, session: Any, packet: Any, queue: Any, now: Any
) -> Any:
    return packet if len(queue.MessagePositionList) else original(session, packet, queue, now)


def _check_security_only_of_normal_messages(self: Any, original: Any, session: Any, packet: Any, *rest: Any) -> Any:
    return packet if packet.MessagePropertiesHeader.MessageClass else original(session, packet, *rest)


_FORMAT_NAME_LIST_FIELD = "MultiQueueFormatHeader.Destination.FormatNameList"


register_faults_written_without_knowing_checks(
    (
        "receiver-security-of-second-session-not-checked",
        "MQQB-3.1.5.8.3-01",
        "The receiver checks the security of messages only on the first session that delivers such a message.",
        change_step(SecurityOnReceipt.check_security, _check_security_only_on_first_session),
    ),
    (
        "receiver-security-checked-while-queue-is-empty",
        "MQQB-3.1.5.8.3-01",
        "The receiver does not check the security of a message to a queue that contains a message.",
        change_step(SecurityOnReceipt.check_security, _check_security_only_for_empty_queue),
    ),
    (
        "receiver-security-of-acknowledgment-not-checked",
        "MQQB-3.1.5.8.3-01",
        "The receiver does not check the security of a message whose MessageClass is not NORMAL.",
        change_step(SecurityOnReceipt.check_security, _check_security_only_of_normal_messages),
    ),
    (
        "receiver-signature-of-encrypted-message-not-checked",
        "MQQB-3.1.5.8.3-02",
        "The receiver does not check the signature of an encrypted message.",
        accept_refused_messages("authenticate_packet", is_encrypted),
    ),
    (
        "receiver-authentication-of-sender-once",
        "MQQB-3.1.5.8.3-02",
        "The receiver checks only the first signature of each sender.",
        _trust_sender_after_first_check("authenticate_packet"),
    ),
    (
        "receiver-signature-in-list-of-transactional-message-not-checked",
        "MQQB-3.1.5.8.3-02",
        "The receiver does not check the signature in the list of destinations of a transactional message.",
        skip_security_step_for_selected_messages(
            "authenticate_packet", lambda packet: is_transactional(packet) and has_destination_list(packet)
        ),
    ),
    *(
        (
            f"receiver-msmq-{version}-signature-without-{label}",
            rule,
            f"The receiver computes the hash of an MSMQ {version}.0 signature as if {field} were {words}.",
            _change_signed_content(kind, field, value),
        )
        for version, kind, rule in (
            (1, 1, "MQQB-3.1.5.8.3-08"),
            (2, 3, "MQQB-3.1.5.8.3-04"),
            (3, 5, "MQQB-3.1.5.8.3-11"),
        )
        for label, field, value, words, versions in (
            ("application-tag", "MessagePropertiesHeader.ApplicationTag", 0, "0", (1, 2, 3)),
            ("correlation-id", "MessagePropertiesHeader.CorrelationID", bytes(20), "0", (1, 2, 3)),
            ("label", "MessagePropertiesHeader.Label", None, "missing", (1, 2, 3)),
            ("response-queue", "UserHeader.ResponseQueue", None, "missing", (1, 2, 3)),
            ("admin-queue", "UserHeader.AdminQueue", None, "missing", (1, 2, 3)),
            ("body-type", "MessagePropertiesHeader.BodyType", 0, "0", (2, 3)),
            ("connector-type", "UserHeader.ConnectorType", None, "missing", (2, 3)),
            ("priority", "BaseHeader.Flags", lambda old: old & ~7 | 3, "the default", (2, 3)),
            ("requested-acknowledgments", "MessagePropertiesHeader.Flags", 0, "0", (2, 3)),
            ("message-class", "MessagePropertiesHeader.MessageClass", 0, "0", (2, 3)),
            (
                "long-body",
                "MessagePropertiesHeader.MessageBody",
                lambda old: old[:1024],
                "cut at 1024 bytes",
                (1, 2, 3),
            ),
            ("extension", "MessagePropertiesHeader.ExtensionData", b"", "missing", (3,)),
            ("second-destination", _FORMAT_NAME_LIST_FIELD, lambda old: old[:1], "its first entry", (3,)),
        )
        if version in versions
    ),
    (
        "receiver-known-signature-accepted-for-other-message",
        ("MQQB-3.1.5.8.3-05", "MQQB-3.1.5.8.3-14"),
        "The receiver accepts a signature that was valid for an earlier message.",
        change_step(SecurityOnReceipt.authenticate_packet, _accept_signature_verified_before),
    ),
    (
        "receiver-signature-decrypted-with-first-certificate",
        "MQQB-3.1.5.8.3-05",
        "The receiver decrypts each signature in SecurityData with the certificate of the first signed message.",
        change_step(SecurityOnReceipt.authenticate_packet, _verify_signature_with_first_certificate),
    ),
    *(
        (
            f"receiver-as-of-{label}-msmq-{version}-signature-0",
            rule,
            f"The receiver leaves AS at 0 for {words} message with a valid MSMQ {version}.0 signature.",
            _replace_authentication_signature(kind, 0, when),
        )
        for version, kind, rule in (
            (1, 1, "MQQB-3.1.5.8.3-09"),
            (2, 3, "MQQB-3.1.5.8.3-06"),
            (3, 5, "MQQB-3.1.5.8.3-13"),
        )
        for label, words, when in (
            ("transactional-list", "a transactional", is_transactional),
            ("express-list", "an express", is_express),
            ("encrypted-body", "an encrypted", is_encrypted),
            ("large-body", "a large", lambda packet: len(packet.MessagePropertiesHeader.MessageBody) > 4096),
        )
    ),
    *(
        (
            f"receiver-invalid-signature-of-{label}-accepted",
            "MQQB-3.1.5.8.3-14",
            f"The receiver accepts {words} with an invalid signature.",
            accept_refused_messages("authenticate_packet", when),
        )
        for label, words, when in (
            ("anonymous-message", "a message without a sender (ST 0)", lambda packet: packet.SecurityHeader.ST == 0),
            ("queue-manager", "a message of a queue manager (ST 2)", lambda packet: packet.SecurityHeader.ST == 2),
            (
                "transactional-list",
                "a transactional message to a list",
                lambda p: is_transactional(p) and has_destination_list(p),
            ),
            ("express-list", "an express message to a list", lambda p: is_express(p) and has_destination_list(p)),
            (
                "message-without-certificate",
                "a message without a certificate",
                lambda packet: not packet.SecurityHeader.SecurityData.SenderCert,
            ),
            (
                "short-signature",
                "a message whose signature is shorter than the key,",
                lambda packet: 0 < len(packet.SecurityHeader.SecurityData.Signature) < 64,
            ),
            (
                "unlisted-hash",
                "a message with an unknown HashAlgorithm",
                lambda packet: packet.MessagePropertiesHeader.HashAlgorithm not in KNOWN_HASH_ALGORITHMS,
            ),
        )
    ),
    *(
        (
            f"receiver-signer-of-{label}-not-verified",
            ("MQQB-3.1.5.8.3-22", "MQQB-3.1.5.8.3-37"),
            f"The receiver does not verify the identity of the signer of {words}.",
            skip_security_step_for_selected_messages("verify_sender", when),
        )
        for label, words, when in (
            ("encrypted-message", "an encrypted message", is_encrypted),
            ("msmq-1-or-3-signature", "a message with an MSMQ 1.0 or 3.0 signature", is_signed_msmq_1_or_3),
            ("express-message", "an express message", is_express),
            ("queue-manager-type", "a message with ST 2", lambda packet: packet.SecurityHeader.ST == 2),
        )
    ),
    (
        "receiver-signer-verified-once-per-user",
        ("MQQB-3.1.5.8.3-22", "MQQB-3.1.5.8.3-37"),
        "The receiver verifies the identity of the signer only for the first signed message of each user.",
        _trust_sender_after_first_check("verify_sender"),
    ),
)


@fault("receiver-signature-of-large-body-not-checked", breaks="MQQB-3.1.5.8.3-02", blind=True)
class ReceiverSignatureOfLargeBodyNotChecked(SecurityOnReceipt):
    """The receiver does not check the signature of a message whose body is larger than 64 KB."""

    def authenticate_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        if len(packet.MessagePropertiesHeader.MessageBody) > 0x10000:
            return packet
        return super().authenticate_packet(packet)


@fault("receiver-as-1-for-express-message-with-msmq-2-signature", breaks="MQQB-3.1.5.8.3-06", blind=True)
class ReceiverAs1ForExpressMessageWithMsmq2Signature(SecurityOnReceipt):
    """The receiver sets AS to 1 for an express message with a valid MSMQ 2.0 signature."""

    def authenticate_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        done = super().authenticate_packet(packet)
        header = done.SecurityHeader
        return (
            _set_as_field_of_security_header(done, 1)
            if header is not None and header.AS == 3 and not done.UserHeader.DM
            else done
        )


@fault("receiver-as-0-for-transactional-message-with-msmq-2-signature", breaks="MQQB-3.1.5.8.3-06", blind=True)
class ReceiverAs0ForTransactionalMessageWithMsmq2Signature(SecurityOnReceipt):
    """The receiver leaves AS at 0 for a transactional message with a valid MSMQ 2.0 signature."""

    def authenticate_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        done = super().authenticate_packet(packet)
        header = done.SecurityHeader
        return (
            _set_as_field_of_security_header(done, 0)
            if header is not None and header.AS == 3 and done.UserHeader.TH
            else done
        )


@fault("receiver-as-0-for-encrypted-message-with-msmq-2-signature", breaks="MQQB-3.1.5.8.3-06", blind=True)
class ReceiverAs0ForEncryptedMessageWithMsmq2Signature(SecurityOnReceipt):
    """The receiver leaves AS at 0 for an encrypted message with a valid MSMQ 2.0 signature."""

    def authenticate_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        done = super().authenticate_packet(packet)
        header = done.SecurityHeader
        return (
            _set_as_field_of_security_header(done, 0) if header is not None and header.AS == 3 and header.EB else done
        )


@fault("receiver-as-1-for-msmq-3-signature-and-extension", breaks="MQQB-3.1.5.8.3-13", blind=True)
class ReceiverAs1ForMsmq3SignatureAndExtension(SecurityOnReceipt):
    """The receiver sets AS to 1 for a message with an extension and a valid MSMQ 3.0 signature."""

    def authenticate_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        done = super().authenticate_packet(packet)
        header = done.SecurityHeader
        extended = bool(done.MessagePropertiesHeader.ExtensionData)
        return _set_as_field_of_security_header(done, 1) if header is not None and header.AS == 5 and extended else done
