import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from longfat.errors import InputError, WorkerError
from longfat.runs import pool
from longfat.runs.pool import MADE_AT_ONCE, Failure, map_unordered, outcomes


def square(number: int) -> int:
    return number * number


def fail_on_three(number: int) -> int:
    if number == 3:
        raise ValueError("three")
    return number


def die(number: int) -> int:
    os._exit(1)


def lock_of(number: int) -> object:
    return threading.Lock()


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_every_task_is_answered_once_with_its_position(jobs: int) -> None:
    assert dict(map_unordered(square, iter(range(20)), jobs)) == {i: i * i for i in range(20)}


def test_no_task_at_all_ends_at_once() -> None:
    assert list(map_unordered(square, [], 2)) == []


def test_tasks_are_taken_no_faster_than_workers_come_free() -> None:
    taken = 0

    def tasks() -> object:
        nonlocal taken
        while taken < 100:
            taken += 1
            yield taken

    answers = map_unordered(square, tasks(), 2)
    next(answers)
    assert taken <= 2 + 2
    answers.close()


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_exception_of_a_task_ends_the_pool_with_it(jobs: int) -> None:
    with pytest.raises(ValueError, match="three"):
        list(map_unordered(fail_on_three, range(10), jobs))


def test_an_answer_that_cannot_travel_is_told() -> None:
    with pytest.raises(Exception, match="lock"):
        list(map_unordered(lock_of, range(3), 2))


def test_functions_within_functions_travel_as_their_code() -> None:
    offset = 10

    def later(number: int) -> int:
        return number + offset

    assert sorted(map_unordered(later, range(3), 2)) == [(0, 10), (1, 11), (2, 12)]
    assert sorted(map_unordered(lambda number: -number, range(3), 2)) == [(0, 0), (1, -1), (2, -2)]


def test_a_function_that_cannot_travel_is_refused_before_anything_runs() -> None:
    lock = threading.Lock()
    read = []

    def tasks() -> Iterator[int]:
        read.append(1)
        yield 1

    def holding(number: int) -> object:
        return lock

    with pytest.raises(InputError, match=r"holding cannot be sent to worker processes: .*lock.*jobs = 1"):
        list(map_unordered(holding, tasks(), 2))
    assert read == []


def test_a_function_that_uses_an_open_file_is_refused_as_workers_would_read_copies(tmp_path: Path) -> None:
    path = tmp_path / "names.txt"
    path.write_text("one two")
    with (
        path.open() as file,
        pytest.raises(InputError, match=r"open file .*names\.txt; accepted: .*jobs = 1"),
    ):
        list(map_unordered(lambda number: file.read(), range(4), 2))
    said = map_unordered(lambda number: sys.stdout is None, range(2), 2)
    assert sorted(said) == [(0, False), (1, False)]


PROGRAM = """
import longfat

class Mine:
    def on_ack(self, ack, window):
        window.cwnd += 1 / window.cwnd

    def on_congestion(self, event, window):
        window.cwnd = window.ssthresh = max(2.0, window.cwnd / 2)

def figures(result):
    return result.summary["flows"][0]["algorithm"], result.summary["seed"]

small = {"duration": "1 s", "bottleneck": {"rate": "1 Mbit/s"}, "flow": [{"algorithm": Mine, "rtt": "20 ms"}]}
print(list(longfat.run_many([small] * 2, jobs=2, reduce=figures)))
print({type(result.scenario.flow[0].algorithm.factory()) is Mine
       for result in longfat.run_many([small] * 2, jobs=2)})
"""


@pytest.mark.parametrize("how", ["-c", "-"])
def test_what_a_program_without_a_file_defines_reaches_the_workers(how: str) -> None:
    given = [sys.executable, "-c", PROGRAM] if how == "-c" else [sys.executable, "-"]
    ran = subprocess.run(given, input=PROGRAM, capture_output=True, text=True, check=True)
    assert ran.stdout == "[('Mine', 1), ('Mine', 1)]\n{True}\n"


SCRIPT = """
import longfat

if __name__ == "__main__":
    class Mine:
        def on_ack(self, ack, window):
            window.cwnd += 1 / window.cwnd

        def on_congestion(self, event, window):
            window.cwnd = window.ssthresh = max(2.0, window.cwnd / 2)

    def figures(result):
        return result.summary["flows"][0]["algorithm"], result.summary["seed"]

    small = {"duration": "1 s", "bottleneck": {"rate": "1 Mbit/s"}}
    small["flow"] = [{"algorithm": Mine, "rtt": "20 ms"}]
    print(list(longfat.run_many([small] * 2, jobs=2, reduce=figures)))
    print({type(result.scenario.flow[0].algorithm.factory()) is Mine
           for result in longfat.run_many([small] * 2, jobs=2)})
"""


