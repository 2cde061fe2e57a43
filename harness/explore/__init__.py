"""A system is driven beside a model of the required behaviour, and everything visible is compared."""
