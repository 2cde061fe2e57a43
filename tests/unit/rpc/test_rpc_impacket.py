"""MS-MQQP 2.1, 2.2: impacket's client, with its own PDUs, NDR and NDR64, calls the shell of the reference."""

from ipaddress import IPv4Address

import pytest
from impacket.dcerpc.v5 import epm
from impacket.dcerpc.v5.rpcrt import RPC_C_AUTHN_LEVEL_PKT_INTEGRITY, DCERPC_v5, DCERPCException
from impacket.uuid import uuidtup_to_bin
from impacket_calls import (
    HANDLE,
    NoSuchMethod,
    R_QMOpenRemoteQueue,
    RemoteQMCancelReceive,
    RemoteQMCancelReceiveResponse,
    RemoteQMCloseQueue,
    RemoteQMEndReceive,
    RemoteQMGetQMQMServerPort,
    RemoteQmGetVersion,
    RemoteQMOpenQueue,
    RemoteQMPurgeQueue,
    RemoteQMStartReceive,
    RemoteQMStartReceive2,
    RemoteQMStartReceiveResponse,
)
from rpc_made import DESC, LICENCE
from rpc_served import CANCELLED, INVALID_HANDLE, RESPONSE_TIMEOUT_S, RecordingTransport, ToyQueue, message, serving

from reference_qm.rpc import QM2QM
from reference_qm.rpc.mapper import EndpointMapper, MappedEndpoint

QQ = uuidtup_to_bin(("1088a980-eae5-11d0-8d9b-00a02453c337", "1.0"))
QC = uuidtup_to_bin(("fdb3a030-065f-11d1-bb9b-00a024ea5525", "1.0"))
SYNTAXES = {
    "NDR": ("8a885d04-1ceb-11c9-9fe8-08002b104860", "2.0"),
    "NDR64": ("71710533-beba-4937-8319-b5dbef9ccc36", "1.0"),
}


class Impacket:
    """A bound client of impacket; ``login``: the authentication level, the user and the password for NTLM."""

    def __init__(self, endpoint, interface=QQ, syntax="NDR", multiplexed=False, login=None):
        self.transport = RecordingTransport(endpoint, multiplexed)
        if login is not None:
            self.transport.set_credentials(*login[1:])
        self.dce = DCERPC_v5(self.transport)
        self.dce.connect()
        if login is not None:
            self.dce.set_auth_level(login[0])
        try:
            self.dce.bind(interface, transfer_syntax=SYNTAXES[syntax])
        except DCERPCException:
            self.dce.disconnect()
            raise

    def request(self, call, **fields):
        for name, value in fields.items():
            call[name] = value
        return self.dce.request(call, checkError=False)

    def open_queue(self):
        fields = {"pLicGuid": LICENCE.bytes_le, "dwMQS": 0, "hQueue": 7, "pQueue": 7, "dwpContext": 7}
        return self.request(RemoteQMOpenQueue(), **fields)["phContext"]

    def describe(self, description, **change):
        for name, value in {**DESC, **change}.items():
            if name != "lpBuffer":
                description[name] = value
        description["lpBuffer"] = b"" if change.get("lpBuffer") else _NULL
        return description

    def receiving(self, number, timeout=0):
        call = RemoteQMStartReceive()
        self.describe(call["lpRemoteReadDesc"], dwRequestID=number, ulTimeout=timeout)
        return call


_NULL = epm.NULL


@pytest.fixture
def toy():
    return ToyQueue()


@pytest.fixture
def endpoint(toy):
    with serving(toy) as (where, _):
        yield where


@pytest.fixture(params=SYNTAXES)
def client(endpoint, request):
    made = Impacket(endpoint, syntax=request.param)
    yield made
    made.dce.disconnect()


