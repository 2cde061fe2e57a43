"""MS-MQQB 3.1.6.10 ReceiveSymmetricKeyCache Cleanup Timer Event, with 3.1.6.11, 3.1.6.12, 3.1.6.13."""
