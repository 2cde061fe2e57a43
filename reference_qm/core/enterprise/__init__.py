"""Starts a queue manager and makes it a member of an enterprise. Spec: MS-MQDMPR 3.1.3, MS-MQQB 3.1.3, MS-MQSO
6.6.2.
"""
