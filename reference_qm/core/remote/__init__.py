"""Implements remote reading, as a server and as a client. Spec: MS-MQQP, MS-MQMP 3.1.4, 3.2.4.7."""
