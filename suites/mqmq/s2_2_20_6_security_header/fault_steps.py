"""Steps that several fault files of this section share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reference_qm.codec import SecurityHeader, UserMessagePacket

SecurityCheck = Callable[[UserMessagePacket, SecurityHeader], Any]