def test_impacket_scalars_round_trip(client):
    assert client.request(RemoteQMGetQMQMServerPort(), dwPortType=1)["Port"] == 2105
    version = client.request(RemoteQmGetVersion())
    assert (version["pMajor"], version["pMinor"], version["pBuildNumber"]) == (6, 1, 6531)


def test_closed_handle_of_impacket_gives_context_mismatch(client, toy):
    handle = client.open_queue()
    assert handle["Uuid"] != bytes(16)
    closed = client.request(RemoteQMCloseQueue(), pphContext=handle)
    assert (closed["ErrorCode"], closed["pphContext"]["Uuid"]) == (0, bytes(16))
    with pytest.raises(DCERPCException, match="nca_s_fault_context_mismatch"):
        client.request(RemoteQMCloseQueue(), pphContext=handle)
    null = HANDLE()
    null["Uuid"] = bytes(16)
    assert client.request(RemoteQMCloseQueue(), pphContext=null)["ErrorCode"] == INVALID_HANDLE


@pytest.mark.parametrize("size", [0, 1, 300, 5_700, 70_000])
def test_impacket_receives_messages_of_all_sizes_whole_and_in_fragments(client, size):
    answer = client.dce.request(client.receiving(size), checkError=False)
    assert (answer["ErrorCode"], answer["lpRemoteReadDesc"]["dwSize"]) == (0, size)
    assert answer["lpRemoteReadDesc"]["Reserved"] == 1
    buffer = answer["lpRemoteReadDesc"]["lpBuffer"]
    assert (b"".join(buffer) if size else buffer) == message(size)
    ended = client.request(RemoteQMEndReceive(), pphContext=answer["pphContext"], dwAck=2)
    assert ended["ErrorCode"] == 0


