"""MS-RPCE 3.3.1.5.3, 3.3.1.5.6, 3.3.1.5.7, 3.3.3.5.5: the features and contexts that client and server negotiate in a
bind.
"""

import pytest
from rpc_made import CLIENT, DESC, UNKNOWN, Client, closed, element, features, sent

from reference_qm.rpc import QM2QM, QMCOMM, AssociationLimits, RpcServer
from reference_qm.rpc.bind_bodies import (
    AlterContext,
    AlterContextResp,
    Bind,
    BindAck,
    BindNak,
    PresentationContextResult,
)
from reference_qm.rpc.bodies import Fault, Request
from reference_qm.rpc.header import WHOLE_PDU_FLAGS, PfcFlags, SecTrailer
from reference_qm.rpc.status import FaultStatus
from reference_qm.rpc.syntaxes import NDR, NDR64, SyntaxId
from reference_qm.surface.entropy import SeededEntropy

ACCEPTED = {False: PresentationContextResult(0, 0, NDR), True: PresentationContextResult(0, 0, NDR64)}
UNKNOWN_INTERFACE = PresentationContextResult(2, 1)
OTHER_SYNTAX = PresentationContextResult(2, 2)
QQ, QC = QM2QM.syntax, QMCOMM.syntax


@pytest.mark.parametrize(
    ("proposed", "results"),
    [
        ([(QQ, NDR)], [ACCEPTED[False]]),
        ([(QQ, NDR64)], [ACCEPTED[True]]),
        ([(QQ, NDR), (QQ, NDR64)], [OTHER_SYNTAX, ACCEPTED[True]]),
        ([(QQ, NDR64), (QQ, NDR)], [ACCEPTED[True], OTHER_SYNTAX]),
        ([(QQ, NDR64), (QQ, NDR64)], [ACCEPTED[True], OTHER_SYNTAX]),
        ([(QQ, NDR), (QQ, NDR)], [ACCEPTED[False], OTHER_SYNTAX]),
        ([(QQ, NDR, NDR64)], [ACCEPTED[True]]),
        ([(QQ, UNKNOWN, NDR)], [ACCEPTED[False]]),
        ([(QQ, NDR), (QC, NDR64)], [ACCEPTED[False], ACCEPTED[True]]),
        ([(QQ, UNKNOWN)], [OTHER_SYNTAX]),
        ([(UNKNOWN, NDR), (QQ, NDR)], [UNKNOWN_INTERFACE, ACCEPTED[False]]),
        ([(SyntaxId(QQ.uuid, 2), NDR)], [UNKNOWN_INTERFACE]),
        ([(SyntaxId(QQ.uuid, 0x00010001), NDR)], [UNKNOWN_INTERFACE]),
        ([(QQ, NDR), (QQ, features(3))], [ACCEPTED[False], PresentationContextResult(3, 2)]),
        ([(QQ, NDR), (QQ, features(1))], [ACCEPTED[False], PresentationContextResult(3, 0)]),
    ],
)
def test_bind_ack_has_a_result_with_one_transfer_syntax_per_proposal(proposed, results):
    elements = [element(place, *proposal) for place, proposal in enumerate(proposed)]
    ack = Client().bind(*elements).body
    assert type(ack) is BindAck
    assert list(ack.p_result_list) == results


def test_server_chooses_its_preferred_transfer_syntax():
    client = Client(RpcServer([QM2QM], SeededEntropy("x"), preferred=NDR))
    ack = client.bind(element(0, QQ, NDR64), element(1, QQ, NDR)).body
    assert list(ack.p_result_list) == [OTHER_SYNTAX, ACCEPTED[False]]


@pytest.mark.parametrize(("offered", "agreed"), [(1432, 1432), (4280, 4280), (5840, 5840), (65535, 5840)])
def test_rpc_fragment_size_is_the_smaller_maximum_of_both_sides(offered, agreed):
    ack = Client().bind(size=offered).body
    assert (ack.max_xmit_frag, ack.max_recv_frag, ack.sec_addr) == (agreed, agreed, b"2105\0")


def test_fragment_sizes_are_limited_per_direction():
    client = Client()
    (ack,) = sent(client.send(Bind(2_000, 3_000, 0, (element(0, QQ, NDR),)), flags=WHOLE_PDU_FLAGS | PfcFlags.CONC_MPX))
    assert (ack.body.max_xmit_frag, ack.body.max_recv_frag) == (3_000, 2_000)
    described = {**DESC, "dwSize": 5_000, "lpBuffer": bytes(5_000)}
    answers = sent(client.call(0, lpRemoteReadDesc=DESC).respond(Return=0, lpRemoteReadDesc=described))
    assert len(answers[0].build()) == 3_000
    assert not closed(client.request(7, bytes(2_000 - 24)))
    assert closed(client.request(7, bytes(2_000 - 23)))


