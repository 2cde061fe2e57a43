"""MS-MQDMPR 3.1.7.1.25 Check Directory Online."""
