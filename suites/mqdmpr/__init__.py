"""Checks of MS-MQDMPR: the data model and the events that the protocols of message queuing share."""
