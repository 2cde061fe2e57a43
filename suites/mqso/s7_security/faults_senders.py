"""Faults of MS-MQSO 7.4.1.4.2 Sender Authentication: single messages, users and certificates."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.security import ReceivedMessageRefused
from reference_qm.surface.clock import Now

SIGNATURE_RULES = ("MQSO-7.4.1.4.2-01", "MQSO-7.4.1.4.2-02", "MQSO-7.4.1.4.2-03")
LARGE_BODY = 0x1000


class _WrongSignatureAcceptor(SecurityOnReceipt):
    """A receiver that accepts a wrong signature in those messages that a subclass selects."""

    def authenticate_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        try:
            return super().authenticate_packet(packet)
        except ReceivedMessageRefused:
            if self.is_wrong_signature_accepted(packet):
                return packet
            raise

    def is_wrong_signature_accepted(self, packet: UserMessagePacket) -> bool:
        """Return whether the receiver accepts a message with a wrong signature."""
        return False


@fault("receiver-signature-of-large-message-not-verified", breaks=SIGNATURE_RULES, blind=True)
class ReceiverSignatureOfLargeMessageNotVerified(_WrongSignatureAcceptor):
    """The receiver accepts a message with a wrong signature if its body has more than 4 KB."""

    def is_wrong_signature_accepted(self, packet: UserMessagePacket) -> bool:
        return packet.MessagePropertiesHeader.MessageSize > LARGE_BODY


@fault("receiver-signature-of-express-message-not-verified", breaks=SIGNATURE_RULES, blind=True)
class ReceiverSignatureOfExpressMessageNotVerified(_WrongSignatureAcceptor):
    """The receiver accepts an express message with a wrong signature."""

    def is_wrong_signature_accepted(self, packet: UserMessagePacket) -> bool:
        return not packet.UserHeader.DM


@fault("receiver-later-signature-of-sender-not-verified", breaks=SIGNATURE_RULES, blind=True)
class ReceiverLaterSignatureOfSenderNotVerified(_WrongSignatureAcceptor):
    """The receiver accepts a message with a wrong signature if an earlier message of its sender was authenticated."""

    def authenticate_packet(self, packet: UserMessagePacket) -> UserMessagePacket:
        result = super().authenticate_packet(packet)
        if result.SecurityHeader is not None and result.SecurityHeader.AS:
            self.__dict__.setdefault("known", set()).add(result.SecurityHeader.SecurityData.SecurityID)
        return result

    def is_wrong_signature_accepted(self, packet: UserMessagePacket) -> bool:
        security = packet.SecurityHeader
        return security is not None and security.SecurityData.SecurityID in self.__dict__.get("known", ())


@fault("receiver-known-certificate-accepted-for-other-user", breaks="MQSO-7.4.1.4.2-D02", blind=True)
class ReceiverKnownCertificateAcceptedForOtherUser(SecurityOnReceipt):
    """The receiver accepts a certificate that it has already found for any user, although the message names another
    user.
    """

    def verify_sender(self, packet: UserMessagePacket, now: Now) -> None:
        security = packet.SecurityHeader
        if security is not None and security.AS:
            certificate = security.SecurityData.SenderCert
            if self.qm.caches.UserCertCache.find(lambda known: known.UserCert.Certificate == certificate):
                return
        super().verify_sender(packet, now)


@fault("receiver-other-certificate-of-known-user-accepted", breaks="MQSO-7.4.1.4.2-D03", blind=True)
class ReceiverOtherCertificateOfKnownUserAccepted(SecurityOnReceipt):
    """If the receiver has already authenticated a message of a user, it accepts a certificate that is not registered
    for this user.
    """

    def verify_sender(self, packet: UserMessagePacket, now: Now) -> None:
        security = packet.SecurityHeader
        if security is not None and security.AS:
            user = security.SecurityData.SecurityID
            if self.qm.caches.UserCertCache.find(lambda known: known.SecurityID == user):
                return
        super().verify_sender(packet, now)


@fault("receiver-signed-message-without-sender-refused", breaks="MQSO-7.4.1.4.2-D04", blind=True)
class ReceiverSignedMessageWithoutSenderRefused(SecurityOnReceipt):
    """The receiver refuses a signed message that names no sender."""

    def verify_sender(self, packet: UserMessagePacket, now: Now) -> None:
        security = packet.SecurityHeader
        if security is not None and security.AS and not security.ST:
            raise ReceivedMessageRefused(MessageClass.MQMSG_CLASS_NACK_BAD_SIGNATURE, "the message has no sender")
        super().verify_sender(packet, now)


@fault("receiver-message-with-sender-and-certificate-but-no-signature-refused", breaks="MQSO-7.4.1.4.2-D04", blind=True)
class ReceiverMessageWithSenderAndCertificateButNoSignatureRefused(SecurityOnReceipt):
    """The receiver refuses a message that names a sender and has a certificate, but no signature."""

    def verify_sender(self, packet: UserMessagePacket, now: Now) -> None:
        security = packet.SecurityHeader
        if security is not None and not security.AS and security.SecurityData.SenderCert and security.ST:
            raise ReceivedMessageRefused(MessageClass.MQMSG_CLASS_NACK_BAD_SIGNATURE, "the message has no signature")
        super().verify_sender(packet, now)
