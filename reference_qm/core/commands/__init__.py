"""Take the inputs of a queue manager and carry out the commands of higher layers. Spec: MS-MQQB 3.1.4."""
