"""Faults in the search for the user of a certificate, in authentication services and in private keys."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.names.security_lookup import SecurityLookup
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.security.receiving import ReceiverSecurityData
from reference_qm.surface.clock import Now

_USER_CERTIFICATE_RULES = ("MQSO-7.4.1.4.2-05", "MQSO-7.4.1.4.2-D01")


@fault("receiver-certificate-searched-only-once", breaks=_USER_CERTIFICATE_RULES)
class ReceiverCertificateSearchedOnlyOnce(SecurityLookup):
    """The receiver looks for the users of certificates only once, and does not find a second user."""

    def find_user_certificates(self, security_id: bytes) -> Any:
        first = self.__dict__.setdefault("first", security_id)
        return super().find_user_certificates(security_id) if first == security_id else None


@fault("receiver-every-certificate-belongs-to-first-user", breaks=_USER_CERTIFICATE_RULES)
class ReceiverEveryCertificateBelongsToFirstUser(SecurityLookup):
    """The receiver looks for the user whose certificate it needed first, whichever user signed the message."""

    def find_user_certificates(self, security_id: bytes) -> Any:
        return super().find_user_certificates(self.__dict__.setdefault("first", security_id))


@fault("receiver-authenticates-multi-destination-message-without-user", breaks="MQSO-7.4.1.4.2-D03")
class ReceiverAuthenticatesMultiDestinationMessageWithoutUser(SecurityOnReceipt):
    """The receiver authenticates the sender of a message with several destinations without looking for its user."""

    def verify_sender(self, packet: UserMessagePacket, now: Now) -> None:
        if packet.MultiQueueFormatHeader is None:
            super().verify_sender(packet, now)


@fault("receiver-second-message-with-unregistered-certificate-authenticated", breaks="MQSO-7.4.1.4.2-D03")
class ReceiverSecondMessageWithUnregisteredCertificateAuthenticated(SecurityOnReceipt):
    """The receiver refuses an unregistered certificate once, and authenticates the sender of later messages with it."""

    def verify_sender(self, packet: UserMessagePacket, now: Now) -> None:
        security = packet.SecurityHeader
        certificate = b"" if security is None else security.SecurityData.SenderCert
        seen = self.__dict__.setdefault("seen", set())
        if certificate and certificate in seen:
            return
        seen.add(certificate)
        super().verify_sender(packet, now)


class _ReceiverWithoutPrivateKeyOfProvider(SecurityOnReceipt):
    """A receiver that has no private key for one provider."""

    provider = ""

    def _build_receiver(self) -> ReceiverSecurityData:
        found = super()._build_receiver()
        keys = {name: key for name, key in found.private_keys.items() if self.provider not in name}
        return replace(found, private_keys=keys)


@fault("receiver-private-key-of-base-provider-missing", breaks="MQSO-7.4.1.3-03")
class ReceiverPrivateKeyOfBaseProviderMissing(_ReceiverWithoutPrivateKeyOfProvider):
    """The receiver has no private key of the Base provider, although its public key is published."""

    provider = "Base"


@fault("receiver-private-key-of-enhanced-provider-missing", breaks="MQSO-7.4.1.3-03")
class ReceiverPrivateKeyOfEnhancedProviderMissing(_ReceiverWithoutPrivateKeyOfProvider):
    """The receiver has no private key of the Enhanced provider, although its public key is published."""

    provider = "Enhanced"
