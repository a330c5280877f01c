"""Every notebook runs from its first cell to its last, as a reader would run it."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).parents[2] / "docs" / "notebooks").glob("*.ipynb"))


def test_there_are_three():
    assert [file.stem for file in NOTEBOOKS] == ["first-comparison", "reading-a-result", "writing-a-discipline"]


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_a_notebook_runs(file: Path, tmp_path: Path):
    notebook = nbformat.read(file, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    # Outputs are made when the site is: stored ones would be old ones.
    assert not any(cell.outputs or cell.execution_count for cell in code)
    NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": tmp_path}}).execute()
    outputs = [output for cell in code for output in cell.outputs]
    assert [output.text for output in outputs if output.get("name") == "stderr"] == []
    assert any("image/png" in output.get("data", {}) for output in outputs)
