"""Fixtures of the tests that run gateways as commands."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.live.gateways import Gateway, Gateways
from tests.live.roads import GatewayNetwork


@pytest.fixture
def gateway(roads: GatewayNetwork, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Gateway]]:
    """Starts gateways of the test's `roads`, whose sockets lie in `tmp_path / "run"`, and kills them at its end."""
    (tmp_path / "run").mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    with Gateways() as gateways:
        yield partial(gateways.start, roads)
