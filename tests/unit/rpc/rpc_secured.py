"""A security provider with fixed tokens, and a client that binds with it."""

from __future__ import annotations

import hashlib
from typing import Any

from rpc_made import LICENCE, Client, element

from reference_qm.rpc import QM2QM, AssociationLimits, RpcServer
from reference_qm.rpc.authentication import AuthLevel, PduSegments, SecurityError, ServerSecurity
from reference_qm.rpc.bind_bodies import Bind
from reference_qm.rpc.bodies import Auth3
from reference_qm.rpc.header import WHOLE_PDU_FLAGS, PfcFlags
from reference_qm.rpc.ndr import StubEncoding
from reference_qm.rpc.pdu import Pdu
from reference_qm.rpc.protection import NegotiatedSecurity
from reference_qm.rpc.syntaxes import NDR
from reference_qm.surface.entropy import SeededEntropy

NTLM, CONTEXT = 10, 79_231
LEGS = (b"negotiate", b"challenge", b"authenticate")
SIGNATURE_SIZE = 16


class FixedContext:
    """A security context whose tokens are fixed words, and whose signatures are hashes of the segments, the direction
    and a sequence number.
    """

    def __init__(self, *, server: bool, signs_header: bool = True) -> None:
        self.server = server
        self.signs_header = signs_header
        self.is_complete = False
        self.identity = "alice" if server else ""
        self.signature_size = SIGNATURE_SIZE
        self.taken: list[bytes] = []
        self.numbers = {True: 0, False: 0}

    def process_token(self, token: bytes) -> bytes:
        self.taken.append(token)
        wanted, answer = {
            (True, 1): (LEGS[0], LEGS[1]),
            (True, 2): (LEGS[2], b""),
            (False, 1): (b"", LEGS[0]),
            (False, 2): (LEGS[1], LEGS[2]),
        }.get((self.server, len(self.taken)), (None, b""))
        if token != wanted:
            raise SecurityError(f"{token!r} is not {wanted!r}")
        self.is_complete = len(self.taken) == 2
        return answer

    def _mac(self, segments: PduSegments, sent: bool, header_sign: bool) -> bytes:
        covered = b"".join(segments) if header_sign or self.signs_header else segments.body
        number = self.numbers[sent]
        self.numbers[sent] += 1
        return hashlib.sha256(bytes([self.server is sent]) + number.to_bytes(4, "little") + covered).digest()[:16]

    def sign(self, segments: PduSegments, *, header_sign: bool) -> bytes:
        return self._mac(segments, True, header_sign)

    def verify(self, segments: PduSegments, signature: bytes, *, header_sign: bool) -> None:
        if self._mac(segments, False, header_sign) != signature:
            raise SecurityError("the signature is wrong")

    def seal(self, segments: PduSegments, *, header_sign: bool) -> tuple[bytes, bytes]:
        return turned(segments.body), self._mac(segments, True, header_sign)

    def unseal(self, segments: PduSegments, signature: bytes, *, header_sign: bool) -> bytes:
        self.verify(segments._replace(body=turned(segments.body)), signature, header_sign=header_sign)
        return turned(segments.body)


def turned(body: bytes) -> bytes:
    return bytes(one ^ 0x5A for one in body)


class SecuredClient(Client):
    """A client with a security context, whose authentication legs a test sends one by one."""

    def __init__(
        self, level: int = AuthLevel.PKT_INTEGRITY, limits: AssociationLimits | None = None, **context: Any
    ) -> None:
        self.contexts: list[FixedContext] = []

        def accept(auth_type: int, level: AuthLevel) -> FixedContext | None:
            self.contexts.append(FixedContext(server=True, **context))
            return self.contexts[-1] if auth_type == NTLM else None

        server = RpcServer([QM2QM], SeededEntropy("secured"), limits, security=ServerSecurity(accept))
        super().__init__(server)
        agreed = AuthLevel.PKT if level == AuthLevel.CALL else AuthLevel(level)
        self.own = NegotiatedSecurity(NTLM, level, agreed, CONTEXT, FixedContext(server=False, **context))

    def begin(self, *, header_sign: bool = False, size: int = 5840, token: bytes | None = None) -> list[Any]:
        """Send the bind with the first authentication leg."""
        self.own.header_sign = header_sign
        flags = WHOLE_PDU_FLAGS | (PfcFlags.SUPPORT_HEADER_SIGN if header_sign else 0)
        leg = self.own.context.process_token(b"") if token is None else token
        bind = Bind(size, size, 0, (element(0, QM2QM.syntax, NDR),))
        return self.feed(Pdu(bind, 1, flags, sec_trailer=self.own.build_trailer(leg)).build())

    def finish(self, token: bytes | None = None) -> list[Any]:
        """Send the auth3 PDU with the last authentication leg."""
        leg = self.own.context.process_token(LEGS[1]) if token is None else token
        return self.feed(Pdu(Auth3(), 1, sec_trailer=self.own.build_trailer(leg)).build())

    def authenticate(self, **how: Any) -> SecuredClient:
        self.begin(**how)
        assert self.finish() == []
        self.call_id = 1
        return self

    def protected(self, body: Any, flags: int = WHOLE_PDU_FLAGS, **more: Any) -> bytes:
        """Return the bytes of a protected request with the next call_id."""
        if flags & PfcFlags.FIRST_FRAG:
            self.call_id += 1
        return self.own.protect_pdu(Pdu(body, self.call_id, flags, **more))

    def opening_stub(self) -> bytes:
        """Return the stub of RemoteQMOpenQueue."""
        given = {"pLicGuid": LICENCE, "dwMQS": 0, "hQueue": 7, "pQueue": 7, "dwpContext": 7}
        return QM2QM.methods[2].build_in_parameters(given, StubEncoding())
