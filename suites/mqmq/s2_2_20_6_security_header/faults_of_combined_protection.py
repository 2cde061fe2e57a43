"""Faults in the SecurityHeader of messages that are protected in several ways (MS-MQMQ 2.2.20.6)."""

from __future__ import annotations

from typing import Any

from harness.faults.fields import set_bits
from harness.faults.parts import replace_part
from harness.faults.primitives import send_wrong_field_values
from harness.faults.registry import add
from reference_qm.codec import FormatError, Packet, SecurityHeader, UserMessagePacket
from reference_qm.core.transfer.identifying import Identifying

_ANONYMOUS_SID = bytes.fromhex("010100000000000507000000")


def _is_encrypted_without_sender(packet: Any) -> bool:
    security = packet.SecurityHeader
    return security is not None and bool(security.EB) and security.ST == 0


add(
    "sender-security-header-anonymous-sid-in-encrypted-message",
    "MQMQ-2.2.20.6-02",
    "The sender puts the SID of the anonymous user into SecurityID of an encrypted message in which ST is 0.",
    send_wrong_field_values(
        UserMessagePacket,
        {"SecurityHeader.SecurityData.SecurityID": _ANONYMOUS_SID, "SecurityHeader.SecurityData.Padding": None},
        _is_encrypted_without_sender,
    ),
    blind=True,
)


add(
    "sender-security-header-sid-of-encrypted-message-other-user",
    "MQMQ-2.2.20.6-03",
    "The sender increments the last number of the SID in SecurityID of an encrypted message that is not signed.",
    send_wrong_field_values(
        UserMessagePacket,
        {"SecurityHeader.SecurityData.SecurityID": lambda old: old[:-4] + bytes([old[-4] ^ 1]) + old[-3:]},
        lambda packet: (
            packet.SecurityHeader is not None
            and bool(packet.SecurityHeader.EB)
            and packet.SecurityHeader.ST == 1
            and not packet.SecurityHeader.SignatureSize
        ),
    ),
    blind=True,
)
add(
    "sender-security-header-authenticated-flag-set-in-signed-and-encrypted-message",
    "MQMQ-2.2.20.6-05",
    "The sender sets AU in the SecurityHeader of a message that is signed and encrypted.",
    set_bits(
        UserMessagePacket,
        "SecurityHeader.AU",
        lambda packet: (
            packet.SecurityHeader is not None
            and bool(packet.SecurityHeader.EB)
            and packet.SecurityHeader.SignatureSize > 0
        ),
    ),
    blind=True,
)
add(
    "sender-security-header-authenticated-flag-set-in-unsigned-message-of-user",
    "MQMQ-2.2.20.6-05",
    "The sender sets AU in the SecurityHeader of a message that has a sender and no signature.",
    set_bits(
        UserMessagePacket,
        "SecurityHeader.AU",
        lambda packet: (
            packet.SecurityHeader is not None
            and packet.SecurityHeader.ST == 1
            and not packet.SecurityHeader.SignatureSize
        ),
    ),
    blind=True,
)


def _make_refuser_of_security_flag_x13(when: Any) -> type[Identifying]:
    """Return a part that refuses a packet in which X13 is set, if its SecurityHeader meets a condition."""

    class X13Refused(Identifying):
        def check_field_values(self, packet: Packet) -> None:
            header = getattr(packet, "SecurityHeader", None)
            if header is not None and header.X13 and when(header):
                raise FormatError("SecurityHeader.X13", 0, "a fault", "the bit is set")
            super().check_field_values(packet)

    return X13Refused


def _is_encrypted(header: SecurityHeader) -> bool:
    return bool(header.EB)


def _is_signed(header: SecurityHeader) -> bool:
    return header.SignatureSize > 0


add(
    "receiver-security-header-unused-bit-x13-of-encrypted-message-refused",
    "MQMQ-2.2.20.6-11",
    "The receiver refuses an encrypted message in which X13 of the SecurityHeader is set.",
    replace_part(_make_refuser_of_security_flag_x13(_is_encrypted)),
    blind=True,
)
add(
    "receiver-security-header-unused-bit-x13-of-signed-message-refused",
    "MQMQ-2.2.20.6-11",
    "The receiver refuses a signed message in which X13 of the SecurityHeader is set.",
    replace_part(_make_refuser_of_security_flag_x13(_is_signed)),
    blind=True,
)