def test_what_a_script_defines_only_as_the_program_reaches_the_workers(tmp_path: Path) -> None:
    script = tmp_path / "guarded.py"
    script.write_text(SCRIPT)
    ran = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    assert ran.stdout == "[('guarded.py:Mine', 1), ('guarded.py:Mine', 1)]\n{True}\n"


UNGUARDED = """
import longfat

class Mine:
    def on_ack(self, ack, window):
        window.cwnd += 1 / window.cwnd

    def on_congestion(self, event, window):
        window.cwnd = window.ssthresh = max(2.0, window.cwnd / 2)

def seed(result):
    return result.summary["seed"]

small = {"duration": "1 s", "bottleneck": {"rate": "1 Mbit/s"}, "flow": [{"algorithm": Mine, "rtt": "20 ms"}]}

def main():
    print("once", list(longfat.run_many([small] * 2, jobs=2, reduce=seed)))
    print([seed(result) for result in longfat.run(small, repeats=2, jobs=2)])
    ran = [*longfat.run_many([small] * 2, jobs=1), *longfat.run_many([small] * 2, jobs=2)]
    print(*{result.flow("1").algorithm for result in ran})

"""


@pytest.mark.parametrize("call", ["main()", "if small:\n    main()", "for _ in [0]:\n    main()"])
def test_a_script_that_asks_for_no_name_does_not_begin_again_in_workers(call: str, tmp_path: Path) -> None:
    script = tmp_path / "plain.py"
    script.write_text(UNGUARDED + call)
    ran = subprocess.run([sys.executable, str(script)], capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout == "once [1, 1]\n[1, 2]\nplain.py:Mine\n"


HIDDEN = """
from longfat.runs import pool

how = __name__
if how == "__main__":
    def own(task):
        return task == 1

    class Task:
        pass

    def is_task(task):
        return type(task) is Task

if __name__ == "__main__":
    for function, task in ((own, 1), (is_task, Task())):
        found = list(pool.outcomes(function, [task] * 3, 2))
        print(function.__name__, sorted(position for position, _ in found), {value for _, value in found})
"""


def test_what_a_program_defines_only_for_itself_reaches_the_workers(tmp_path: Path) -> None:
    script = tmp_path / "hidden.py"
    script.write_text(HIDDEN)
    ran = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    assert ran.stdout == "own [0, 1, 2] {True}\nis_task [0, 1, 2] {True}\n"


LOST = """
import sys
from longfat.runs import pool

sys.path.append("elsewhere")
import gone

if __name__ == "__main__":
    pool.prepare()
    sys.path.remove("elsewhere")
    for function, task in ((gone.function, 1), (repr, gone.Task())):
        found = list(pool.outcomes(function, [task] * 3, 2))
        print(sorted(position for position, _ in found), *{repr(failure.error) for _, failure in found})
"""


def test_what_a_worker_cannot_find_is_said_and_does_not_look_like_its_death(tmp_path: Path) -> None:
    (tmp_path / "lost.py").write_text(LOST)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "gone.py").write_text("def function(task): pass\nclass Task: pass\n")
    ran = subprocess.run([sys.executable, "lost.py"], capture_output=True, text=True, cwd=tmp_path)
    assert ran.stdout == 2 * "[0, 1, 2] ModuleNotFoundError(\"No module named 'gone'\")\n", ran.stderr


def test_a_worker_that_dies_is_told_and_does_not_hang() -> None:
    with pytest.raises(WorkerError, match="ended before its run did"):
        list(map_unordered(die, range(3), 2))


def die_on_three(number: int) -> int:
    if number == 3:
        os._exit(1)
    return number


def want_much(number: int) -> int:
    return len(bytearray(number << 20))


def test_a_task_that_ends_its_workers_is_one_failure_and_the_others_are_answered() -> None:
    found = dict(outcomes(die_on_three, range(8), 2, attempts=2))
    failed = found.pop(3)
    assert isinstance(failed, Failure)
    assert isinstance(failed.error, WorkerError)
    assert found == {i: i for i in range(8) if i != 3}


def test_a_worker_killed_from_outside_costs_nothing_if_its_task_may_be_tried_again(tmp_path: Path) -> None:
    tasks = [(str(tmp_path / "once"), number) for number in range(6)]
    assert dict(outcomes(die_once, tasks, 2, attempts=2)) == {i: i for i in range(6)}


