"""MS-MQDMPR 3.1.7.3.3 Seek Available Message Position With Id."""
