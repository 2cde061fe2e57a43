"""Steps that several fault files of this section share."""

from __future__ import annotations

from reference_qm.model.enums import MessageSeekAction

NEXT_AND_PREVIOUS_SEEK_ACTIONS = (MessageSeekAction.NEXT, MessageSeekAction.PREVIOUS)
