"""The tester: a harness that drives a queue manager under test, records every packet and judges rules."""
