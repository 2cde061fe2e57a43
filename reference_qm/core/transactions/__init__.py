"""Units of work: several messages sent, received or moved as one. Spec: MS-MQDMPR 3.1.1.14, 3.1.4.3 to 3.1.4.10."""
