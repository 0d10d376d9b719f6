"""The machinery of studies: many runs, each done once and kept, and what is made of them."""
