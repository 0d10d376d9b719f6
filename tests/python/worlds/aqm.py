"""Queues, as the thesis and the guidelines have them."""


def as_published(experiment, run):
    at = run.coordinates
    queue, mix = at["queue"], at.get("mix")
    jain = {("red", "aggressive"): 0.9, ("blue", "RTTs"): 0.5}.get((queue, mix), 0.7)
    return row(
        jain=jain,
        delays=(10.0, 45.0, 10.0) if queue != "pie" else (10.0, 12.0, 10.0),
        drops=(0.01, 0.015, 0.01),
        share=0.2 if queue == "choke" and at.get("thresholds") != "31 and 94" else 0.6,
        estimated=1.1 * at.get("flows", 1),
        effective=1.05 * at.get("flows", 1),
        levels=((10.0, 100.0), (0.001, 0.01)) if queue != "pie" else ((15.0, 15.0), (0.01, 0.01)),
        dropped={"mild": 0.0012, "medium": 0.006, "heavy": 0.008}.get(at.get("level"), 0.01),
    )


def as_nobody_says(experiment, run):
    at = run.coordinates
    choke = at["queue"] == "choke"
    return row(
        jain=0.7,
        delays=(10.0, 12.0, 10.0),
        drops=(0.01, 0.015, 0.01),
        share=0.6 if choke else 0.3,
        estimated=3.0 * at.get("flows", 1),
        effective=2.0 * at.get("flows", 1),
        levels=((15.0, 16.0), (0.01, 0.015)),
        dropped=0.05,
    )


def row(jain, delays, drops, share, estimated, effective, levels, dropped):
    return {
        "drop_ratio": dropped,
        "second_wait_ms": 5.0,
        "second_drop_ratio": 0.01,
        "ack_drop_ratio": 0.002,
        "completion_s_page": 0.5,
        "completion_s_segment": 1.5,
        "completion_s_short": 0.3,
        **{f"lost_{name}": 0.01 for name in ("voice", "page", "segment", "bulk")},
        **{f"share_{name}": 0.4 for name in ("bulk", "back", "A", "B")},
        "first_goodput_share": 0.4,
        "last_goodput_share": 0.5,
        "first_loss_ratio": 0.01,
        "last_loss_ratio": 0.02,
        "jain": jain,
        "last_share": share,
        "flows_estimated": estimated,
        "flows_effective": effective,
        "below_min": 0.1,
        "delay_ms_high": levels[0][0],
        "delay_ms_low": levels[0][1],
        "drop_ratio_high": levels[1][0],
        "drop_ratio_low": levels[1][1],
        "goodput_share": 0.95,
        "delay_ms": 10.0,
        "wait_ms": 10.0,
        "span_delay_ms": 10.0,
        "delay_var": 4.0,
        "goodput_var": 0.0001,
        "covariance": 0.01,
        "history_s": [0.25, 0.75],
        "history_ms": [10.0, 20.0],
        **{f"delay_ms_{number}": value for number, value in enumerate(delays, start=1)},
        **{f"drop_ratio_{number}": value for number, value in enumerate(drops, start=1)},
    }