def die_once(task: tuple[str, int]) -> int:
    mark, number = task
    if number == 2 and not os.path.exists(mark):
        Path(mark).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def test_workers_that_all_die_end_the_pool_instead_of_taking_every_task_with_them() -> None:
    with pytest.raises(WorkerError, match="in a row"):
        list(outcomes(die, range(10_000), 2))


def test_a_worker_keeps_a_limit_of_memory_that_is_tighter_than_its_own() -> None:
    code = """
import os, resource
from longfat.system import limit_memory
resource.setrlimit(resource.RLIMIT_DATA, (2 << 30, 2 << 30))
if os.geteuid() == 0:
    os.setuid(65534)  # root could raise it again
for asked in (3 << 30, 1 << 30):
    limit_memory(asked)
    print(resource.getrlimit(resource.RLIMIT_DATA)[1] >> 30)
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ran.stdout == "2\n1\n", ran.stderr


def test_a_task_that_wants_more_memory_than_a_worker_may_have_is_one_failure() -> None:
    found = dict(outcomes(want_much, [1, 4096, 2], 2, memory_bytes=1 << 30))
    assert isinstance(found.pop(1), Failure)
    assert found == {0: 1 << 20, 2: 2 << 20}


LONG = """
import longfat
from longfat.runs.pool import map_unordered

def main():
    base = longfat.Scenario.from_dict({
        "duration": "100000 s",
        "bottleneck": {"rate": "1 Gbit/s", "buffer": "100 % BDP"},
        "flow": [{"algorithm": "reno", "rtt": "100 ms"}],
        "sample": {"cwnd": "10 s", "queue": "10 s"},
    })
    short = base.with_values({"duration": "1 s"})
    try:
        for done in longfat.run_many([short, base, base], jobs=JOBS, ordered=ORDERED):
            print("done", 0 if ORDERED else done[0], flush=True)
    except KeyboardInterrupt:
        print("interrupted", flush=True)

if __name__ == "__main__":
    main()
"""


def workers_of(group: int) -> list[int]:
    """Processes that are still alive in a process group."""
    alive = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdecimal() and os.getpgid(int(entry.name)) == group:
                alive.append(int(entry.name))
        except ProcessLookupError:
            continue
    return alive


@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGKILL])
def test_workers_end_with_their_parent_and_what_was_done_stays(
    jobs: int, sent: int, ordered: bool, tmp_path: Path
) -> None:
    script = tmp_path / "long.py"
    script.write_text(LONG.replace("JOBS", str(jobs)).replace("ORDERED", str(ordered)))
    parent = subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert parent.stdout is not None
    try:
        assert parent.stdout.readline() == "done 0\n"
        if sent == signal.SIGINT:
            os.killpg(parent.pid, sent)  # as a terminal does
            assert parent.wait(timeout=10) == 0
            assert parent.stdout.read() == "interrupted\n"
        else:
            parent.kill()
            parent.wait(timeout=10)
    finally:
        until = time.monotonic() + 10
        while (left := workers_of(parent.pid)) and time.monotonic() < until:
            time.sleep(0.05)
        for process in left:
            os.kill(process, signal.SIGKILL)
        parent.stdout.close()
    assert left == []


def die_on_seven_once(task: tuple[int, str]) -> int:
    number, mark = task
    if number == 7 and not os.path.exists(mark):
        open(mark, "w").close()
        os._exit(1)
    return number


def test_tasks_that_wait_at_a_worker_that_dies_are_done_by_another(tmp_path: Path) -> None:
    tasks = [(number, str(tmp_path / "mark")) for number in range(20)]
    found = dict(outcomes(die_on_seven_once, tasks, 2, attempts=2, ahead=3))
    assert found == {number: number for number in range(20)}


def rest(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


@pytest.mark.parametrize(("seconds", "tasks", "most"), [(0.0, 200, 2 * (1 + 2)), (0.25, 20, 2)])
def test_few_short_tasks_wait_at_workers_and_long_ones_wait_for_a_free_one(
    seconds: float, tasks: int, most: int
) -> None:
    taken: list[float] = []

    def given() -> Iterator[float]:
        for _ in range(tasks):
            taken.append(seconds)
            yield seconds

    told = enumerate(outcomes(rest, given(), 2, ahead=2), start=1)
    out = [len(taken) - number for number, _ in told]
    assert 2 < max(out) <= most + MADE_AT_ONCE  # of which as many are made, and not yet given


PLANTED = ("pickle", "selectors", "socket", "struct", "json", "threading", "tempfile", "numpy")


@pytest.mark.parametrize(
    "command", ["doctor", "run tiny.toml --repeats 2", "sweep sweep.toml --out out --jobs 2"]
)
def test_no_command_imports_python_files_of_the_current_folder(command: str, tmp_path: Path) -> None:
    for name in PLANTED:
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'a').write('{name} ')\n")
    tiny = 'duration = "1 s"\n[bottleneck]\nrate = "1 Mbit/s"\nbuffer = "50 % BDP"\n'
    (tmp_path / "tiny.toml").write_text(tiny + '[[flow]]\nalgorithm = "reno"\nrtt = "20 ms"\n')
    (tmp_path / "sweep.toml").write_text('base = "tiny.toml"\n[axes]\nseed = [1, 2]\n')
    start = [str(Path(sys.executable).with_name("longfat")), *command.split()]
    done = subprocess.run(start, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode in ((0, 1) if command == "doctor" else (0,)), done.stderr
    assert not (tmp_path / "ran").exists(), (tmp_path / "ran").read_text()


HOLD = """
import os, time
from longfat.runs import pool

