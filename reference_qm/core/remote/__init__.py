"""Implements remote reading, as server and as client. Spec: MS-MQQP, MS-MQMP 3.1.4, 3.2.4.7."""
