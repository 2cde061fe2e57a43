"""REGRESSIONS 831160 KB831160 Remote read of the second message.

MSMQ 3.0 of Windows Server 2003, whose remote reading was new. A remote read may return the second message of a queue in
place of the first, because calls of a client may be carried out in another order than that in which it made them. With
the fix the server carries them out one after the other.
"""