def hold(number):
    time.sleep(60.0)

if __name__ == "__main__":
    pool.prepare()
    print("begun", flush=True)
    list(pool.map_unordered(hold, range(2), 2))
"""


@pytest.mark.parametrize("rest", [0.0, 2.0])
def test_a_pool_that_is_killed_leaves_nothing_in_the_temporary_folder(rest: float, tmp_path: Path) -> None:
    # longer than the name of a socket may be
    script, temporary = tmp_path / "hold.py", tmp_path / ("temporary" + 100 * "x")
    script.write_text(HOLD)
    temporary.mkdir()
    parent = subprocess.Popen(
        [sys.executable, str(script)],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env=os.environ | {"TMPDIR": str(temporary)},
    )
    assert parent.stdout is not None
    assert parent.stdout.readline() == "begun\n"
    time.sleep(rest)
    os.killpg(parent.pid, signal.SIGKILL)  # the server too, which could have removed it
    parent.wait(timeout=10)
    parent.stdout.close()
    assert list(temporary.iterdir()) == []


def test_only_starting_a_server_makes_a_temporary_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    # a kill in the moment of its being there would leave it
    pool.prepare()
    with monkeypatch.context() as patch:
        patch.setattr(pool.tempfile, "TemporaryDirectory", lambda **_: pytest.fail("made a folder"))
        pool.prepare()
        assert sorted(pool.map_unordered(abs, [-1, -2], 2)) == [(0, 1), (1, 2)]


LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, tuple(map(int, sys.argv[1:3])))
from longfat.errors import InputError
from longfat.runs import pool

if __name__ == "__main__":
    try:
        print(sum(value for _, value in pool.map_unordered(abs, range(80), 40)))
    except InputError as error:
        print(error)
"""


@pytest.mark.parametrize(
    ("soft", "hard", "told"),
    [
        (64, 400, "3160"),
        (
            64,
            160,
            "jobs = 40: they need more open files than there may be; "
            "accepted: up to 24, or a higher limit of open files (ulimit -n)",
        ),
        (
            16,
            16,
            "jobs = 40: they need more open files than there may be; "
            "accepted: a higher limit of open files (ulimit -n)",
        ),
    ],
)
def test_more_workers_than_open_files_allow_are_refused_and_no_others(
    soft: int, hard: int, told: str, tmp_path: Path
) -> None:
    script = tmp_path / "limited.py"
    script.write_text(LIMITED)
    ended = subprocess.run(
        [sys.executable, str(script), str(soft), str(hard)], capture_output=True, text=True, timeout=120
    )
    assert (ended.stdout.strip(), ended.stderr) == (told, "")


def test_a_server_that_is_killed_is_followed_by_another_one() -> None:
    assert dict(map_unordered(square, range(4), 2)) == {0: 0, 1: 1, 2: 4, 3: 9}
    server = pool.forkserver._forkserver._forkserver_pid  # type: ignore[attr-defined]
    os.kill(server, signal.SIGKILL)
    os.waitid(os.P_PID, server, os.WEXITED | os.WNOWAIT)
    assert dict(map_unordered(square, range(4), 2)) == {0: 0, 1: 1, 2: 4, 3: 9}


def test_a_command_that_is_killed_while_it_starts_a_worker_leaves_no_traceback() -> None:
    code = (
        "import multiprocessing.popen_forkserver as starting, os, signal\n"
        "from longfat.runs.pool import map_unordered\n"
        "starting.open = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)\n"
        "list(map_unordered(abs, range(4), 2))\n"
    )
    # the pipe ends when the server and its workers have ended, too
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (-signal.SIGKILL, "")
