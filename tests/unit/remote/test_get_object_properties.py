"""MS-MQMP 3.1.4.9 R_QMGetObjectProperties; MS-MQMQ 2.2.7, 2.2.12: the properties of a queue, by each of its names."""

from __future__ import annotations

import pytest
from remote_reader import ADDRESS, Server

from reference_qm.codec.format_error import MisuseError
from reference_qm.config import QueueSettings
from reference_qm.model.statuses import Status
from reference_qm.rpc.interfaces.propvariant import VarType

NULL = {"vt": VarType.VT_NULL, "wReserved1": 0, "wReserved2": 0, "wReserved3": 0, "_varUnion": None}
SHOP = "private$\\shop"


def direct(name: str, kind: int = 3, suffix: int = 0):
    text = f"TCP:{ADDRESS}\\{name}"
    return {"ObjType": 1, "union": {"m_qft": kind, "m_SuffixAndFlags": suffix, "m_reserved": 0, "union": text}}


def ask(server, wanted, described=None, variants=None, *, wide=False):
    reader = server.connect(wide=wide)
    variants = variants or [NULL] * len(wanted)
    described = described or direct(SHOP)
    return reader.call(
        "R_QMGetObjectProperties", pObjectFormat=described, cp=len(wanted), aProp=list(wanted), apVar=variants
    )


@pytest.fixture
def server():
    return Server(QueueSettings(SHOP, transactional=True))


@pytest.mark.parametrize("described", [direct("private$\\none"), direct(SHOP, suffix=4), {"ObjType": 1, "union": None}])
def test_no_queue_no_properties(server, described):
    assert ask(server, [108], described)["Return"] == Status.MQ_ERROR_QUEUE_NOT_FOUND


def test_variants_inside_variants_are_believed_to_a_depth(server):
    deep = NULL
    for _ in range(3):
        deep = {**NULL, "vt": VarType.VT_VECTOR | VarType.VT_VARIANT, "_varUnion": {"cElems": 1, "pElems": [deep]}}
    assert ask(server, [108], variants=[deep])["Return"] == Status.MQ_ERROR_PROPERTY
    deeper = {**NULL, "vt": VarType.VT_VECTOR | VarType.VT_VARIANT, "_varUnion": {"cElems": 1, "pElems": [deep]}}
    with pytest.raises(MisuseError, match="no arm"):
        ask(server, [108], variants=[deeper])
