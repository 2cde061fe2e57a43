"""MS-MQDMPR 3.1.7.1.5 Open Queue."""
