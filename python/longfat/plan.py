"""The plan of a scenario, for scripts; the code is in `longfat.runs.plan`."""

from longfat.runs.plan import build, flow_parts, refusal

__all__ = ["build", "flow_parts", "refusal"]
