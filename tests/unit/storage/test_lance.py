"""LanceDB is imported without the client of a remote catalogue."""

import subprocess
import sys

API = "lance_namespace_urllib3_client.api"
LEFT_OUT = f"""
import sys, tempfile
from mcp_memory.storage.tables import import_lancedb
database = import_lancedb().connect(tempfile.mkdtemp())
database.create_table("one", [{{"tx": 1}}])
assert database.list_tables().tables == ["one"]
assert database.open_table("one").count_rows() == 1
assert {API!r} not in sys.modules
import lance_namespace_urllib3_client as client
assert client.TableApi.__name__ == "TableApi" and client.__version__
assert {API!r} in sys.modules
"""


def test_the_client_is_run_only_when_somebody_asks_for_it():
    subprocess.run([sys.executable, "-c", LEFT_OUT], check=True)
