"""Test three systems together: a sender, a router and a receiver. Spec: MS-MQSO 3.3.4.5."""
