"""Faults of MS-MQSO 7.4.1.1 and 7.4.1.4.2, by an author who had not seen the checks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.primitives import inputs
from harness.faults.registry import add
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.security_on_receipt import SecurityOnReceipt
from reference_qm.rpc.authentication import AuthType
from reference_qm.rpc.header import PacketType
from reference_qm.rpc.pdu import Pdu
from reference_qm.rpc.rpc_errors import PduError
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import Input, RpcBytes

_PTYPE_OFFSET = 2


def _accept_any_service(event: Input) -> Iterable[Input]:
    if not isinstance(event, RpcBytes) or event.data[_PTYPE_OFFSET : _PTYPE_OFFSET + 1] != bytes(
        [PacketType.ALTER_CONTEXT]
    ):
        return [event]
    try:
        pdu = Pdu.parse(event.data)
    except PduError:
        return [event]
    if pdu.sec_trailer is None or pdu.sec_trailer.auth_type in list(AuthType):
        return [event]
    return [replace(event, data=replace(pdu, sec_trailer=None).build())]


add(
    "server-unsupported-service-in-alter-context-accepted",
    "MQSO-7.4.1.1-01",
    "The server checks the authentication service of a bind, but accepts any service in an alter_context.",
    inputs(_accept_any_service),
    blind=True,
)


@fault("receiver-certificate-verified-once-accepted-for-other-user", breaks="MQSO-7.4.1.4.2-D02", blind=True)
class ReceiverCertificateVerifiedOnceAcceptedForOtherUser(SecurityOnReceipt):
    """After the receiver has verified a certificate for one user, it accepts the certificate for any user that a
    message names.
    """

    def verify_sender(self, packet: UserMessagePacket, now: Now) -> None:
        security = packet.SecurityHeader
        if security is not None and security.AS:
            certificate = security.SecurityData.SenderCert
            if self.qm.caches.UserCertCache.find(lambda known: known.UserCert.Certificate == certificate) is not None:
                return
        super().verify_sender(packet, now)
