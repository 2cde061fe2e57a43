from __future__ import annotations

from datetime import UTC, datetime

from reference_qm.codec import NULL_GUID, MessageClass, MessageIdentifier, PublicName
from reference_qm.core.part import QueueManagerPart
from reference_qm.model.adm import Message, Session
from reference_qm.surface.clock import Now

MONTH_NAMES = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
DAY_NAMES = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


class MessageTracing(QueueManagerPart):
    """Sends reports about traced messages. Spec: MS-MQQB 3.1.5.8.9, 3.1.7.1.7, MS-MQMQ 2.2.20.8."""

    __slots__ = ()

    def trace_received_message(self, message: Message, now: Now) -> None:
        """Send a report that a traced message arrived. Spec: MS-MQQB 3.1.5.8.9, MS-MQMQ note <23>."""
        if message.TracingRequested and self.qm.config.report_messages:
            self.send_report(message, None, now)

    def trace_sent_message(self, session: Session, message: Message, now: Now) -> None:
        """Send a report that a traced message was sent. The report contains the next hop. Spec: MS-MQQB 3.1.7.1.7."""
        if message.TracingRequested and self.qm.config.report_messages:
            self.send_report(message, session.RemoteQMAddress, now)

    def send_report(self, message: Message, next_hop: str | None, now: Now) -> None:
        """Send a report to the queue that the DebugHeader of a traced message names. Spec: MS-MQQB 3.1.5.8.9,
        3.1.7.1.7.

        If TR is set but there is no DebugHeader, or the DebugHeader names no queue, no report is sent (E33).
        """
        if message.TracingQueueIdentifier == NULL_GUID:
            return
        report = Message(
            Identifier=MessageIdentifier(self.qm.adm.Identifier, 0),
            DestinationQueueFormatName=str(PublicName(message.TracingQueueIdentifier)),
            Class=MessageClass.MQMSG_CLASS_REPORT,
            Label=self.build_report_label(message, now),
            Body=self.build_report_body(message, next_hop).encode("utf-16-le"),
            SentTime=now.utc_s,
        )
        self.qm.own_message_sending.send(report, now)

    def build_report_label(self, message: Message, now: Now) -> str:
        """Return the label of a report without a terminating null. The label contains the message identifier and
        the time (UTC, 12-hour clock).

        Spec: MS-MQQB 3.1.5.8.9.

        Both sections specify the text "received by" and the GUID of the source, even for the report that a message
        was sent.
        """
        source = str(message.Identifier.QueueManagerGuid).upper()
        at = datetime.fromtimestamp(now.utc_s, UTC)
        hour, half = at.hour % 12 or 12, "AM" if at.hour < 12 else "PM"
        date = f"{DAY_NAMES[at.weekday()]},{MONTH_NAMES[at.month - 1]} {at.day:02} {at.year % 100:02}"
        time = f"{hour:02}:{at.minute:02}:{at.second:02} {half} {date}"
        return f"{source[:4]}:{message.Identifier.Ordinal:08X}:{message.HopCount:02X} received by {source} at {time}"

    def build_report_body(self, message: Message, next_hop: str | None) -> str:
        """Return the body of a report, which describes the message and its next hop. ``next_hop`` is an address in
        text form.

        Spec: MS-MQQB 3.1.5.8.9, 3.1.7.1.7.

        The document also has the space before </HOP COUNT>.
        """
        lines = [
            f"<MESSAGE ID>{message.Identifier.Ordinal:08X}</MESSAGE ID>",
            f"<TARGET QUEUE>{message.DestinationQueueFormatName}</TARGET QUEUE>",
        ]
        if next_hop is not None:
            lines += [f"<NEXT HOP>{next_hop}</NEXT HOP>", f"<HOP COUNT>{message.HopCount:02X} </HOP COUNT>"]
        return "".join(f"{line}\r\n" for line in lines)
