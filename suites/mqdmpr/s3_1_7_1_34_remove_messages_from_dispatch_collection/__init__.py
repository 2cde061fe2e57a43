"""MS-MQDMPR 3.1.7.1.34 Remove Messages From Dispatch Collection By Queue."""
