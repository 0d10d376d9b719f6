"""The live backend: a scenario on this machine's own TCP. Imports nothing: its worker starts with this package."""
