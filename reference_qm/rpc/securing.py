"""Implements the server's side of the security context of an association: it handles the tokens of the
authentication, and checks the required protection of PDUs.

Spec: MS-RPCE 3.3.1.5.2, 3.3.1.5.4, 3.3.3. A connection has at most one security context, because security contexts
are not multiplexed.
"""

from __future__ import annotations

from reference_qm.rpc.authentication import SecurityError, ServerSecurity, parse_authentication_level
from reference_qm.rpc.header import PfcFlags, SecTrailer
from reference_qm.rpc.limits import AssociationLimits
from reference_qm.rpc.pdu import Pdu
from reference_qm.rpc.protection import NegotiatedSecurity
from reference_qm.rpc.rpc_errors import PduError
from reference_qm.rpc.status import FaultStatus, RejectReason

_SECURITY_CONTEXT_SPEC_SECTION = "MS-RPCE 3.3.1.5.4"


class AuthenticationRefused(Exception):
    """Raised when the authentication of a PDU fails. The exception contains the reason as text, the reason code for a
    bind_nak, and the status for a fault.
    """

    def __init__(self, why: str, status: FaultStatus, reject: RejectReason = RejectReason.INVALID_CHECKSUM) -> None:
        super().__init__(why)
        self.status = status
        self.reject = reject


class AssociationSecurity:
    """The authentication of a client on one connection. The methods raise AuthenticationRefused."""

    def __init__(self, security: ServerSecurity, limits: AssociationLimits) -> None:
        self._security = security
        self._limits = limits
        self._negotiated: NegotiatedSecurity | None = None

    # -- legs ---------------------------------------------------------------------------------------------------

    def check_authentication_type(self, trailer: SecTrailer | None) -> None:
        """Refuse the first token of an authentication if its provider is unsupported. Spec: MS-RPCE 3.3.3.5.3."""
        if trailer is None or self._negotiated is not None:
            return
        level = parse_authentication_level(trailer.auth_level)
        if level is None:
            why = f"authentication level {trailer.auth_level} is undefined (MS-RPCE 2.2.1.1.8)"
            raise AuthenticationRefused(why, FaultStatus.NCA_S_PROTO_ERROR, RejectReason.NOT_SPECIFIED)
        context = self._security.accept(trailer.auth_type, level)
        if context is None:
            # A fault carries a status instead of a reject reason: the one for authentication_type_not_recognized.
            raise AuthenticationRefused(
                f"authentication type {trailer.auth_type} is not supported (MS-RPCE 3.3.3.5.3)",
                FaultStatus.RPC_S_UNKNOWN_AUTHN_SERVICE,
                RejectReason.AUTHENTICATION_TYPE_NOT_RECOGNIZED,
            )
        self._negotiated = NegotiatedSecurity(
            trailer.auth_type, trailer.auth_level, level, trailer.auth_context_id, context
        )

    def process_leg_token(self, pdu: Pdu) -> SecTrailer | None:
        """Process the token of a bind or alter_context. Return the trailer of the answer, or None if the answer has
        none.
        """
        trailer = pdu.sec_trailer
        if trailer is None:
            return None
        agreed = self._check_trailer(trailer)
        if agreed.authentication_leg_count == 0:
            agreed.header_sign = bool(pdu.pfc_flags & PfcFlags.SUPPORT_HEADER_SIGN)
        token = self._process_token(agreed, trailer.token)
        return agreed.build_trailer(token) if token else None

    def process_last_leg_token(self, trailer: SecTrailer) -> None:
        """Process the token of an rpc_auth_3 PDU. The server does not answer this PDU, so the client learns of a
        failure at its first request.

        Spec: MS-RPCE 3.3.1.5.2.1.
        """
        agreed = self._check_trailer(trailer)
        try:
            self._process_token(agreed, trailer.token)
        except AuthenticationRefused as refused:
            agreed.failure_reason = str(refused)

    @property
    def header_sign(self) -> bool:
        """Whether header signing was negotiated. Spec: MS-RPCE 3.3.1.5.2.2."""
        return self._negotiated is not None and self._negotiated.header_sign

    @property
    def is_authentication_unfinished(self) -> bool:
        """Whether an authentication has begun and is not complete."""
        return (
            self._negotiated is not None
            and self._negotiated.failure_reason is None
            and not self._negotiated.context.is_complete
        )

    def _check_trailer(self, trailer: SecTrailer) -> NegotiatedSecurity:
        if self._negotiated is None or not self._negotiated.owns_trailer(trailer):
            why = (
                f"security context {trailer.auth_context_id} is not the "
                f"security context of this connection ({_SECURITY_CONTEXT_SPEC_SECTION})"
            )
            raise AuthenticationRefused(why, FaultStatus.RPC_S_PROTOCOL_ERROR)
        return self._negotiated

    def _process_token(self, agreed: NegotiatedSecurity, token: bytes) -> bytes:
        agreed.authentication_leg_count += 1
        try:
            if agreed.failure_reason is not None or agreed.context.is_complete:
                raise SecurityError("a token was received after the last token of the authentication")
            if agreed.authentication_leg_count > self._limits.auth_legs:
                raise SecurityError(f"the authentication has more than {self._limits.auth_legs} tokens")
            if len(token) > self._limits.token_bytes:
                raise SecurityError(f"the token is too long: {len(token)} bytes")
            return agreed.context.process_token(token)
        except SecurityError as error:
            agreed.failure_reason = f"the authentication failed: {error} (MS-RPCE 3.3.1.5.2.1)"
            raise AuthenticationRefused(agreed.failure_reason, FaultStatus.ACCESS_DENIED) from error

    # -- calls --------------------------------------------------------------------------------------------------

    def unprotect_call_pdu(self, wire: bytes, pdu: Pdu) -> tuple[Pdu, NegotiatedSecurity | None]:
        """Return a PDU of a call without its protection, and the security context that protected it, which is None
        at the authentication level none.

        Spec: MS-RPCE 3.3.1.5.2.2, 3.3.1.5.4.
        """
        agreed, trailer = self._negotiated, pdu.sec_trailer
        if agreed is None:
            if trailer is not None:
                why = "a call has a token, but no security context was negotiated (MS-RPCE 2.2.2.11)"
                raise AuthenticationRefused(why, FaultStatus.ACCESS_DENIED)
            return pdu, None
        if agreed.failure_reason is not None:
            raise AuthenticationRefused(agreed.failure_reason, FaultStatus.ACCESS_DENIED)
        if not agreed.context.is_complete:
            why = "a call arrived before the authentication was complete (MS-RPCE 3.3.3)"
            raise AuthenticationRefused(why, FaultStatus.NCA_S_PROTO_ERROR)
        if trailer is None:
            if agreed.level.signs_each_pdu:
                why = f"a call has no token, which the level {agreed.level.name} requires (MS-RPCE 3.3.1.5.2.2)"
                raise AuthenticationRefused(why, FaultStatus.ACCESS_DENIED)
            return pdu, agreed
        if not agreed.owns_trailer(trailer):
            why = "a call has a security context, type or level that was not negotiated (MS-RPCE 3.3.1.5.4)"
            raise AuthenticationRefused(why, FaultStatus.ACCESS_DENIED)
        if not agreed.level.signs_each_pdu:
            return pdu, agreed
        try:
            return agreed.unprotect_pdu(wire), agreed
        except (SecurityError, PduError) as error:
            why = f"the protection of a PDU is wrong: {error} (MS-RPCE 3.3.1.5.2.2)"
            raise AuthenticationRefused(why, FaultStatus.RPC_S_SEC_PKG_ERROR) from error
