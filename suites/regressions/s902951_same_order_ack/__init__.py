"""REGRESSIONS 902951 KB902951 Same OrderAck after a reconnect.

MSMQ 3.0 of Windows Server 2003 SP1. A sender sends a transactional message again every 30 seconds; the receiver does
not store it and returns the same OrderAck each time. After a reconnect the sender does not send it again at all. The
token of a place in the list of messages was given to a new message before the old one was out of the list.
"""
