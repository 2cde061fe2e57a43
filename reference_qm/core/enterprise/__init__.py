"""The queue manager in its enterprise, and its beginning. Spec: MS-MQDMPR 3.1.3, MS-MQQB 3.1.3, MS-MQSO 6.6.2."""
