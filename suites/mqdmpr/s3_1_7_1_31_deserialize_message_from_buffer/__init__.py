"""MS-MQDMPR 3.1.7.1.31 Deserialize Message From Buffer."""
