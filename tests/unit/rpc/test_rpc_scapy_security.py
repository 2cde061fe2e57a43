"""MS-RPCE 3.3.1.5.2: scapy's client, with its own NTLM and SPNEGO, verifies every signature in the shell's answers."""

from collections.abc import Iterator
from typing import ClassVar
from uuid import UUID

import pytest
import rpc_served
from rpc_served import ToyQueue, serving
from scapy.layers.dcerpc import (
    DCE_C_AUTHN_LEVEL,
    DCERPC_Transport,
    DceRpcOp,
    NDRByteField,
    NDRPacket,
    NDRShortField,
    find_dcerpc_interface,
    register_dcerpc_interface,
)
from scapy.layers.msrpce.rpcclient import DCERPC_Client
from scapy.layers.ntlm import NTLMSSP
from scapy.layers.spnego import SPNEGOSSP

from reference_qm.rpc import RpcServer
from reference_qm.shell.rpc_user import User
from reference_qm.shell.spnego_security import make_server_security

USER, PASSWORD = "tester", "Test-1"
INTERFACE = "qm2qm of the tests"
CONNECT, INTEGRITY, PRIVACY = DCE_C_AUTHN_LEVEL.CONNECT, DCE_C_AUTHN_LEVEL.PKT_INTEGRITY, DCE_C_AUTHN_LEVEL.PKT_PRIVACY
HOW = [(False, CONNECT), (False, INTEGRITY), (False, PRIVACY), (True, INTEGRITY), (True, PRIVACY)]
"""Pairs: whether the client uses SPNEGO, and the level. SPNEGO at the level connect is left out, because scapy signs
its mechListMIC where SSPI sends a dummy.
"""


class GetVersion(NDRPacket):
    fields_desc: ClassVar = []


class GetVersionResponse(NDRPacket):
    fields_desc: ClassVar = [NDRByteField("pMajor", 0), NDRByteField("pMinor", 0), NDRShortField("pBuildNumber", 0)]


register_dcerpc_interface(
    name=INTERFACE,
    uuid=UUID("1088a980-eae5-11d0-8d9b-00a02453c337"),
    version="1.0",
    opnums={8: DceRpcOp(GetVersion, GetVersionResponse)},
)


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, int]]:
    security = make_server_security([User(USER, PASSWORD)])
    monkeypatch.setattr(
        rpc_served, "RpcServer", lambda interfaces, entropy: RpcServer(interfaces, entropy, security=security)
    )
    with serving(ToyQueue()) as (where, _):
        yield where


@pytest.mark.parametrize(("wrapped", "level"), HOW)
def test_scapy_client_is_answered_at_every_authentication_level(endpoint, wrapped, level):
    ntlm = NTLMSSP(UPN=USER, PASSWORD=PASSWORD)
    provider = SPNEGOSSP([ntlm]) if wrapped else ntlm
    client = DCERPC_Client(DCERPC_Transport.NCACN_IP_TCP, auth_level=level, ssp=provider, ndr64=False, verb=False)
    client.connect(endpoint.host, port=endpoint.port)
    try:
        assert client.bind(find_dcerpc_interface(INTERFACE))
        for _ in range(3):
            answer = client.sr1_req(GetVersion(ndr64=False))
            assert (answer.pMajor, answer.pMinor, answer.pBuildNumber) == (6, 1, 6531)
    finally:
        client.close()
