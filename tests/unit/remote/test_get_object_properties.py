"""MS-MQMP 3.1.4.9 R_QMGetObjectProperties; MS-MQMQ 2.2.7, 2.2.12: the properties of a queue, by each of its names."""

from __future__ import annotations

from uuid import UUID

import pytest
from remote_reader import ADDRESS, QM_ID, Server

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


def test_a_private_name_of_another_computer_is_not_here(server):
    described = {"m_qft": 2, "m_SuffixAndFlags": 0, "m_reserved": 0, "union": {"Lineage": UUID(int=9), "Uniquifier": 1}}
    assert ask(server, [108], {"ObjType": 1, "union": described})["Return"] == Status.MQ_ERROR_QUEUE_NOT_FOUND
    described["union"] = {"Lineage": QM_ID, "Uniquifier": 1}
    assert ask(server, [108], {"ObjType": 1, "union": described})["Return"] == Status.MQ_OK
