"""Faults of a server that accepts an unsupported authentication service in one kind of bind: MQSO-7.4.1.1-01."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from harness.faults.primitives import filter_inputs
from harness.faults.registry import Install, add
from reference_qm.rpc.authentication import AuthLevel, AuthType
from reference_qm.rpc.bind_bodies import Bind
from reference_qm.rpc.interfaces.qm2qm import QM2QM
from reference_qm.rpc.pdu import Pdu
from reference_qm.rpc.rpc_errors import PduError
from reference_qm.surface.inputs import Input, RpcBytesReceived


def _ignore_authentication_of_binds(when: Callable[[Pdu], bool]) -> Install:
    """Let the server ignore the authentication of the binds for which a condition is true."""

    def remove_authentication(event: Input) -> Iterable[Input]:
        if not isinstance(event, RpcBytesReceived):
            return [event]
        try:
            pdu = Pdu.parse(event.data)
        except PduError:
            return [event]
        trailer = pdu.sec_trailer
        if trailer is None or trailer.auth_type in list(AuthType) or not isinstance(pdu.body, Bind) or not when(pdu):
            return [event]
        return [replace(event, data=replace(pdu, sec_trailer=None).build())]

    return filter_inputs(remove_authentication)


def _is_bind_to_remote_reading(pdu: Pdu) -> bool:
    return any(one.abstract_syntax == QM2QM.syntax for one in pdu.body.p_context_elem)  # type: ignore[attr-defined]


def _is_authentication_level_below_privacy(pdu: Pdu) -> bool:
    return pdu.sec_trailer is not None and pdu.sec_trailer.auth_level < AuthLevel.PKT_PRIVACY


add(
    "rpc-unknown-authentication-service-accepted-for-remote-reading",
    "MQSO-7.4.1.1-01",
    "The server accepts a bind to the interface for remote reading with any authentication service.",
    _ignore_authentication_of_binds(_is_bind_to_remote_reading),
)
add(
    "rpc-unknown-authentication-service-accepted-below-privacy",
    "MQSO-7.4.1.1-01",
    "The server accepts a bind with any authentication service if the bind requests a level below privacy.",
    _ignore_authentication_of_binds(_is_authentication_level_below_privacy),
)
