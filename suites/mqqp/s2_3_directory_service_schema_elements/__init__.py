"""MS-MQQP 2.3 Directory Service Schema Elements."""
