"""`headgate link` on real packets. Tests need Linux and namespaces, and are skipped otherwise."""

import os
import pwd
import select
import shlex
import signal
import subprocess
import sys
import tomllib
from contextlib import suppress
from pathlib import Path

import pytest

from headgate.live import options
from tests import needs
from tests.conftest import Command
from tests.live import refused
from tests.live.rates import best

HOSTS = Path(__file__).with_name("hosts.py")
#: Headers of IPv4 and TCP with timestamps, in a packet of 1500 bytes.
TCP_SHARE = (1500 - 52) / 1500

#: Waits for a signal. Dash loses signals while it starts a process, so it starts none after its line.
WAITS = "trap 'echo stopped; exit {code}' {signal}; sleep 600 & echo begun; wait"


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "headgate", "link", *map(str, arguments)]


def host(*arguments: object) -> list[str]:
    return [sys.executable, str(HOSTS), *map(str, arguments)]


def link(*arguments: object, **keywords) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command(*arguments), capture_output=True, text=True, timeout=60, check=False, **keywords)


def serve(*arguments: object) -> str:
    return f"--server={shlex.join(host(*arguments))}"


@pytest.fixture(scope="module", autouse=True)
def skip_without_namespaces() -> None:
    needs.without("linux", "tun", "namespaces")


@pytest.mark.parametrize(
    ("script", "code"),
    [("exit 7", 7), ("exit 0", 0), ("kill -TERM $$", 128 + signal.SIGTERM)],
    ids=["7", "0", "signal"],
)
def test_the_commands_exit_code_is_ours(script: str, code: int):
    assert link("--rate", "1Mbit/s", "--", "sh", "-c", script).returncode == code


@pytest.mark.parametrize(
    ("program", "code", "why"),
    [("no-such-program", 127, "No such file or directory"), ("/etc/passwd", 126, "Permission denied")],
)
def test_a_command_that_cannot_start_has_the_exit_code_of_a_shell(program: str, code: int, why: str):
    done = link("--rate", "1Mbit/s", program)
    assert done.returncode == code
    assert done.stderr == f"error: cannot run '{program}': {why}\n"


def test_a_round_trip_takes_twice_the_delay_and_the_time_to_send():
    done = link("--rate", "1Mbit/s", "--delay", "16ms", "--down-delay", "4ms", serve("echo"), *host("ping", 10))
    # 100 bytes at 1 Mbit/s take 0.8 ms, each way. The least of ten times adds
    # only delays of hosts and timers.
    nominal = 16 + 4 + 2 * 0.8
    assert nominal <= float(done.stdout) < nominal + 5, done.stderr


def test_a_transfer_gets_the_rate_less_its_headers():
    size = 1_500_000
    settings = ("--rate", "20Mbit/s", "--forward-rate", "5Mbit/s", "--delay", "5ms", "--limit", "100p")

    def share() -> float:
        done = link(*settings, serve("source", size), *host("fetch"))
        received, seconds, _ = done.stdout.split()
        sent = next(line.split() for line in done.stderr.splitlines() if line.startswith("packets"))
        assert int(sent[2]) >= size / 1448, "every segment crossed our link"
        return int(received) * 8 / float(seconds) / (20e6 * TCP_SHARE)

    # The first window, 10 packets and a round trip of 10 ms in 600 ms, arrives before the link is full.
    assert 0.9 <= best(share, 0.9) < 1.03


def test_ipv6_crosses_the_link_and_is_marked():
    needs.without("ipv6")
    marking = ("--reverse-qdisc", "red:minth=2p,maxth=20p,ecn=on", "--tcp-ecn")
    size = 1_000_000
    done = link(
        "--rate", "20Mbit/s", "--delay", "2ms", *marking, serve("source", size, "x", "fd00::2"), *host("fetch6")
    )
    (received, _, _), (marked,) = (line.split() for line in done.stdout.splitlines())
    assert int(received) > size / 2, done.stderr
    row = next(line.split() for line in done.stderr.splitlines() if line.startswith("marked"))
    assert int(marked) > 0, done.stderr
    assert row[2] == marked, "every mark of ours came with IPv6, and no other did"
    assert f"reverse marks: {marked} (" in done.stderr


def test_a_direction_may_follow_a_trace_and_leave_the_rate_of_both_to_the_other(tmp_path: Path):
    trace = tmp_path / "slow.trace"
    trace.write_text("40\n")  # 1500 bytes each 40 ms: 300 kbit/s
    settings = ("--rate", "10Mbit/s", "--reverse-trace", trace)
    done = link(*settings, serve("source", 30_000), *host("fetch"))
    received, seconds, _ = done.stdout.split()
    # A fifth more, in case the reader is late at the first of 21 packets. The other rate would be 33 times as much.
    assert int(received) * 8 / float(seconds) < 300e3 * 1.2, done.stderr


