"""The reader of packetdrill's scripts, the comparison with a sender, and small scripts of our own."""

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "validation" / "packetdrill"))

import scripts
from applies import NotApplicableError, handshake
from language import Call, Code, Command, Packet, ScriptError, When, parse
from segments import PartError, Segments
from sender import Profile, Sent, build
from statements import CodeError, Failed, Statements
from verdicts import Verdict, compare

OWN = Path(__file__).parent / "packetdrill"
HANDSHAKE = """
    0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
   +0 < S 0:0(0) win 5000 <mss 700,sackOK,nop,nop,nop,wscale 3>
   +0 > S. 0:0(0) ack 1 <mss 1460,nop,nop,sackOK,nop,wscale 8>
 +.05 < . 1:1(0) ack 1 win 2000
   +0 accept(3, ..., ...) = 4
"""


def script(text: str) -> Any:
    return parse(text, Path("own.pkt"))


def the_packet(text: str) -> Packet:
    (event,) = script(text).events
    assert isinstance(event.what, Packet)
    return event.what


class Told:
    """A sender that sends these segments at these times (ns), and records what happened to it."""

    def __init__(self, sends: dict[int, list[int]], **state: Any) -> None:
        self.sends = dict(sends)
        self.orders: list[dict[str, Any]] = []
        self.profiles: list[Profile] = []
        self.next = 0
        self.given = state

    def __call__(self, profile: Profile) -> "Told":
        self.profiles.append(profile)
        return self

    @property
    def state(self) -> dict[str, Any]:
        usual = {"stage": "Avoidance", "cwnd": 10.9, "ssthresh": None, "base": 0, "next": self.next}
        counts = dict.fromkeys(("sacked", "lost", "again", "backoffs", "retransmits"), 0)
        times = {"srtt_ns": 50_000_000, "rtt_variation_ns": 25_000_000, "base_rtt_ns": 50_000_000}
        return {**usual, **counts, **times, "wake": min(self.sends, default=None), **self.given}

    def tell(self, at: int, **order: Any) -> list[Sent]:
        if order:
            self.orders.append({"at": at, **order})
        due = []
        for time in sorted(time for time in self.sends if time <= at):
            for seq in self.sends.pop(time):
                due.append(Sent(time, seq, seq < self.next, False, None, False))
                self.next = max(self.next, seq + 1)
        return due


def verdict(text: str, sends: dict[int, list[int]] | None = None, **state: Any) -> Verdict:
    return compare(script(text), Told(sends or {}, **state))


def first(text: str, sends: dict[int, list[int]] | None = None, **state: Any) -> tuple[str, str]:
    found = verdict(text, sends, **state)
    assert found.word == "fail", found
    return found.differences[0].expected, found.differences[0].found


@pytest.mark.parametrize(
    ("text", "when"),
    [
        ("0", When(0)),
        ("1.25", When(1_250_000_000)),
        ("+.0035", When(3_500_000, relative=True)),
        ("+.3~+.31", When(300_000_000, 310_000_000, relative=True)),
        ("0.1~0.2", When(100_000_000, 200_000_000)),
        ("+0...0.010", When(0, relative=True)),
        ("*", When(relative=True, anyhow=True)),
    ],
)
def test_a_time_is_absolute_relative_a_range_or_any(text: str, when: When) -> None:
    (event,) = script(f"{text} > . 1:701(700) ack 1").events
    assert event.when == when


def test_a_packet_has_flags_sequence_numbers_a_window_and_options() -> None:
    packet = the_packet(
        "+0 < [ect1] E. 1:1(0) ack 801 win 60 <nop,nop,TS val 20 ecr 7,sack 1601:2401 3201:4001> // so"
    )
    assert (packet.inbound, packet.flags, packet.ack, packet.window, packet.ip) == (
        True,
        "E.",
        801,
        60,
        "ect1",
    )
    assert packet.options.sack == ((1601, 2401), (3201, 4001))
    assert packet.options.stamp == (20, 7)
    assert packet.length == 0
    opening = the_packet("+0 > S 0:0(0) <mss 1460,sackOK,TS val 100 ecr 0,nop,wscale 8,FO abcd>").options
    assert (opening.mss, opening.sack_ok, opening.wscale, opening.others) == (1460, True, 8, ("FO",))


