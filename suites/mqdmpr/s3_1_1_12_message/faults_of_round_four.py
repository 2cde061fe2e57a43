"""Faults that break rules of MS-MQDMPR 3.1.1.12 Message, written without knowledge of the checks."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.primitives import set_fields
from reference_qm.codec import MessageIdentifier, ProviderInfo, UserMessagePacket
from reference_qm.core.commands.higher_layer_commands import HigherLayerCommands
from reference_qm.core.queueing.message_journaling import MessageJournaling
from reference_qm.core.transfer.message_routing import MessageRouting
from reference_qm.core.transfer.message_securing import MessageSecuring
from reference_qm.model.adm import Message, MessagePosition, Session
from reference_qm.security import MessageSecurity, PrivacyLevel
from reference_qm.surface import commands
from reference_qm.surface.clock import Now

EMPTY_CORRELATION_IDENTIFIER = bytes(20)
UNLISTED_PROVIDER_NAME = "Microsoft Strong Cryptographic Provider"
"""The name of a cryptographic provider that is not one of the two standard names."""


@fault(
    "sender-undelivered-message-stored-in-named-queue-without-request",
    breaks="MQDMPR-3.1.1.12-26",
    blind=True,
)
class SenderUndeliveredMessageStoredInNamedQueueWithoutRequest(MessageJournaling):
    """The sender stores an undelivered message that names an ApplicationDeadletterQueue in this queue, although
    NegativeJournalingRequested is false.
    """

    def journal_failed_message(self, position: MessagePosition) -> None:
        message = position.MessageReference
        if message.ApplicationDeadletterQueue and not message.NegativeJournalingRequested:
            self.qm.message_positions.move_message(position, self.find_dead_letter_queue(message))
        else:
            super().journal_failed_message(position)


@fault("sender-message-time-to-be-received-copied-from-time-to-reach-queue", breaks="MQDMPR-3.1.1.12-D42", blind=True)
class SenderMessageTimeToBeReceivedCopiedFromTimeToReachQueue(HigherLayerCommands):
    """The sender gives a message whose application sets only TimeToReachQueue the same value as TimeToBeReceived."""

    def _build_message(
        self,
        request: commands.SendMessage,
        security: MessageSecurity | None,
        now: Now,
        ordinal: int = 0,
        transaction: int = 0,
        arrived: bool = False,
    ) -> Message:
        message = super()._build_message(request, security, now, ordinal, transaction, arrived)
        if request.time_to_be_received_s is None and request.time_to_reach_queue_s is not None:
            return replace(message, TimeToBeReceived=request.time_to_reach_queue_s)
        return message


@fault("sender-message-with-response-queue-has-own-correlation-identifier", breaks="MQDMPR-3.1.1.12-D47", blind=True)
class SenderMessageWithResponseQueueHasOwnCorrelationIdentifier(HigherLayerCommands):
    """If an application sets a response queue but no CorrelationIdentifier, the sender sets CorrelationIdentifier to
    the identifier of the message itself.
    """

    def _build_message(
        self,
        request: commands.SendMessage,
        security: MessageSecurity | None,
        now: Now,
        ordinal: int = 0,
        transaction: int = 0,
        arrived: bool = False,
    ) -> Message:
        message = super()._build_message(request, security, now, ordinal, transaction, arrived)
        if request.response_queue is not None and request.correlation_id == EMPTY_CORRELATION_IDENTIFIER:
            own = MessageIdentifier(self.qm.adm.Identifier, ordinal)
            return replace(message, CorrelationIdentifier=own.build())
        return message


@fault("router-message-source-queue-manager-replaced-by-router", breaks="MQDMPR-3.1.1.12-D51", blind=True)
class RouterMessageSourceQueueManagerReplacedByRouter(MessageRouting):
    """The router writes its own GUID to SourceQueueManager of the nontransactional messages that it forwards."""

    def forward_message(self, position: MessagePosition, packet: UserMessagePacket, now: Now) -> None:
        if packet.TransactionHeader is None:
            packet = set_fields(packet, {"UserHeader.SourceQueueManager": self.qm.adm.Identifier})
        super().forward_message(position, packet, now)


@fault(
    "sender-message-provider-name-of-enhanced-encryption-unlisted",
    breaks=("MQDMPR-3.1.1.12-D66", "MQQB-3.1.7.1.5-41"),
    blind=True,
)
class SenderMessageProviderNameOfEnhancedEncryptionUnlisted(MessageSecuring):
    """In the SecurityHeader of a message with enhanced encryption, the sender names a provider other than the two
    standard providers.
    """

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        encrypted = super().encrypt_body(session, message, packet, now)
        header = encrypted.SecurityHeader
        enhanced = message.security is not None and message.security.PrivacyLevel == PrivacyLevel.ENHANCED
        if not enhanced or header is None or not header.SecurityData.ProviderInfo:
            return encrypted
        named = replace(ProviderInfo.parse(header.SecurityData.ProviderInfo), ProviderName=UNLISTED_PROVIDER_NAME)
        data = replace(header.SecurityData, ProviderInfo=named.build(), Padding=None)
        return replace(encrypted, SecurityHeader=replace(header, SecurityData=data))
