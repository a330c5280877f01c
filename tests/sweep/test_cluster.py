"""`headgate sweep --cluster`: the same bytes from a Dask cluster, whatever happens to its workers."""

import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import pytest

import headgate
from headgate import ClusterError, InterruptedRunError
from headgate.execution.runner import Watcher
from headgate.sweeps import cluster as clusters
from headgate.sweeps import work
from tests import needs
from tests.cli.test_run import wait_for
from tests.conftest import Command
from tests.sweep.conftest import RUNS
from tests.sweep.test_bundles import sweep as bundled_sweep
from tests.sweep.test_sweep import every_file

pytest.importorskip("distributed")


class Cluster(NamedTuple):
    """A scheduler and two workers with a thread each, as processes of this test."""

    address: str
    scheduler: subprocess.Popen[bytes]
    workers: list[subprocess.Popen[bytes]]


def start(folder: Path, what: str, *options: str) -> subprocess.Popen[bytes]:
    words = [sys.executable, "-m", f"distributed.cli.dask_{what}", *options, "--no-dashboard"]
    with (folder / "log").open("ab") as log:
        return subprocess.Popen(words, cwd=folder, stdout=log, stderr=log)


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def started(folder: Path, protocol: str, tls: Sequence[str] = ()) -> Iterator[Cluster]:
    """A cluster on loopback whose workers have both registered with the scheduler; `tls` are its certificates."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"{protocol}://127.0.0.1:{port}"
    options = ("--nthreads", "1", "--no-nanny", "--local-directory", str(folder), *tls)
    place = ("--protocol", protocol, "--host", "127.0.0.1", "--port", str(port))
    processes = [start(folder, "scheduler", *place, *tls)]
    try:
        processes += [start(folder, "worker", address, "--protocol", protocol, *options) for _ in range(2)]
        wait_for(lambda: listens(port), 60)
        with clusters.connected(address, clusters.ClusterTls(*map(Path, tls[1::2])) if tls else None) as client:
            wait_for(lambda: client.count == 2, 60)
        yield Cluster(address, processes[0], processes[1:])
    finally:
        for process in processes:
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster for all tests of this file."""
    with started(tmp_path_factory.mktemp("dask"), "tcp") as made:
        yield made


class CallAfter(Watcher):
    """Calls `job` once, when `number` runs are finished."""

    def __init__(self, number: int, job: Callable[[], object]) -> None:
        self.number = number
        self.job = job
        self.seen: list[int] = []

    def tick(self, finished: int, _seconds: float) -> None:
        self.seen.append(finished)
        if finished == self.number:
            self.job()


def stop() -> None:
    raise KeyboardInterrupt


def test_ctrl_c_keeps_finished_runs(cluster: Cluster, swept: Path, tmp_path: Path):
    with pytest.raises(InterruptedRunError, match=f"3 of {RUNS} runs are finished"):
        headgate.sweep(swept, out=tmp_path / "out", cluster=cluster.address, watcher=CallAfter(3, stop))
    (folder,) = (tmp_path / "out").iterdir()
    assert headgate.Sweep.load(folder).points.num_rows == 3


@pytest.mark.parametrize(
    ("theirs", "expected"),
    [
        ({"version": "9.9"}, f"it has Headgate {headgate.__version__}, this machine has 9.9"),
        ({"build": "x"}, "another build"),
    ],
    ids=["version", "build"],
)
def test_a_worker_with_another_build_is_refused(
    cluster: Cluster,
    swept: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    theirs: dict[str, str],
    expected: str,
):
    ours = work.build_identity()._replace(**theirs)
    monkeypatch.setattr(work, "build_identity", lambda: ours)
    with pytest.raises(ClusterError, match=expected):
        headgate.sweep(swept, out=tmp_path / "out", cluster=cluster.address)
    assert not (tmp_path / "out").exists()


def without_estimate(messages: str) -> str:
    """The messages of a command without how long it takes, which only a slow machine is told."""
    return "".join(line for line in messages.splitlines(keepends=True) if not line.startswith("This takes about "))


