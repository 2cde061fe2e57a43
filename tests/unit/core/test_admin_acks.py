"""MS-MQQB 3.1.7.15 Send Administration Acknowledgment: the content of acknowledgments, and the acknowledgments that are
not sent.
"""

from dataclasses import replace

import pytest
from core_admin import ADMIN, classes, pair
from core_network import PLAIN, direct

from reference_qm.codec import MessageClass
from reference_qm.surface.commands import ReceiveMessage

# -- SendInsecureNacks ------------------------------------------------------------------------------------------


def test_send_insecure_nacks_setting_survives_crash():
    _, far = pair(send_insecure_nacks=True)
    far.restart()
    assert far.core.adm.SendInsecureNacks


@pytest.mark.parametrize("size", [0x3FF000, 0x400000])
def test_acknowledgment_too_large_for_a_packet_is_discarded(size):
    near, far = pair()
    message = replace(make_message(near), AdministrationQueueFormatName=direct(1, ADMIN), Body=bytes(size))
    reason = MessageClass.MQMSG_CLASS_NACK_Q_PURGED
    far.core.admin_acks.send(message, reason, far.network.now)
    far.ask(ReceiveMessage(PLAIN))
    far.network.settle()
    assert classes(near) == (["NACK_Q_PURGED"] if size < 0x400000 else [])


def make_message(near):
    """Return a message as it is stored in a queue."""
    near.send(direct(1))
    (position,) = near.core.adm.QueueCollection[PLAIN].MessagePositionList
    return position.MessageReference
