"""MS-MQMP 3.1.4.9 R_QMGetObjectProperties; MS-MQMQ 2.2.7, 2.2.12: the properties of a queue, requested by each of its
names.
"""

from __future__ import annotations

from uuid import UUID

import pytest
from remote_reader import ADDRESS, QM_ID, Server

from reference_qm.codec.format_error import MisuseError
from reference_qm.config import QueueSettings
from reference_qm.model.statuses import Status
from reference_qm.rpc.interfaces.propvariant import VarType

NULL = {"vt": VarType.VT_NULL, "wReserved1": 0, "wReserved2": 0, "wReserved3": 0, "_varUnion": None}
SHOP = "private$\\shop"
WIDE = pytest.mark.parametrize("wide", [False, True], ids=["NDR", "NDR64"])


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


@WIDE
def test_queue_properties_are_returned_with_their_variant_types(server, wide):
    found = ask(server, range(101, 114), wide=wide)
    assert found["Return"] == Status.MQ_OK
    properties = {101 + place: (VarType(one["vt"]).name, one["_varUnion"]) for place, one in enumerate(found["apVar"])}
    assert properties[103] == ("VT_LPWSTR", SHOP)
    assert properties[104] == ("VT_UI1", 0)
    assert properties[105] == ("VT_UI4", 0xFFFFFFFF)
    assert properties[106] == ("VT_I2", 0)
    assert properties[112] == ("VT_UI4", 1)
    assert properties[113] == ("VT_UI1", 1)
    assert {properties[109][0], properties[110][0]} == {"VT_I4"}
    assert isinstance(properties[102][1], UUID)


def test_unknown_queue_property_and_wrong_variant_type_are_refused(server):
    wrong = {**NULL, "vt": VarType.VT_UI1, "_varUnion": 0}
    assert ask(server, [108], variants=[wrong])["Return"] == Status.MQ_ERROR_PROPERTY
    assert ask(server, [999])["Return"] == Status.MQ_ERROR_PROPERTY
    right = {**NULL, "vt": VarType.VT_LPWSTR, "_varUnion": "old"}
    assert ask(server, [108], variants=[right])["Return"] == Status.MQ_OK


@pytest.mark.parametrize("described", [direct("private$\\none"), direct(SHOP, suffix=4), {"ObjType": 1, "union": None}])
def test_properties_of_missing_queue_are_refused(server, described):
    assert ask(server, [108], described)["Return"] == Status.MQ_ERROR_QUEUE_NOT_FOUND


def test_private_name_of_other_computer_gives_queue_not_found(server):
    described = {"m_qft": 2, "m_SuffixAndFlags": 0, "m_reserved": 0, "union": {"Lineage": UUID(int=9), "Uniquifier": 1}}
    assert ask(server, [108], {"ObjType": 1, "union": described})["Return"] == Status.MQ_ERROR_QUEUE_NOT_FOUND
    described["union"] = {"Lineage": QM_ID, "Uniquifier": 1}
    assert ask(server, [108], {"ObjType": 1, "union": described})["Return"] == Status.MQ_OK


def test_nested_variants_are_limited_in_depth(server):
    deep = NULL
    for _ in range(3):
        deep = {**NULL, "vt": VarType.VT_VECTOR | VarType.VT_VARIANT, "_varUnion": {"cElems": 1, "pElems": [deep]}}
    assert ask(server, [108], variants=[deep])["Return"] == Status.MQ_ERROR_PROPERTY
    deeper = {**NULL, "vt": VarType.VT_VECTOR | VarType.VT_VARIANT, "_varUnion": {"cElems": 1, "pElems": [deep]}}
    with pytest.raises(MisuseError, match="no arm"):
        ask(server, [108], variants=[deeper])
