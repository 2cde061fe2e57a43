"""MS-MQDMPR 3.1.7.1.27 Enqueue Message To An Open Queue."""
