from __future__ import annotations

from dataclasses import replace

from cryptography.hazmat.primitives.asymmetric import rsa

from reference_qm.codec import FormatError, MessageClass, MisuseError, UserMessagePacket
from reference_qm.core.errors import CommandError
from reference_qm.core.part import QueueManagerPart
from reference_qm.core.store.messages import serialize_message
from reference_qm.core.transfer.security_on_receipt import find_unmet_security_demand
from reference_qm.model.adm import Message, Queue, Session
from reference_qm.security import (
    MqdsPublicKeys,
    ReceivedMessageRefused,
    SecurityError,
    SignatureType,
    encrypt_message,
    read_security_attributes,
    sign_message,
)
from reference_qm.surface.clock import Now

_SIGNING_SPEC_SECTION = "MS-MQQB 3.1.7.1.4"
_ENCRYPTING_SPEC_SECTION = "MS-MQQB 3.1.7.1.5"


class MessageSecuring(QueueManagerPart):
    """Signs and encrypts messages when they are sent. Spec: MS-MQQB 3.1.7.1.4, 3.1.7.1.5, MS-MQDMPR 3.1.1.12.

    Whenever a message is sent, its packet is built from the attributes of the message, so that an encrypted body is
    not reused. Only messages whose source is this queue manager are signed and encrypted. A routed message is not
    changed; otherwise its destination could not read it.
    """

    __slots__ = ()

    def secure_user_message(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket | None:
        """Return the packet of a message, signed and encrypted as the attributes of the message require, or None if
        the signature or the encryption fails.

        Spec: MS-MQQB 3.1.7.1.4, 3.1.7.1.5. The document has no step for a failed signature. Here it is handled like
        a failed encryption (3.1.7.1.5.1), because the message must not be sent without the signature.
        """
        try:
            secured = self.encrypt_body(session, message, self.sign_packet(message, packet), now)
            secured.build()
        except (SecurityError, FormatError, MisuseError):
            return None
        return secured

    def sign_packet(self, message: Message, packet: UserMessagePacket) -> UserMessagePacket:
        """Sign a packet when Message.AuthenticationLevel is not None. Spec: MS-MQQB 3.1.7.1.4."""
        security = message.security
        if security is None or not security.AuthenticationLevel:
            return packet
        key = self.find_signing_key(security.SenderCertificate)
        if key is None:
            raise SecurityError(
                "Message.SenderCertificate", _SIGNING_SPEC_SECTION, "the private key of the certificate is missing"
            )
        content = self.qm.security_on_receipt.build_signed_properties
        return sign_message(packet, _get_signature_type(security.AuthenticationLevel), key, content)

    def find_signing_key(self, certificate: bytes) -> rsa.RSAPrivateKey | None:
        """Return the private key for a sender's certificate (DER), or None if the key is not on this computer.
        Spec: MS-MQQB 3.1.7.1.4.
        """
        accounts = self.qm.config.security.accounts
        return next((one.key for one in accounts if one.certificates[:1] == (certificate,)), None)

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        """Encrypt the body if Message.PrivacyLevel is not None. Spec: MS-MQQB 3.1.7.1.5.

        The document uses the public key of RemoteQMGuid, which is the next hop. However, it is the destination that
        decrypts the body (3.1.5.8.3), so this method uses the key of UserHeader.QueueManagerAddress. Both are the same
        queue manager if the message is not routed.
        """
        if message.security is None or not message.security.PrivacyLevel:
            return packet
        remote = packet.UserHeader.QueueManagerAddress
        if not any(session.RemoteQMPublicKey):
            keys = self.qm.security_lookup.find_public_keys(remote, now)
            if keys is None:
                raise SecurityError(
                    "RemoteQMPublicKey",
                    _ENCRYPTING_SPEC_SECTION,
                    f"the public keys of queue manager {remote} are unknown",
                )
            session.RemoteQMPublicKey = keys.build()
        keys = MqdsPublicKeys.parse(session.RemoteQMPublicKey)
        encrypted = encrypt_message(packet, remote, keys, self.qm.caches, self.qm.entropy, now)
        self.qm.cache_timers.start(now)
        return encrypted

    def secure_local_message(self, queue: Queue, message: Message, now: Now) -> Message:
        """Sign a message for a local queue, apply the security checks of received messages to it, and return the
        message to store. Raise CommandError if a check refuses the message.

        Spec: MS-MQQB 3.1.5.8.3, MS-MQDMPR 3.1.1.2. The checks are the same as for a message from another queue
        manager, except that no encryption is required.
        """
        wanted = message.security
        refusal: object = find_unmet_security_demand(
            queue,
            authenticated=wanted is not None and bool(wanted.AuthenticationLevel),
            encrypted=wanted is not None and bool(wanted.PrivacyLevel),
        )
        if wanted is not None and refusal is None:
            clear = replace(message, security=replace(wanted, PrivacyLevel=0))
            try:
                packet = self.sign_packet(clear, serialize_message(clear))
                packet = self.qm.security_on_receipt.authenticate_packet(packet)
                self.qm.security_on_receipt.verify_sender(packet, now)
                self.qm.security_on_receipt.authorize_sender(packet, queue)
            except (SecurityError, FormatError, ReceivedMessageRefused) as error:
                refusal = error
            else:
                arrived = read_security_attributes(packet)
                message = replace(message, security=replace(arrived, PrivacyLevel=wanted.PrivacyLevel))
            self.qm.cache_timers.start(now)
        if refusal is not None:
            reason = refusal.name if isinstance(refusal, MessageClass) else refusal
            raise CommandError(f"{message.DestinationQueueFormatName!a} does not accept the message: {reason}")
        return message


def _get_signature_type(level: int) -> SignatureType:
    try:
        return SignatureType(level)
    except ValueError:
        raise SecurityError(
            "Message.AuthenticationLevel", _SIGNING_SPEC_SECTION, f"0x{level:X} is not a kind of signature"
        ) from None
