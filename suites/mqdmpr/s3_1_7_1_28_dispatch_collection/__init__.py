"""MS-MQDMPR 3.1.7.1.28 Add Message To Dispatch Collection, with 3.1.7.1.29 Remove Message From Dispatch Collection."""