def test_calls_commands_and_code_span_lines_and_comments_are_left_out() -> None:
    found = script("""
        --tolerance_usecs=9000
        // a comment
        `../common/defaults.sh
        sysctl -q net.ipv4.tcp_ecn=0  # another
        # a third`
        0 sendmsg(4, {msg_name(...)=...,
                      msg_iov(1)=[{..., 40}]}, 0) = 40   // (a fourth)
        /* a fifth */
        +0 %{
        assert tcpi_snd_cwnd == 3, "%d" % tcpi_snd_cwnd  # a sixth
        }%
    """)
    command, call, code = (event.what for event in found.events)
    assert found.settings == {"tolerance_usecs": "9000"}
    assert command == Command(("../common/defaults.sh", "sysctl -q net.ipv4.tcp_ecn=0"))
    assert isinstance(call, Call)
    assert (call.name, call.result) == ("sendmsg", "40")
    assert isinstance(code, Code)
    assert found.events[1].line == 7


@pytest.mark.parametrize("text", ["+0 read(4", "soon > . 1:2(1)", "+0 %{ assert 1", "+0 < udp (100)", "+0 ?"])
def test_what_is_not_understood_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(ScriptError, match="line 2"):
        script("\n" + text)


def test_statements_keep_variables_and_name_what_differs() -> None:
    statements = Statements()
    info = {"tcpi_snd_cwnd": 12, "tcpi_ca_state": 3}
    assert (
        statements.check(
            "cwnd = 10\ncwnd += 2; assert tcpi_snd_cwnd == cwnd, tcpi_snd_cwnd; print(cwnd)", info
        )
        == []
    )
    failed = statements.check(
        "\n assert tcpi_ca_state == TCP_CA_Open, 'ca_state: %d' % tcpi_ca_state\n", info
    )
    assert failed == [Failed("tcpi_ca_state == TCP_CA_Open", "tcpi_ca_state = TCP_CA_Recovery")]
    assert statements.check("assert 11 <= tcpi_snd_cwnd < 13 and not tcpi_snd_cwnd == 11", info) == []
    assert statements.held == 2


def test_an_assertion_about_what_the_model_has_not_is_counted_as_left_out() -> None:
    statements = Statements()
    assert statements.check("assert tcpi_reordering == 5, tcpi_reordering", {}) == []
    assert (statements.held, statements.unknown) == (0, ["tcpi_reordering"])


@pytest.mark.parametrize(
    "text",
    [
        "import os",
        "assert __import__('os')",
        "assert open('x')",
        "assert (1).real",
        "while 1: pass",
        "assert (",
    ],
)
def test_python_beyond_statements_about_tcp_info_is_refused(text: str) -> None:
    with pytest.raises(CodeError):
        Statements().check(text, {})


def test_bytes_become_segments_and_a_last_one_that_has_not_left_takes_more() -> None:
    segments = Segments(700)
    assert segments.write(1500, 0) == 3
    assert segments.write(600, 2) == 0
    assert segments.edges == [1, 701, 1401, 2101]
    assert segments.write(100, 3) == 1
    assert segments.write(700, 4) == 1  # the short one has left
    assert segments.edges == [1, 701, 1401, 2101, 2201, 2901]
    assert [segments.acknowledged(number, False) for number in (1, 701, 2201, 2901, 2902)] == [0, 1, 4, 5, 6]
    assert segments.acknowledged(2902, True) == 5
    with pytest.raises(PartError, match="700"):
        segments.acknowledged(700, False)


def test_a_sack_block_counts_its_whole_segments_only() -> None:
    segments = Segments(700)
    segments.write(3500, 0)
    assert segments.block(701, 2101) == (1, 3)
    assert segments.block(702, 2800) == (2, 3)
    assert segments.block(2800, 2801) is None
    assert segments.within(1, 1401) == [0, 1]
    assert segments.within(1, 1400) is None


