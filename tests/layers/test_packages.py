"""The packages of `python/headgate` import in one direction: pyproject.toml names their layers."""

from pathlib import Path

import pytest
from importlinter.cli import EXIT_STATUS_SUCCESS, lint_imports

ROOT = Path(__file__).parents[2]


def test_no_import_runs_upwards_or_in_a_circle(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(ROOT / "python")
    status = lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True)
    assert status == EXIT_STATUS_SUCCESS, capsys.readouterr().out


def test_an_upward_import_is_reported(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    package = tmp_path / "upside_down"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "top.py").touch()
    (package / "bottom.py").write_text("from upside_down import top\n")
    config = tmp_path / "pyproject.toml"
    contract = 'id = "a"\nname = "layers"\ntype = "layers"\ncontainers = ["upside_down"]\nlayers = ["top", "bottom"]\n'
    config.write_text(f'[tool.importlinter]\nroot_package = "upside_down"\n[[tool.importlinter.contracts]]\n{contract}')
    monkeypatch.syspath_prepend(tmp_path)
    assert lint_imports(config_filename=str(config), no_cache=True) != EXIT_STATUS_SUCCESS
    assert "upside_down.bottom -> upside_down.top" in capsys.readouterr().out
