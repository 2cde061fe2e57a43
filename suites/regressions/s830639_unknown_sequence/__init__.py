"""REGRESSIONS 830639 KB830639 Acknowledgment of an unknown sequence.

MSMQ 2.0 of Windows 2000. Behind a NAT, after a change of address or among cloned machines with one GUID, somebody gets
the order acknowledgment of a sequence that he never sent. It is processed as if it were one of his own: the lists of
messages are damaged, and in the end the service crashes. The fix refuses such an acknowledgment.
"""
