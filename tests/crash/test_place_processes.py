"""What puts a store somewhere, or makes its tables again, is killed at a few of its steps (`kill_places.py`)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("kill_places.py")


@pytest.mark.skipif(sys.platform == "win32", reason="no process is forked there")
def test_whatever_is_killed_leaves_one_whole_memory_or_says_what_mends_it() -> None:
    command = [sys.executable, str(SCRIPT), "--rounds", "8", "--seed", "3"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