def test_two_concurrent_links_are_separate():
    settings = ("--rate", "10Mbit/s", "--delay", "10ms")
    both = [
        subprocess.Popen(
            command(*settings, serve("source", 200_000, word), *host("fetch")), stdout=subprocess.PIPE, text=True
        )
        for word in "ab"
    ]
    assert [process.communicate(timeout=60)[0].split()[2] for process in both] == ["a", "b"]


def namespaces() -> set[str]:
    """The network namespaces of all threads of all processes."""
    names = set()
    for thread in Path("/proc").glob("[0-9]*/task/[0-9]*/ns/net"):
        try:
            names.add(str(thread.readlink()))
        except OSError:
            continue
    return names


def descendants(pid: int) -> list[int]:
    """The children of `pid`, their children, and so on."""
    children: list[int] = []
    with suppress(FileNotFoundError, ProcessLookupError):  # it, or one of its threads, ended meanwhile
        for task in Path(f"/proc/{pid}/task").iterdir():
            children += map(int, (task / "children").read_text().split())
    return children + [each for child in children for each in descendants(child)]


def test_the_command_waits_for_a_server_that_starts_slowly():
    done = link("--rate", "1Mbit/s", serve("late", 3), *host("fetch"))
    assert done.returncode == 0, done.stderr


def test_kill_9_leaves_nothing():
    arguments = ("--rate", "1Mbit/s", serve("source", 9), *host("stay"))
    with subprocess.Popen(command(*arguments), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        inside = str(Path(f"/proc/{pid}/ns/net").readlink())
        started = descendants(process.pid)
        assert pid in started
        assert len(started) == 4, "command and server, and who keeps each"
        handles = [os.pidfd_open(pid) for pid in started]
        process.kill()
    assert_ended(handles)
    assert inside not in namespaces()


def assert_ended(handles: list[int]) -> None:
    for handle in handles:
        # The handle of an ended process is readable.
        assert select.select([handle], [], [], 10)[0], "a process outlived it"
        os.close(handle)


@pytest.mark.parametrize("how", ["kill -9", "its own end"])
def test_processes_that_the_command_left_running_end_with_it(how: str):
    words = command("--rate", "1Mbit/s", "--no-summary", *host("breed"))
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        orphan = int(process.stdout.readline())
        handle = os.pidfd_open(orphan)
        assert orphan in descendants(process.pid), "orphans come to the keeper"
        if how == "kill -9":
            process.kill()
        else:
            process.communicate("")
            assert process.returncode == 0
    assert_ended([handle])


#: Prints the user, the groups and the rights of a command, and the variables that name its user.
IDENTITY = (
    """id -u; id -g; id -G; echo "$HOME $USER $LOGNAME"; sed -n 's/^Cap[PE].*:[[:space:]]*//p' /proc/self/status"""
)


def sudo(uid: object, gid: object) -> dict[str, str]:
    """The environment of a command that this user started by sudo."""
    return {**os.environ, "SUDO_UID": str(uid), "SUDO_GID": str(gid), "SUDO_USER": "someone", "HOME": "/root"}


def test_under_sudo_command_and_server_run_as_the_user_who_called_it():
    needs.without("root")
    nobody = pwd.getpwnam("nobody")
    environment = sudo(nobody.pw_uid, nobody.pw_gid)
    words = ("--rate", "1Mbit/s", "--no-summary", "--", "sh", "-c")
    done = link(*words, IDENTITY, env=environment)
    uid, gid, groups, variables, *capabilities = done.stdout.splitlines()
    assert (uid, gid) == (str(nobody.pw_uid), str(nobody.pw_gid)), done.stderr
    assert sorted(map(int, groups.split())) == sorted(os.getgrouplist("nobody", nobody.pw_gid))
    assert variables == f"{nobody.pw_dir} nobody nobody"
    assert {int(each, 16) for each in capabilities} == {0}
    # The server's errors are shown. It ends before COMMAND starts, which is an error.
    done = link("--rate", "1Mbit/s", "--server=sh -c 'id -u >&2'", "--", "true", env=environment)
    assert done.stderr.splitlines()[0] == str(nobody.pw_uid)


def test_under_sudo_as_root_keeps_the_command_root():
    needs.without("root")
    words = ("--rate", "1Mbit/s", "--no-summary", "--as-root", "--", "sh", "-c", "id -u; echo $HOME")
    assert link(*words, env=sudo(65534, 65534)).stdout == "0\n/root\n"
    # A shell of root's that sudo started from root.
    assert link(*words[:3], "--", "id", "-u", env=sudo(0, 0)).stdout == "0\n"


def test_variables_of_sudo_that_are_no_numbers_are_refused():
    needs.without("root")
    for uid, gid, named in (
        ("someone", 1, "SUDO_UID=someone"),
        (1, "", "SUDO_GID="),
        (1 << 32, 1, "SUDO_UID=4294967296"),
    ):
        done = link("--rate", "1Mbit/s", "--", "true", env=sudo(uid, gid))
        assert done.returncode == 2
        assert (
            f"error: {named}: expected a number, as sudo sets it; to run COMMAND as root, give --as-root" in done.stderr
        )


def test_kill_9_ends_a_command_of_another_user_too():
    needs.without("root")
    words = command("--rate", "1Mbit/s", "--", "sh", "-c", "echo $$; sleep 60 & exec sleep 60")
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=sudo(65534, 65534)) as process:
        assert process.stdout is not None
        assert int(process.stdout.readline()) in descendants(process.pid)
        handles = [os.pidfd_open(pid) for pid in descendants(process.pid)]
        assert len(handles) >= 2
        process.kill()
    assert_ended(handles)


