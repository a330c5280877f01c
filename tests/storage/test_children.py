"""Children hold nothing of their parent that they do not need, and end with it."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from tests import needs
from tests.storage.terminals import Terminal

pytestmark = needs.marks("linux")

#: The beginning of every program. A program of its own has no thread.
HEAD = """\
import os, signal, socket, sys, time
from pathlib import Path
from headgate.execution import children
from headgate.execution.children import Children
from headgate.files import folder_lock
"""


def executed(program: str, *words: object) -> str:
    """The output of a program."""
    command = [sys.executable, "-c", HEAD + program, *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


def test_a_child_has_the_descriptors_that_it_needs_and_no_other(tmp_path: Path):
    program = """
lock, sock, (needed, put), mine = folder_lock.lock(Path(sys.argv[1])), socket.socket(), os.pipe(), os.getpid()
def held():
    files = (f"/proc/self/fd/{each}" for each in range(1024))
    opened = {int(Path(each).name): os.readlink(each) for each in files if os.path.lexists(each)}
    return os.getpid() != mine, {each for each, name in opened.items() if name != "/dev/null"}
with Children() as both:
    both.start(lambda: os.path.exists("x"))
    both.start(held, [needed])
    (_, (other, found)) = both.results()
print(other, needed in found, found & {0, 1, lock, sock.fileno(), put}, len(found - {2, needed}))
"""
    # One more is the pipe of its result.
    assert executed(program, tmp_path) == "True True set() 1\n"


def test_a_child_does_not_answer_signals_and_finishes():
    program = """
def signaled():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1):
        os.kill(os.getpid(), number)
    return "finished"
signal.signal(signal.SIGUSR1, lambda *_: sys.exit("a handler of the parent"))
with Children() as one:
    one.start(signaled)
    print(*one.results(), signal.pthread_sigmask(signal.SIG_BLOCK, []))
"""
    assert executed(program) == "finished set()\n"


def test_children_are_ended_and_reaped_however_the_context_ends():
    program = """
for error in (None, ValueError(), KeyboardInterrupt()):
    try:
        with Children() as two:
            two.start(lambda: time.sleep(600))
            two.start(lambda: os.kill(os.getpid(), signal.SIGKILL))
            if error is not None:
                raise error
    except (ValueError, KeyboardInterrupt):
        pass
    try:
        print(os.waitpid(-1, os.WNOHANG))
    except ChildProcessError:
        print("none is left")
"""
    assert executed(program) == 3 * "none is left\n"


def test_a_program_that_reaps_children_itself_may_use_them():
    program = """
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
with Children() as two:
    two.start(lambda: 4)
    two.start(lambda: 5)
    print(*two.results())
"""
    assert executed(program) == "4 5\n"


def test_ctrl_c_at_the_start_of_a_child_comes_when_the_child_is_known():
    program = """
fork = os.fork
def interrupted():
    pid = fork()
    if pid:
        os.kill(os.getpid(), signal.SIGINT)
    return pid
os.fork = interrupted
try:
    with Children() as one:
        one.start(lambda: time.sleep(600))
except KeyboardInterrupt:
    print("interrupted", len(one._outputs))
try:
    os.waitpid(-1, os.WNOHANG)
except ChildProcessError:
    print("none is left")
"""
    assert executed(program) == "interrupted 1\nnone is left\n"


def test_a_child_dies_with_its_parent_and_does_nothing_if_the_parent_died_before(tmp_path: Path):
    waiting = """
with Children() as one:
    one.start(lambda: (print("begun", file=sys.stderr, flush=True), time.sleep(600)))
    time.sleep(600)
"""
    early = """
asked = children._prctl()
def late():
    os.kill(parent, signal.SIGKILL)
    while os.getppid() == parent:
        time.sleep(0.001)
    return asked()
parent, children._prctl = os.getpid(), lambda: late
with Children() as one:
    one.start(lambda: (print("begun", file=sys.stderr, flush=True), time.sleep(600)))
    time.sleep(600)
"""
    with Terminal([sys.executable, "-c", HEAD + waiting], tmp_path) as parent:
        parent.wait_for(lambda: b"begun" in parent.output)
        assert len(parent.processes()) == 2, parent.text
        os.kill(parent.process.pid, signal.SIGKILL)
        assert parent.left() == []
    with Terminal([sys.executable, "-c", HEAD + early], tmp_path) as parent:
        assert parent.wait()
        assert parent.left() == []
        assert parent.text == ""
