"""The start of a queue manager and its place in the enterprise. Spec: MS-MQDMPR 3.1.3, MS-MQQB 3.1.3, MS-MQSO 6.6.2."""