def test_what_happens_to_the_sender_is_what_the_script_says() -> None:
    told = Told({50_000_000: [0, 1, 2], 120_000_000: [0]})
    found = compare(
        script(
            HANDSHAKE
            + """
   +0 write(4, ..., 2100) = 2100
   +0 > P. 1:2101(2100) ack 1
 +.06 < . 1:1(0) ack 1 win 350 <sack 701:1401,nop,nop>
 +.01 > . 1:701(700) ack 1
 +.05 < F. 1:1(0) ack 2101 win 350
"""
        ),
        told,
    )
    assert (found.word, found.packets) == ("pass", 2), found
    assert told.profiles == [Profile("cubic", 700, timestamps=False, sack=True, ecn=False)]
    # windows: shifted by 3 bits once the connection is open, in whole segments
    assert told.orders == [
        {"at": 0, "open": True},
        {"at": 50_000_000, "answer": True, "window": 22},
        {"at": 50_000_000, "write": 3},
        {
            "at": 110_000_000,
            "ack": {"seq": 0, "sack": [(1, 2)], "stamp": None, "echo": False},
            "window": 4,
        },
        {"at": 170_000_000, "ack": {"seq": 3, "sack": [], "stamp": None, "echo": False}, "window": 4},
    ]


def test_an_acknowledgement_echoes_the_time_of_the_packet_with_that_timestamp() -> None:
    told = Told({60_000_000: [0, 1]})
    text = """
    0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
 +.01 > S 0:0(0) <mss 1460,sackOK,TS val 11 ecr 0,nop,wscale 8>
 +.04 < S. 0:0(0) ack 1 win 9000 <mss 912,sackOK,TS val 50 ecr 11>
   +0 > . 1:1(0) ack 1 <nop,nop,TS val 12 ecr 50>
   +0 write(3, ..., 1800) = 1800
 +.01 > P. 1:1801(1800) ack 1 <nop,nop,TS val 13 ecr 50>
 +.04 < . 1:1(0) ack 1801 win 9000 <nop,nop,TS val 51 ecr 13>
"""
    assert compare(script(text), told).word == "pass"
    assert told.profiles[0] == Profile("cubic", 900, timestamps=True, sack=True, ecn=False)
    assert told.orders[-1]["ack"]["stamp"] == 60_000_000
    unknown = compare(script(text.replace("ecr 13", "ecr 14")), Told({60_000_000: [0, 1]}))
    assert unknown.reason == "the echo of a timestamp that no packet had, 14"


WRITES = HANDSHAKE + "   +0 write(4, ..., 1400) = 1400\n"


@pytest.mark.parametrize(
    ("line", "sends", "within"),
    [
        ("   +0 > P. 1:1401(1400) ack 1", {50_000_000: [0, 1]}, True),
        ("   +0 > P. 1:1401(1400) ack 1", {54_000_000: [0, 1]}, True),
        ("   +0 > P. 1:1401(1400) ack 1", {54_000_001: [0, 1]}, False),
        ("   +0 > P. 1:1401(1400) ack 1", {50_000_000: [0], 55_000_000: [1]}, False),
        # an eighth of the time since the event before
        (" +.08 > P. 1:1401(1400) ack 1", {140_000_000: [0, 1]}, True),
        (" +.08 > P. 1:1401(1400) ack 1", {140_000_001: [0, 1]}, False),
        (" +.08 > P. 1:1401(1400) ack 1", {120_000_000: [0, 1]}, True),
        (" +.08 > P. 1:1401(1400) ack 1", {119_999_999: [0, 1]}, False),
        ("+.02~+.03 > P. 1:1401(1400) ack 1", {84_000_000: [0, 1]}, True),
        ("+.02~+.03 > P. 1:1401(1400) ack 1", {84_000_001: [0, 1]}, False),
        ("+.02~+.03 > P. 1:1401(1400) ack 1", {66_000_000: [0, 1]}, True),
        ("+.02~+.03 > P. 1:1401(1400) ack 1", {65_999_999: [0, 1]}, False),
        ("    * > P. 1:1401(1400) ack 1", {940_000_000: [0, 1]}, True),
    ],
)
def test_a_segment_may_be_off_by_the_tolerance_of_packetdrill(
    line: str, sends: dict[int, list[int]], within: bool
) -> None:
    found = verdict(WRITES + line, sends)
    assert (found.word == "pass") == within, found


