"""Faults of MS-MQSO 7 Security."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.primitives import at_restart, inputs, skip
from harness.faults.registry import add
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.names.security_lookup import SecurityLookup
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.directory.enums import QueueType
from reference_qm.model.adm import Queue
from reference_qm.security import DEFAULT_QUEUE_SECURITY, Refused, SecurityDescriptor, authorize_sender
from reference_qm.security.descriptor import AceType
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import Input, RpcBytes

FRAG_LENGTH, AUTH_LENGTH, TRAILER_SIZE = slice(8, 10), slice(10, 12), 8


def _refuse_authenticated_calls(event: Input) -> Iterable[Input]:
    if not isinstance(event, RpcBytes) or not any(event.data[AUTH_LENGTH]):
        return [event]
    size = len(event.data) - TRAILER_SIZE - int.from_bytes(event.data[AUTH_LENGTH], "little")
    data = bytearray(event.data[:size])
    data[FRAG_LENGTH], data[AUTH_LENGTH] = size.to_bytes(2, "little"), bytes(2)
    return [replace(event, data=bytes(data))]


add(
    "rpc-unknown-authentication-service-accepted",
    "MQSO-7.4.1.1-01",
    "The server accepts a bind with any authentication service.",
    inputs(_refuse_authenticated_calls),
)
add(
    "public-keys-not-in-directory-object",
    "MQSO-7.4.1.3-04",
    "The queue manager does not write its public keys to its directory object.",
    skip(DirectoryClient.publish_public_keys),
)


@fault("journal-ignores-security-descriptor", breaks="MQSO-7.3-01")
class JournalIgnoresSecurityDescriptor(SecurityLookup):
    """The security descriptor of a queue does not apply to its journal."""

    def find_queue_security(self, queue: Queue) -> SecurityDescriptor:
        return queue.Security if queue.QueueType is QueueType.SYSTEM else super().find_queue_security(queue)


BAD_SIGNATURE_CLASS = MessageClass.MQMSG_CLASS_NACK_BAD_SIGNATURE


@fault(
    "receiver-unregistered-certificate-without-sender-refused",
    breaks=("MQQB-3.1.5.8.3-22", "MQSO-7.4.1.3-D01", "MQSO-7.4.1.4.2-D04"),
)
class ReceiverUnregisteredCertificateWithoutSenderRefused(SecurityOnReceipt):
    """The receiver refuses a signed message with ST 0 if its certificate is not registered."""

    def verify_sender(self, packet: UserMessagePacket, now: Now) -> None:
        security = packet.SecurityHeader
        if security is not None and security.AS and not security.ST:
            raise Refused(BAD_SIGNATURE_CLASS, "a fault")
        super().verify_sender(packet, now)


@fault("denial-for-group-ignored", breaks="MQSO-7.3-02")
class DenialForGroupIgnored(SecurityOnReceipt):
    """An entry that denies the right to write applies to a user, but not to the members of a group."""

    def authorize_sender(self, packet: UserMessagePacket, queue: Queue) -> None:
        security = self.qm.security_lookup.find_queue_security(queue)
        header = packet.SecurityHeader
        if security.Dacl is None or header is None:
            super().authorize_sender(packet, queue)
            return
        sender = header.SecurityData.SecurityID
        entries = tuple(
            one for one in security.Dacl.Aces if one.AceType is not AceType.ACCESS_DENIED or one.Sid.build() == sender
        )
        narrowed = replace(security, Dacl=replace(security.Dacl, Aces=entries))
        authorize_sender(header, self._build_receiver(), narrowed)


def _open_queues(queue_manager: QueueManager) -> None:
    for queue in queue_manager.adm.QueueCollection.values():
        queue.Security = DEFAULT_QUEUE_SECURITY


add(
    "security-descriptors-lost-at-restart",
    "MQSO-7.3-01",
    "After a restart, every queue has the default security descriptor.",
    at_restart(_open_queues),
)
