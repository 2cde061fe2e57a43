"""Faults that change the DCE/RPC PDUs which a queue manager sends."""

from dataclasses import replace

import pytest

from harness.faults.primitives import change_pdus
from harness.faults.registry import FaultyCore
from reference_qm.rpc.bodies import CoCancel, Fault, Request
from reference_qm.rpc.pdu import Pdu
from reference_qm.surface.effects import SendPacket, SendRpcBytes

REQUEST = Pdu(Request(p_cont_id=0, opnum=1, stub=b"stub"), call_id=7).build()


def sent(install, *effects):
    faulty = FaultyCore(None)
    install(faulty)
    return faulty._filter_effects(list(effects))


@pytest.mark.parametrize("send", [SendPacket, SendRpcBytes])
def test_pdu_fault_changes_bodies_of_its_kind_from_any_sender(send):
    (changed,) = sent(change_pdus(Request, lambda request: replace(request, opnum=2)), send("1", REQUEST))
    assert Pdu.parse(changed.data) == replace(Pdu.parse(REQUEST), body=Request(p_cont_id=0, opnum=2, stub=b"stub"))


def test_changed_body_of_none_drops_pdu():
    assert sent(change_pdus(Request, lambda request: None), SendPacket("1", REQUEST)) == []


def test_pdu_fault_leaves_other_pdus_and_bytes_unchanged():
    effects = [
        SendPacket("1", Pdu(CoCancel(), call_id=7).build()),
        SendRpcBytes("1", Pdu(Fault(p_cont_id=0, status=5), call_id=7).build()),
        SendPacket("1", b"\x10 a packet of message queuing"),
    ]
    assert sent(change_pdus(Request, lambda request: None), *effects) == effects
