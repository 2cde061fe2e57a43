"""MS-MQDMPR 3.1.7.1.19 Delete Directory Object."""
