"""MS-MQQB 2.3 Directory Service Schema Elements."""