def test_other_segments_and_silence_are_differences() -> None:
    wanted = WRITES + "   +0 > P. 1:1401(1400) ack 1"
    assert first(wanted, {50_000_000: [1]}) == ("1:1401", "701:1401 at 0.050 s")
    assert first(wanted) == ("1:1401", "nothing within 10 s")
    assert first(wanted, {90_000_000: [0, 1]}) == ("1:1401 at 0.050 s", "0.090 s")
    again = {50_000_000: [0, 1, 0], 80_000_000: [1]}
    assert first(wanted + "\n +.03 > . 701:1401(700) ack 1", again) == ("701:1401", "1:701 again at 0.050 s")
    # as in packetdrill, what leaves after the last packet that the script expects is of no account
    assert verdict(wanted, {50_000_000: [0, 1, 0]}).word == "pass"


def test_the_values_of_tcp_info_are_those_of_the_sender() -> None:
    holds = (
        HANDSHAKE
        + """
   +0 %{
assert tcpi_snd_cwnd == 10 and tcpi_snd_ssthresh == 0x7fffffff
assert tcpi_rtt == 50000 and tcpi_rttvar == 25000 and tcpi_min_rtt == 50000 and tcpi_snd_mss == 700
assert tcpi_ca_state == TCP_CA_Disorder and tcpi_sacked == 2
}%"""
    )
    found = verdict(holds, sacked=2)
    assert (found.word, found.statements) == ("pass", 3)
    for stage, name in [
        ("Reducing", "CWR"),
        ("Recovery", "Recovery"),
        ("Loss", "Loss"),
        ("SlowStart", "Open"),
    ]:
        state = HANDSHAKE + f" +0 %{{ assert tcpi_ca_state == TCP_CA_{name} }}%"
        assert verdict(state, stage=stage).word == "pass"
        assert verdict(state, stage="Recovery" if stage == "Loss" else "Loss").word == "fail"
    assert first(HANDSHAKE + " +0 %{ assert tcpi_snd_cwnd == 11, tcpi_snd_cwnd }%") == (
        "tcpi_snd_cwnd == 11",
        "tcpi_snd_cwnd = 10",
    )


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("+0 epoll_create(1) = 5", "the system call epoll_create"),
        ("+0 setsockopt(4, SOL_SOCKET, SO_ZEROCOPY, [1], 4) = 0", "the socket option SO_ZEROCOPY"),
        ('+0 setsockopt(4, SOL_TCP, TCP_CONGESTION, "bbr", 3) = 0', "the congestion control bbr"),
        ("+0 send(4, ..., 700, MSG_EOR) = 700", "flags of send: MSG_EOR"),
        ("+0 `sysctl -q net.ipv4.tcp_slow_start_after_idle=1`", "the sysctl tcp_slow_start_after_idle = 1"),
        ("+0 `sysctl -q net.ipv4.tcp_limit_output_bytes=1`", "the sysctl tcp_limit_output_bytes = 1"),
        ("+0 `tc qdisc replace dev tun0 root fq`", "pacing by the queueing discipline fq"),
        ("+0 `tc qdisc replace dev tun0 root pfifo limit 0`", "a host that drops its own packets"),
        ("+0 `/sbin/iptables -F`", "the command iptables"),
        ("+0 < R. 1:1(0) ack 1 win 0", "resets"),
        ("+0 < . 1:1(0) ack 701 win 0", "probes of a zero window"),
        ("+0 < . 1:1(0) ack 501 win 100", "an acknowledgement of 501, in the middle of a segment"),
        ("+0 %{ x = [1] }%\n+0 %{ assert tcpi_snd_cwnd.real }%", "not understood"),
    ],
)
def test_a_script_about_something_else_does_not_apply_and_says_why(line: str, reason: str) -> None:
    found = verdict(WRITES + "   +0 > P. 1:1401(1400) ack 1\n" + line, {50_000_000: [0, 1]})
    assert found.word == "not applicable"
    assert reason in found.reason


def test_a_script_with_icmp_does_not_apply(tmp_path: Path) -> None:
    path = tmp_path / "icmp.pkt"
    path.write_text(WRITES + "+0 < icmp unreachable frag_needed mtu 800\n")
    assert scripts.judge(path, Path("no program")).reason == "ICMP"


