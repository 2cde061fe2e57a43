"""Steps that several fault files of this section share."""

from __future__ import annotations

from reference_qm.model.enums import MessageSeekAction

NEIGHBOR_ACTIONS = (MessageSeekAction.NEXT, MessageSeekAction.PREVIOUS)