def test_the_command_ends_with_0_and_prints_its_dataset(
    cluster: Cluster, swept: Path, tmp_path: Path, dataset: headgate.Sweep, command: Command
):
    done = command("sweep", swept, "--cluster", cluster.address, "--out", tmp_path / "out")
    assert (done.returncode, without_estimate(done.stderr)) == (0, "")
    assert f"{RUNS} runs in " in done.stdout
    assert "; 2 threads, " in done.stdout
    (folder,) = (tmp_path / "out").iterdir()
    assert every_file(folder) == every_file(Path(dataset.url))


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A certificate authority with a certificate of its own, which every end uses, and the key."""
    needs.without("openssl")
    folder = tmp_path_factory.mktemp("tls")
    cert, key = folder / "cert.pem", folder / "key.pem"
    words = "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1"
    subprocess.run(["openssl", *words.split(), "-out", cert, "-keyout", key], check=True, capture_output=True)
    return [cert, cert, key]


def test_an_encrypted_cluster_needs_certificates(
    swept: Path, tmp_path: Path, dataset: headgate.Sweep, command: Command, certificates: list[Path]
):
    options = [
        word for pair in zip(("--tls-ca", "--tls-cert", "--tls-key"), certificates, strict=True) for word in pair
    ]
    given = [str(word).replace("tls-ca", "tls-ca-file") for word in options]
    with started(tmp_path, "tls", given) as cluster:
        sweep = ["sweep", swept, "--cluster", cluster.address, "--out", tmp_path / "out"]
        bare = command(*sweep)
        assert (bare.returncode, bare.stderr) == (
            2,
            f"error: {cluster.address} needs certificates: give --tls-ca, --tls-cert and --tls-key\n",
        )
        plain = command(*[str(word).replace("tls://", "tcp://") for word in sweep])
        assert plain.returncode == 4
        assert not (tmp_path / "out").exists()
        done = command(*sweep, *options)
        assert (done.returncode, without_estimate(done.stderr)) == (0, "")
    (folder,) = (tmp_path / "out").iterdir()
    assert every_file(folder) == every_file(Path(dataset.url))


def test_workers_execute_bundles(cluster: Cluster, tmp_path: Path):
    seen = CallAfter(-1, stop)
    made = bundled_sweep(tmp_path / "cluster", cluster=cluster.address, watcher=seen)
    alone = bundled_sweep(tmp_path / "alone")
    assert seen.seen[0] == made.points.num_rows / len(made.files("flows")) > 1
    assert every_file(Path(made.url or "")) == every_file(Path(alone.url or ""))


def test_a_lost_worker_does_not_change_the_dataset(
    cluster: Cluster, swept: Path, tmp_path: Path, dataset: headgate.Sweep
):
    watcher = CallAfter(2, cluster.workers[0].kill)
    sweep = headgate.sweep(swept, out=tmp_path / "out", cluster=cluster.address, watcher=watcher)
    assert cluster.workers[0].wait() != 0
    assert watcher.seen == list(range(1, RUNS + 1))
    assert every_file(Path(sweep.url)) == every_file(Path(dataset.url))


def test_a_lost_scheduler_ends_the_sweep_and_finished_runs_are_kept(
    cluster: Cluster, swept: Path, tmp_path: Path, dataset: headgate.Sweep
):
    watcher = CallAfter(4, cluster.scheduler.kill)
    with pytest.raises(ClusterError, match=rf"is lost.* \d+ of {RUNS} runs are finished"):
        headgate.sweep(swept, out=tmp_path / "out", cluster=cluster.address, watcher=watcher)
    (folder,) = (tmp_path / "out").iterdir()
    kept = headgate.Sweep.load(folder).points.num_rows
    assert 4 <= kept < RUNS
    resumed = headgate.sweep(swept, out=tmp_path / "out")
    assert resumed.cost.runs == RUNS - kept
    assert every_file(folder) == every_file(Path(dataset.url))


@contextmanager
def http_server() -> Iterator[str]:
    """The address of a server that speaks HTTP."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer():
            with suppress(OSError):  # when the server ends
                while True:
                    accepted, _ = server.accept()
                    with accepted:
                        accepted.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                        accepted.recv(1 << 16)

        thread = threading.Thread(target=answer)
        thread.start()
        yield f"tcp://127.0.0.1:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)
        thread.join()


def test_an_unreachable_cluster_fails_in_seconds_and_writes_nothing(
    swept: Path, tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(clusters, "TIMEOUT_S", 0.5)
    before = every_file(tmp_path)
    with socket.socket() as bound:  # bound, but not listening
        bound.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{bound.getsockname()[1]}"
        done = command("sweep", swept, "--cluster", address)
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr.startswith(f"error: no Dask scheduler answers at {address}: ")
    assert every_file(tmp_path) == before
    assert command("sweep", swept, "--cluster", "nonsense://x").returncode == 4
    with http_server() as address:
        done = command("sweep", swept, "--cluster", address)
    assert (done.returncode, done.stderr) == (4, f"error: the server at {address} is not a Dask scheduler\n")
    assert command("sweep", swept, "--cluster", address, "--threads", 2).returncode == 2
