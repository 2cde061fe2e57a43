"""REGRESSIONS 711348 ms711348 TimeToBeReceived of the first message.

All releases: Microsoft's page of PROPID_M_TIME_TO_BE_RECEIVED says it itself, those who build on MSMQ call it a bug
(Particular/NServiceBus issues 2886, 2941, 3092). Of the messages that are sent in one transaction all get the
TimeToBeReceived of the first. They are lost too soon, or stay for ever.
"""
