"""MS-MQDMPR 3.1.7.1.18 Create Directory Object."""
