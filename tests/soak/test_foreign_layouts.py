"""A few layouts of what somebody else has put in and around a store; the script tries hundreds."""

from pathlib import Path

import pytest
from soak.foreign_layouts import run


@pytest.mark.parametrize("seed", [10, 45])
def test_no_command_changes_or_removes_what_the_program_did_not_write(tmp_path: Path, seed: int) -> None:
    found = run(tmp_path, layouts=2, seed=seed)
    assert found.wrong == []
    assert found.planted
