"""Utilisation and fairness of two identical flows for several algorithms and RTTs, on all processors.

Run it: python examples/compare_algorithms.py
"""

from longfat import Result, Scenario, run_many

BASE = Scenario.from_dict(
    {
        "duration": "120 s",
        "window": ["20 s", "120 s"],
        "bottleneck": {"rate": "100 Mbit/s", "buffer": "20 % BDP"},
        "flow": [
            {"algorithm": "reno", "rtt": "42 ms"},
            {"algorithm": "reno", "rtt": "42 ms", "start": "5 s"},
        ],
    }
)


def figures(result: Result) -> tuple[float | None, float | None]:
    """Runs in the worker, so that only two numbers are sent back."""
    return result.link("bottleneck").utilization, result.metrics.jain


def main() -> None:
    """Print one line per setting."""
    settings = [(name, rtt) for name in ("reno", "hstcp", "stcp", "htcp") for rtt in ("42 ms", "162 ms")]
    scenarios = [
        BASE.with_values(
            {"flow.0.algorithm": name, "flow.1.algorithm": name, "flow.0.rtt": rtt, "flow.1.rtt": rtt}
        )
        for name, rtt in settings
    ]
    measured = run_many(scenarios, reduce=figures)
    for (name, rtt), (utilization, jain) in zip(settings, measured, strict=True):
        print(f"{name:6} {rtt:>7}  utilisation {utilization:.3f}  Jain's index {jain:.3f}")


if __name__ == "__main__":
    main()