@pytest.mark.parametrize(
    "flags",
    [
        WHOLE_PDU_FLAGS,
        WHOLE_PDU_FLAGS | PfcFlags.CONC_MPX,
        WHOLE_PDU_FLAGS | PfcFlags.CONC_MPX | PfcFlags.PENDING_CANCEL,
    ],
)
def test_bind_ack_agrees_to_multiplexing_on_request_but_never_to_header_signing(flags):
    assert Client().bind(flags=flags).pfc_flags == flags & ~PfcFlags.PENDING_CANCEL


@pytest.mark.parametrize(
    ("bind", "more", "reason"),
    [
        (Bind(5840, 5840, 0, ()), {}, 4),
        (Bind(5840, 5840, 0, (element(0, QQ, NDR), element(0, QC, NDR))), {}, 4),
        (Bind(1431, 5840, 0, (element(0, QQ, NDR),)), {}, 4),
        (Bind(5840, 1431, 0, (element(0, QQ, NDR),)), {}, 4),
        (Bind(5840, 5840, 0, (element(0, QQ, NDR),)), {"flags": PfcFlags.FIRST_FRAG}, 4),
        (Bind(5840, 5840, 0, tuple(element(i, QQ, NDR) for i in range(3))), {}, 2),
        (Bind(5840, 5840, 99, (element(0, QQ, NDR),)), {}, 0),
        (Bind(5840, 5840, 0, (element(0, QQ, NDR),)), {"sec_trailer": SecTrailer(10, 5, 0, b"NTLMSSP\0")}, 8),
    ],
)
def test_invalid_bind_is_refused_with_reason_and_ends_association(bind, more, reason):
    client = Client(limits=AssociationLimits(contexts=2))
    happened = client.send(bind, 3, **more)
    (nak,) = sent(happened)
    assert (nak.body, nak.call_id) == (BindNak(reason), 3)
    assert closed(happened)
    assert len(client.server.groups) == 0


def test_bind_with_unknown_protocol_version_is_refused_with_supported_version():
    client = Client()
    wire = bytes.fromhex("04000b03 10000000 1000 0000 01000000")
    (nak,) = sent(client.feed(wire))
    assert nak.body == BindNak(4, ((5, 0),))


def test_association_group_is_joined_only_from_one_machine():
    first = Client()
    group = first.bind().body.assoc_group_id
    assert Client(first.server).bind(group=group).body.assoc_group_id == group
    assert Client(first.server, host="198.51.100.1").bind(group=group).body == BindNak(0)
    assert Client(first.server, host=CLIENT).bind().body.assoc_group_id not in (0, group)


def test_association_group_ends_with_its_last_association():
    first = Client()
    group = first.bind().body.assoc_group_id
    second = Client(first.server)
    second.bind(group=group)
    first.association.on_connection_lost()
    third = Client(first.server)
    assert third.bind(group=group).body.assoc_group_id == group
    second.association.on_connection_lost()
    third.association.on_connection_lost()
    assert Client(first.server).bind(group=group).body == BindNak(0)
    assert len(first.server.groups) == 0


def test_alter_context_adds_presentation_contexts_and_keeps_the_group():
    client = Client()
    group = client.bind().body.assoc_group_id
    answer = client.alter(element(1, QC, NDR), element(2, UNKNOWN, NDR)).body
    assert answer == AlterContextResp(5840, 5840, group, b"", (ACCEPTED[False], UNKNOWN_INTERFACE))
    assert sorted(client.association.contexts) == [0, 1]
    client.alter(element(1, QC, NDR))
    assert sorted(client.association.contexts) == [0, 1]


@pytest.mark.parametrize(
    ("alter", "more", "answer"),
    [
        (AlterContext(5840, 5840, 0, (element(0, QC, NDR),)), {}, Fault(0, FaultStatus.NCA_S_PROTO_ERROR)),
        (AlterContext(5840, 5840, 0, ()), {}, Fault(0, FaultStatus.NCA_S_PROTO_ERROR)),
        (AlterContext(5840, 5840, 0, tuple(element(i, QQ, NDR) for i in range(3))), {}, BindNak(2)),
        (
            AlterContext(5840, 5840, 0, (element(1, QC, NDR),)),
            {"sec_trailer": SecTrailer(10, 5, 0, b"NTLMSSP\0")},
            Fault(0, FaultStatus.RPC_S_UNKNOWN_AUTHN_SERVICE),
        ),
    ],
)
def test_invalid_alter_context_is_refused_and_ends_association(alter, more, answer):
    client = Client(limits=AssociationLimits(contexts=2))
    client.bind()
    happened = client.send(alter, 5, **more)
    assert [(pdu.body, pdu.call_id) for pdu in sent(happened)] == [(answer, 5)]
    assert closed(happened)


def test_a_second_bind_ends_the_association():
    client = Client()
    client.bind()
    assert client.bind().body == BindNak(4)
    assert closed(client.happened)


@pytest.mark.parametrize("body", [Request(0, 7, b""), AlterContext(5840, 5840, 0, (element(0, QQ, NDR),))])
def test_pdu_before_bind_is_a_protocol_fault(body):
    happened = Client().send(body, 1)
    assert [pdu.body.status for pdu in sent(happened)] == [FaultStatus.NCA_S_PROTO_ERROR]
    assert closed(happened)