def test_a_user_namespace_replaces_root_and_gives_the_command_no_capabilities():
    """It needs a user who may open /dev/net/tun and make user namespaces. It makes that device in its own /dev/net."""
    if (why := refused.needs_of_user()) is not None:
        needs.lack("other-user", why)
    arguments = command("--rate", "1Mbit/s", "--", "sh", "-c", "id -u; grep CapEff /proc/self/status")
    done = refused.run(refused.Case(arguments, device=refused.DEVICE, user=refused.USER))
    assert done["code"] == 0, done["err"]
    assert done["out"].split() == [str(refused.USER), "CapEff:", "0" * 16]


def test_the_error_without_namespaces_names_the_needed_permission():
    none = "echo 0 > /proc/sys/user/max_user_namespaces; exec setpriv --inh-caps=-all --bounding-set=-all "
    if not needs.succeeds("unshare", "-Ur", "sh", "-c", none + "true"):
        needs.lack("user-namespaces")
    done = subprocess.run(
        ["unshare", "-Ur", "sh", "-c", none + shlex.join(command("--rate", "1Mbit/s", "true"))],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 125
    assert "error: cannot make a user namespace: " in done.stderr
    assert "Run as root, or allow unprivileged user namespaces: raise sysctl user.max_user_namespaces." in done.stderr
    assert "Traceback" not in done.stderr


def test_sigterm_goes_to_the_command():
    script = WAITS.format(code=3, signal="TERM")
    with subprocess.Popen(
        command("--rate", "1Mbit/s", "sh", "-c", script), stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        process.terminate()
        assert (process.communicate(timeout=10)[0], process.returncode) == ("stopped\n", 3)


def test_ctrl_c_goes_to_the_command():
    script = WAITS.format(code=4, signal="INT")
    arguments = command("--rate", "1Mbit/s", "sh", "-c", script)
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        # A terminal, too, sends the signal to all processes in the foreground.
        os.killpg(process.pid, signal.SIGINT)
        assert (process.communicate(timeout=10)[0], process.returncode) == ("stopped\n", 4)


def test_options_of_a_direction_equal_the_keys_of_a_scenario_file():
    given = {
        "rate": "10Mbit/s",
        "forward-rate": "2Mbit/s",
        "schedule": "1s=5Mbit/s,2s=0bit/s",
        "schedule-period": "3s",
        "jitter": "4ms",
        "reorder": "0.1",
        "reverse-reorder": "0.2",
        "reorder-by": "5ms",
        "loss": "0.01",
        "loss-burst": "3",
        "loss-burst-max": "9",
        "loss-at": "3,10",
        "duplicate": "0.1",
        "ecn": "bleach",
        "dscp": "EF",
        "overhead": "ethernet",
    }
    steps = [{"at": "1s", "rate": "5Mbit/s"}, {"at": "2s", "rate": "0bit/s"}]
    expected = {"jitter": "4ms", "reorder_by": "5ms", "loss": 0.01, "loss_burst": 3.0, "loss_burst_max": 9}
    expected |= {"loss_at": [3, 10], "duplicate": 0.1, "ecn": "bleach", "dscp": "EF", "overhead": "ethernet"}
    for direction, rate, reorder in (("forward", "2Mbit/s", 0.1), ("reverse", "10Mbit/s", 0.2)):
        keys = tomllib.loads(options.scenario(direction, given).to_toml())["link"]
        assert keys == keys | {
            **expected,
            "rate": rate,
            "schedule": steps,
            "schedule_period": "3s",
            "reorder": reorder,
        }


def test_a_directions_own_rate_comes_before_the_trace_of_both(tmp_path: Path):
    trace = tmp_path / "slow.trace"
    trace.write_text("40\n")
    given = {"trace": str(trace), "forward-rate": "2Mbit/s"}
    assert tomllib.loads(options.scenario("forward", given).to_toml())["link"]["rate"] == "2Mbit/s"
    assert tomllib.loads(options.scenario("reverse", given).to_toml())["link"]["trace"] == "inputs/slow.trace"


def test_slots_of_a_direction_come_before_a_schedule_of_both():
    given = {"rate": "9Mbit/s", "schedule": "1s=5Mbit/s", "forward-slot": "1ms", "reverse-aggregate": "4ms"}
    forward, reverse = (
        tomllib.loads(options.scenario(each, given).to_toml())["link"] for each in ("forward", "reverse")
    )
    assert (forward["slot"], "schedule" in forward) == ("1ms", False)
    assert (reverse["aggregate"], "schedule" in reverse) == ("4ms", False)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((), "the rate is missing: give --rate"),
        (("--rate", "fast"), "`--rate`: expected a rate"),
        (("--rate", "1Mbit/s", "--reverse-rate", "-3"), " --> --reverse-rate -3"),
        (("--rate", "1Mbit/s", "--loss", "2"), "`--loss`: "),
        (("--rate", "1Mbit/s", "--schedule", "10s"), "--schedule 10s: expected TIME=RATE for each step"),
        (("--rate", "1Mbit/s", "--forward-schedule", "2s=9p"), "`--forward-schedule`: expected a rate"),
        (("--rate", "1Mbit/s", "--schedule-period", "2s"), "`--schedule-period` needs a `--schedule`"),
        (("--rate", "1Mbit/s", "--reorder", "0.1"), "`--reorder` needs `--reorder-by`"),
        (
            ("--rate", "1Mbit/s", "--reverse-overhead", "-20"),
            "`--reverse-overhead`: must be from -19B (the shortest IP packet has 20 bytes) to 1000B, not -20B",
        ),
        (("--rate", "1Mbit/s", "--overhead", "ethrenet"), "did you mean `ethernet`?"),
        (("--rate", "1Mbit/s", "--loss-at", "3,2"), "`--loss-at`: must be above the number before it, 3"),
        (("--rate", "1Mbit/s", "--loss-at", "first"), "`--loss-at`"),
        (("--rate", "1Mbit/s", "--slot", "1ms", "--aggregate", "4ms"), "`--slot` and `--aggregate` exclude each other"),
        (("--rate", "1Mbit/s", "--ecn", "bleech"), "did you mean `bleach`?"),
        (("--rate", "1Mbit/s", "--qdisc", "sfq:dephts=1"), "did you mean `depth`?"),
        (("--rate", "1Mbit/s", "--forward-qdisc", "nonesuch"), " --> --forward-qdisc nonesuch"),
        (("--trace", "no-such-file"), 'cannot read "no-such-file": No such file or directory'),
        (("--rate", "1Mbit/s", "--server", "it's"), "--server it's: No closing quotation"),
    ],
)
def test_bad_options_are_named_as_they_were_given(command: Command, words: tuple[str, ...], expected: str):
    done = command("link", *words, "true")
    assert (done.returncode, done.stdout) == (2, "")
    assert expected in done.stderr
    assert "Traceback" not in done.stderr


def test_a_congestion_controller_that_the_kernel_lacks_is_an_error_that_names_those_it_has():
    done = link("--rate", "1Mbit/s", "--cc", "nonesuch", "true")
    assert done.returncode == 2
    assert done.stderr.startswith("error: --cc nonesuch: the kernel has ")


def test_a_congestion_controller_that_new_namespaces_may_not_use_is_an_error_that_says_how_to_allow_it():
    known, allowed = (
        Path(f"/proc/sys/net/ipv4/tcp_{which}_congestion_control").read_text().split()
        for which in ("available", "allowed")
    )
    kept = next((name for name in known if name not in allowed), None)
    if kept is None:
        needs.lack("restricted-cc")
    done = link("--rate", "1Mbit/s", "--cc", kept, "true")
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: --cc {kept}: the kernel allows {kept} only in the first network namespace")
    remedy = f"sysctl -w net.ipv4.tcp_allowed_congestion_control='{' '.join(allowed)} {kept}'"
    assert " ".join(done.stderr.split()).endswith(remedy)


def test_a_command_is_needed(command: Command):
    done = command("link", "--rate", "1Mbit/s")
    assert done.returncode == 2
    assert "no command to run behind the link" in done.stderr