@pytest.mark.parametrize("size", [8, 100])
def test_fragmented_request_of_impacket_is_reassembled(client, size):
    client.dce.set_max_fragment_size(size)
    answer = client.dce.request(client.receiving(300), checkError=False)
    assert answer["lpRemoteReadDesc"]["dwSize"] == 300
    requests = [data for sent, data in client.transport.traffic if sent][1:]
    assert len(requests) == -(-len(requests_stub(requests)) // size)


def requests_stub(requests):
    return b"".join(data[24:] for data in requests)


def test_impacket_cancels_its_waiting_receive_on_one_association(endpoint, toy):
    client = Impacket(endpoint, multiplexed=True)
    waiting, cancel = client.receiving(5, timeout=0xFFFFFFFF), RemoteQMCancelReceive()
    for name, value in {"hQueue": 7, "pQueue": 7, "dwRequestID": 5}.items():
        cancel[name] = value
    client.dce.call(waiting.opnum, waiting)
    assert toy.arrived.wait(RESPONSE_TIMEOUT_S)
    client.dce.call(cancel.opnum, cancel)
    answers = client.dce.recv(), client.dce.recv()
    assert RemoteQMStartReceiveResponse(answers[0])["ErrorCode"] == CANCELLED
    assert RemoteQMCancelReceiveResponse(answers[1])["ErrorCode"] == 0
    client.dce.disconnect()


def test_impacket_structure_pointer_and_null_pointer_are_read(client):
    call = RemoteQMStartReceive2()
    client.describe(call["lpRemoteReadDesc2"]["pRemoteReadDesc"], dwRequestID=4)
    call["lpRemoteReadDesc2"]["SequentialId"] = 0
    answer = client.dce.request(call, checkError=False)
    assert answer["lpRemoteReadDesc2"]["SequentialId"] == 0x00FFEEDDCCBBAA99
    assert answer["lpRemoteReadDesc2"]["pRemoteReadDesc"]["dwRequestID"] == 4
    call = RemoteQMStartReceive2()
    call["lpRemoteReadDesc2"]["pRemoteReadDesc"] = _NULL
    call["lpRemoteReadDesc2"]["SequentialId"] = 0
    assert client.dce.request(call, checkError=False)["ErrorCode"] == INVALID_HANDLE


@pytest.mark.parametrize("syntax", SYNTAXES)
def test_impacket_union_with_a_string_is_read(endpoint, toy, syntax):
    client = Impacket(endpoint, QC, syntax)
    call = R_QMOpenRemoteQueue()
    name = call["pQueueFormat"]
    name["m_qft"], name["m_SuffixAndFlags"], name["m_reserved"] = 3, 0, 0
    name["Union"]["tag"] = 3
    name["Union"]["m_pDirectID"] = "OS:host\\private$\\q\0"
    for field, value in {"dwCallingProcessID": 0, "dwDesiredAccess": 1, "dwShareMode": 0, "dwMQS": 0}.items():
        call[field] = value
    call["pLicGuid"] = LICENCE.bytes_le
    answer = client.dce.request(call)
    assert (answer["pdwContext"], answer["phQueue"]) == (7, 7)
    client.dce.disconnect()
    assert toy.quiet.wait(RESPONSE_TIMEOUT_S)
    (state,) = toy.run_down
    assert state[1] == {"m_qft": 3, "m_SuffixAndFlags": 0, "m_reserved": 0, "union": "OS:host\\private$\\q"}


@pytest.mark.parametrize(
    ("call", "fields", "why"),
    [
        (NoSuchMethod, {}, "nca_s_op_rng_error"),
        (RemoteQMGetQMQMServerPort, {"dwPortType": 4}, "rpc_x_bad_stub_data"),
        (RemoteQMPurgeQueue, {"hQueue": 7}, "0xc00e0007|c00e0007|handle"),
    ],
)
def test_impacket_reads_the_status_of_an_rpc_fault(client, call, fields, why):
    with pytest.raises(DCERPCException, match=rf"(?i){why}"):
        client.request(call(), **fields)
    assert client.request(RemoteQMGetQMQMServerPort(), dwPortType=1)["Port"] == 2105


def test_bind_of_impacket_with_unknown_interface_or_authentication_is_refused(endpoint):
    dce = DCERPC_v5(RecordingTransport(endpoint))
    dce.connect()
    with pytest.raises(DCERPCException, match="abstract_syntax_not_supported"):
        dce.bind(uuidtup_to_bin(("deadbeef-0000-4000-8000-000000000001", "1.0")))
    dce.disconnect()
    dce.connect()
    dce.set_credentials("user", "password")
    dce.set_auth_level(RPC_C_AUTHN_LEVEL_PKT_INTEGRITY)
    dce.get_rpc_transport().set_credentials("user", "password")
    with pytest.raises(DCERPCException, match="Authentication type not recognized"):
        dce.bind(QQ)
    dce.disconnect()


def test_vanished_impacket_client_leaves_no_context_handle(endpoint, toy):
    client = Impacket(endpoint)
    client.open_queue()
    client.dce.disconnect()
    assert toy.quiet.wait(RESPONSE_TIMEOUT_S)
    assert toy.run_down == [("queue", LICENCE)]


@pytest.mark.parametrize("syntax", SYNTAXES)
def test_impacket_finds_the_port_of_an_interface_by_the_endpoint_mapper(syntax):
    mapper = EndpointMapper([MappedEndpoint(QM2QM, IPv4Address("127.0.0.1"), 2105)])
    with serving(mapper) as (endpoint, _):
        for interface, found in ((QQ, "ncacn_ip_tcp:127.0.0.1[2105]"), (QC, None)):
            dce = DCERPC_v5(RecordingTransport(endpoint))
            dce.connect()
            representation = uuidtup_to_bin(SYNTAXES[syntax])
            if found is None:
                with pytest.raises(DCERPCException, match="ept_s_not_registered"):
                    epm.hept_map("127.0.0.1", interface, representation, "ncacn_ip_tcp", dce)
            else:
                assert epm.hept_map("127.0.0.1", interface, representation, "ncacn_ip_tcp", dce) == found
            dce.disconnect()
