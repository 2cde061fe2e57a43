"""MS-MQDMPR 3.1.7.3.2 Seek Available Message Position."""
