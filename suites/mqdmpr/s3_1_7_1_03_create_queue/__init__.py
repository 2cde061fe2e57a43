"""MS-MQDMPR 3.1.7.1.3 Create Queue."""
