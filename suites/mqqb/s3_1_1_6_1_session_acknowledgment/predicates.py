"""Judge the fields of recoverable messages in every SessionHeader. Spec: MS-MQQB 3.1.1.6.1."""

from __future__ import annotations

from harness.judging.passive import passive
from suites.mqmq.steps.session_headers import (
    SESSION_ACK_KIND,
    USER_MESSAGE_KIND,
    make_session_header_predicate,
    make_zero_before_first_recoverable_message_predicate,
)

for rule, field in (
    ("MQQB-3.1.1.6.1-03", "RecoverableMsgAckSeqNumber"),
    ("MQQB-3.1.1.6.1-04", "RecoverableMsgAckFlags"),
):
    passive(
        rule,
        (SESSION_ACK_KIND, USER_MESSAGE_KIND),
        f"{field} is 0 while no recoverable message has arrived",
        of_system=True,
    )(make_session_header_predicate(make_zero_before_first_recoverable_message_predicate(field)))