def test_a_script_that_states_nothing_of_a_sender_does_not_apply() -> None:
    reason = "states nothing of a sender's data segments or its window"
    assert verdict(HANDSHAKE + "+0 close(4) = 0\n+0 > F. 1:1(0) ack 1").reason == reason
    assert verdict(HANDSHAKE + "+0 %{ assert tcpi_rcv_mss == 3 }%").reason == reason
    with pytest.raises(NotApplicableError, match="repeated"):
        handshake(
            script(
                HANDSHAKE.replace("accept", "close")
                + HANDSHAKE.partition("\n    0 ")[2].partition("\n")[2]
                + "+0 > P. 1:701(700) ack 1"
            )
        )


def test_the_table_has_each_script_its_first_difference_and_the_reasons() -> None:
    wanted = WRITES + "   +0 > P. 1:1401(1400) ack 1"
    judged = [
        scripts.Judged("own/one.pkt", verdict(wanted, {50_000_000: [0, 1]}), True),
        scripts.Judged("own/two.pkt", verdict(wanted), False),
        scripts.Judged("own/three.pkt", verdict(HANDSHAKE), None),
    ]
    text = scripts.table(judged, {"two": "It is so."})
    assert text.startswith(
        "1 of 2 scripts about a sender pass, 1 more differ for a stated reason; 1 do not apply. "
    )
    assert "| `own/one.pkt` | pass | pass | 1 packet, 0 assertions |  |" in text
    assert (
        "| `own/two.pkt` | **fail** | fail | 0 packets, 0 assertions | line 8, 0.050 s: expected 1:1401"
        in text
    )
    assert "found nothing within 10 s. It is so. |" in text
    assert "| states nothing of a sender's data segments or its window | 1 |" in text


def test_the_page_has_the_marks_between_which_the_table_goes() -> None:
    page = scripts.PAGE.read_text()
    assert all(page.count(mark) == 1 for mark in scripts.MARKS)


def test_each_explanation_is_of_some_script() -> None:
    assert all(text.strip() for text in scripts.explanations().values())


@pytest.fixture(scope="module")
def program() -> Path:
    if shutil.which("cargo") is None:
        pytest.skip("cargo, which builds the sender, is missing")
    return build()


@pytest.fixture(scope="module")
def judged(program: Path) -> Callable[[str], Verdict]:
    return lambda name: scripts.judge(OWN / f"{name}.pkt", program)


DIFFERS = {
    "mark-in-recovery": "a mark on the acknowledgement that ends recovery reduces nothing",
    "timeout-undone-without-timestamps": "no F-RTO",
}
"""Where the model does otherwise. Linux 6.18 passes all scripts but those that are wrong on purpose."""


def own(name: str) -> Any:
    marks = [pytest.mark.xfail(reason=DIFFERS[name], strict=True)] if name in DIFFERS else []
    return pytest.param(name, marks=marks)


@pytest.mark.parametrize(
    "name", [own(path.stem) for path in sorted(OWN.glob("*.pkt")) if "wrong" not in path.stem]
)
def test_the_model_passes_scripts_that_a_kernel_passes(name: str, judged: Callable[[str], Verdict]) -> None:
    found = judged(name)
    assert found.word == "pass", found.reason or [str(difference) for difference in found.differences]
    assert found.packets + found.statements > 0


@pytest.mark.parametrize(
    ("name", "expected", "found"),
    [
        ("wrong-factor", "tcpi_snd_ssthresh == 6", "tcpi_snd_ssthresh = 8"),
        ("wrong-time", "1:501 at 0.720 to 0.740 s", "0.520 s"),
    ],
)
def test_a_script_that_is_wrong_fails_with_what_differs(
    name: str, expected: str, found: str, judged: Callable[[str], Verdict]
) -> None:
    (difference,) = judged(name).differences
    assert (difference.expected, difference.found) == (expected, found)


@pytest.mark.usefixtures("program")
def test_the_command_exits_with_1_for_a_failure_that_nobody_explained(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert scripts.main(["--scripts", str(OWN), "--only", "one-loss"]) == 0
    assert scripts.main(["--scripts", str(OWN), "--only", "wrong-factor"]) == 1
    assert "expected tcpi_snd_ssthresh == 6, found tcpi_snd_ssthresh = 8" in capsys.readouterr().out
    assert scripts.main(["--scripts", str(OWN), "--only", "no such script"]) == 2
