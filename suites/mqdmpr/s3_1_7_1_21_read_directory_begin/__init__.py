"""MS-MQDMPR 3.1.7.1.21 Read Directory Begin."""
