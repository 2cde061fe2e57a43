"""Steps that several fault files of this section share."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from reference_qm.codec import TransactionHeader
from reference_qm.core.queue_manager import QueueManager

headers_of_first_refused_messages: WeakKeyDictionary[QueueManager, TransactionHeader] = WeakKeyDictionary()
"""The TransactionHeader of the first message that each queue manager refused."""
