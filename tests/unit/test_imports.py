"""The package's files form no import circle, and adapters are known only where the contributing guide says."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import networkx as nx

import mcp_memory

PACKAGE = Path(mcp_memory.__file__).parent


def test_no_file_imports_itself_through_others() -> None:
    """Imports inside functions count; those for type checking alone do not run, so they do not count."""
    circles = [sorted(circle) for circle in nx.strongly_connected_components(import_graph()) if len(circle) > 1]
    assert not circles, "\n".join(f"import circle: {' <-> '.join(circle)}" for circle in circles)


def test_adapters_are_known_only_where_the_contributing_guide_says() -> None:
    adapters = {"storage", "embedding", "reasoning", "rules", "privacy"}
    knowing = {
        (room_of(name), room_of(imported))
        for name, imported in import_graph().edges
        if room_of(imported) in adapters - {room_of(name)} and not imported.endswith(".settings")
    }
    opening = {room for room, _ in knowing}
    assert opening == {"wiring", "memory", "commands"}
    assert {adapter for room, adapter in knowing if room == "memory"} == {"rules"}


def room_of(module: str) -> str:
    return module.partition(".")[2].partition(".")[0]


def import_graph() -> nx.DiGraph[str]:
    """Return an edge from each module of the package to each module that it imports."""
    paths = PACKAGE.rglob("*.py")
    modules = {".".join(("mcp_memory", *path.relative_to(PACKAGE).with_suffix("").parts)): path for path in paths}
    modules = {name.removesuffix(".__init__"): path for name, path in modules.items()}
    graph = nx.DiGraph()
    for name, path in modules.items():
        for node in running(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                imported = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module:
                members = (f"{node.module}.{alias.name}" for alias in node.names)
                imported = [member if member in modules else node.module for member in members]
            else:
                continue
            graph.add_edges_from((name, module) for module in imported if module in modules)
    return graph


def running(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a tree except what stands under ``if TYPE_CHECKING``."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            for other in node.orelse:
                yield other
                yield from running(other)
        else:
            yield node
            yield from running(node)
