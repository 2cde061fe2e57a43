"""MS-MQDMPR 3.1.7.1.8 Create Transaction."""
