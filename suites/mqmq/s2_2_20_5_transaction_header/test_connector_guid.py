"""MS-MQMQ 2.2.20.5 TransactionHeader: ConnectorQMGuid in a message that the SUT forwards. A forwarded message is
necessary because only connectors set ConnectorQMGuid.
"""

from __future__ import annotations

from uuid import UUID

from harness.expectations import fields
from harness.run.marks import covers, needs, varied
from harness.sut.releases import find_release
from suites.messages import Sequence
from suites.mqmq.steps.forwarding import forward_message
from suites.mqmq.steps.layout import Layout

CONNECTOR_GUID = UUID("6d71636f-6e66-4f72-8d00-0000000000ce")
SAMPLE_TRANSACTION_ID = 0xABCDE
"""An ID that needs all of its 20 bits."""
TRANSACTION_HEADER_PREFIX = "TransactionHeader."


@needs("private_names")
@covers("MQMQ-2.2.20.5-03", "MQMQ-2.2.20.5-20", "MQMQ-2.2.20.5-D01", "MQDMPR-3.1.7.1.32-D04")
@varied("response queue", "time to be received", acknowledgments=("none", "of arrival"))
def test_forwarded_message_keeps_connector_qm_guid(peer, sut, judge):
    """The SUT forwards a transactional message with a ConnectorQMGuid: CG is 1, and ConnectorQMGuid follows the
    sequence numbers.
    """
    place = {
        "ConnectorQMGuid": CONNECTOR_GUID,
        "TxSequenceID": Sequence(peer).identifier,
        "TxSequenceNumber": 1,
        "PreviousTxSequenceNumber": 0,
        "FM": 1,
        "LM": 0,
        "ID": SAMPLE_TRANSACTION_ID,
    }
    sent, frame = forward_message(peer, sut, user={"DM": 1}, transaction=place, base={"PR": 0}, label="connected")
    marks = {f"{TRANSACTION_HEADER_PREFIX}Flags.FM": 1, f"{TRANSACTION_HEADER_PREFIX}Flags.LM": 0}
    wanted = {
        f"{TRANSACTION_HEADER_PREFIX}Flags.CG": 1,
        **(marks if find_release(sut).sets_first_and_last_message_flags else {}),
        f"{TRANSACTION_HEADER_PREFIX}Flags.ID": SAMPLE_TRANSACTION_ID,
        f"{TRANSACTION_HEADER_PREFIX}TxSequenceNumber": 1,
        f"{TRANSACTION_HEADER_PREFIX}ConnectorQMGuid": str(CONNECTOR_GUID),
        "MessagePropertiesHeader.Label": "connected\0",
    }
    observed = Layout(frame)
    judge.all(expected=fields(wanted), observed=observed, evidence=[sent, frame])
