"""MS-MQSO 5.5.5 Internal Storage Failure, with 5.5.6."""
