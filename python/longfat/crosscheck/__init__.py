"""Runs one scenario in the simulator and live, and draws one result over the other."""
