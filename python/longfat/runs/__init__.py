"""From a scenario to a result: the plan, the simulator, worker processes, metrics and theory."""
