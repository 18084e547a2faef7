"""The documents and the code refer to each other, and no reference leads nowhere."""

import ast
import builtins
import re
import tomllib
from collections import defaultdict
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
DESIGN = (ROOT / "docs" / "DESIGN.md").read_text(encoding="utf-8")
REFERENCE = re.compile(r"DESIGN(?:\.md)?\s+(?P<first>[DILW]?\d+(?:\.\d+)?)(?:\s+step\s+(?P<step>\d+))?")
FURTHER = re.compile(r"(?:,|,? and|,? or|,? to)\s+(?P<next>[DILW]\d+|\d\.\d)\b")
PACKAGE = ROOT / "mcp_memory"
DOCUMENTS = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/*.md")
CHECKED_NAMES = ("docs/ARCHITECTURE.md", "CONTRIBUTING.md")
CODE = re.compile(r"`([^`\n]+)`")
FILE = re.compile(r"(?:[\w.*-]+/)*[\w*-][\w.*-]*\.(?:py|md|toml|txt|jsonl)|(?:[\w.*-]+/)+[\w*.-]*")
MODULE = re.compile(r"``((?:[\w*-]+/)*[\w*-]+\.(?:py|md|toml))``")
QUOTED = re.compile(r"(?<!`)`([A-Za-z_][\w.]*)`(?!`)")
NAME = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
ELSEWHERE = re.compile(  # files of the user and of stores
    r"config\.toml|(?:\.vscode/)?mcp\.json|DATA\..*|memory\.jsonl|claude_desktop_config\.json|~/\..*|%APPDATA%.*"
    r"|(?:log|places)\.jsonl|projects/\*\.json"
)
TEXTS = ("mcp_memory/**/*.py", "tests/**/*.py", "prompts/**/*", "resources/**/*", "docs/*.md", "*.md", "*.toml")


def _texts():
    return [
        path
        for pattern in TEXTS
        for path in sorted(ROOT.glob(pattern))
        if path.suffix in (".py", ".md", ".toml", ".txt")
    ]


def _defined():
    """Return every label that the design document defines; steps as ``4 step 4``."""
    labels = set(re.findall(r"^#+ (\d+(?:\.\d+)?) ", DESIGN, re.MULTILINE))
    labels |= set(re.findall(r"^(?:\| |- \*\*)([DILW]\d+)\b", DESIGN, re.MULTILINE))
    for chapter in re.split(r"^(?=# \d+ )", DESIGN, flags=re.MULTILINE)[1:]:
        labels |= {f"{chapter.split()[1]} step {step}" for step in re.findall(r"^(\d+)\. ", chapter, re.MULTILINE)}
    return labels


def _references(text):
    """Return the labels that a text refers to, also those that follow the first: "DESIGN I12 to I16"."""
    joined = re.sub(r"\n\s*(?:#\s*)?", " ", text)
    labels = []
    for match in REFERENCE.finditer(joined):
        labels.append(match["first"] + (f" step {match['step']}" if match["step"] else ""))
        end = match.end()
        while further := FURTHER.match(joined, end):
            labels.append(further["next"])
            end = further.end()
    return labels


def test_every_reference_to_the_design_resolves():
    defined = _defined()
    assert {"1.3", "D33", "I38", "L6", "W8", "4 step 4"} <= defined
    missing = {
        path.relative_to(ROOT).as_posix(): unknown
        for path in _texts()
        if path != Path(__file__) and (unknown := set(_references(path.read_text(encoding="utf-8"))) - defined)
    }
    assert not missing, "docs/DESIGN.md does not define these labels"


def _documents():
    return [path for pattern in DOCUMENTS for path in sorted(ROOT.glob(pattern))]


def _prose(path):
    """Return the text of a document without its blocks of code."""
    return re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


@cache
def _trees():
    """Return the parsed files of the package, by their path in it."""
    return {
        path.relative_to(PACKAGE).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for path in PACKAGE.rglob("*.py")
    }


@cache
def _classes():
    """Return the files of the package that define each class, by its name."""
    files = defaultdict(set)
    for path, tree in _trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                files[node.name].add(path)
    return files


@cache
def _paths():
    """Return every file and folder that a document may name by the end of its path."""
    folders = ("mcp_memory", "tests", "prompts", "resources", "docs")
    return [f"/{path.relative_to(ROOT).as_posix()}" for folder in folders for path in (ROOT / folder).rglob("*")]


def _names_a_file(name):
    if ELSEWHERE.fullmatch(name) or (ROOT / name.rstrip("/")).exists():
        return True
    return any(fnmatchcase(path, f"*/{name.rstrip('/')}") for path in _paths())


def _anchors(path):
    headings = re.findall(r"^#+ (.+)$", _prose(path), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_class_that_the_glossary_names_exists():
    glossary = (ROOT / "docs" / "GLOSSARY.md").read_text(encoding="utf-8")
    named = {name for name in CODE.findall(glossary) if re.fullmatch(r"[A-Z]\w+", name)}
    assert len(named) >= 20
    assert named <= set(_classes())


def test_no_class_name_is_defined_twice():
    assert not {name: files for name, files in _classes().items() if len(files) > 1}


def test_every_link_between_documents_resolves():
    broken = []
    for path in _documents():
        for target in re.findall(r"\]\(([^)\s]+)\)", _prose(path)):
            file, _, anchor = target.partition("#")
            if "://" in target:
                continue
            linked = path.parent / file if file else path
            if not linked.exists() or (anchor and anchor not in _anchors(linked)):
                broken.append(f"{path.name}: {target}")
    assert not broken


def test_every_file_that_a_document_names_exists():
    named = {
        f"{path.name}: {name}"
        for path in _documents()
        for name in CODE.findall(_prose(path))
        if FILE.fullmatch(name) and not _names_a_file(name)
    }
    assert not named


def test_every_module_that_a_comment_or_docstring_names_exists():
    named = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in _texts()
        if path.suffix != ".md"
        for name in MODULE.findall(path.read_text(encoding="utf-8"))
        if not _names_a_file(name)
    }
    assert not named


def test_every_name_that_a_docstring_of_the_package_quotes_exists():
    known = set(dir(builtins))
    quoted = []
    for path, tree in _trees().items():
        known |= set(Path(path).with_suffix("").parts)
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Expr)
                and isinstance(node.value, ast.Constant)
                and isinstance(node.value.value, str)
            ):
                quoted += [(path, name) for name in QUOTED.findall(node.value.value)]
            for field in ("id", "attr", "name", "asname", "arg"):
                known |= set(str(getattr(node, field, "")).split("."))
    known |= {"mcp_memory", "dataclasses"}
    assert len(quoted) > 200
    assert not [(file, name) for file, name in quoted if not set(name.split(".")) <= known]


def test_every_name_in_the_architecture_and_the_contributing_guide_stands_in_the_code():
    texts = [path for folder in ("mcp_memory", "tests", "resources") for path in (ROOT / folder).rglob("*.*")]
    code = {
        word
        for path in (*texts, ROOT / "pyproject.toml")
        if path.suffix in (".py", ".toml")
        for word in re.findall(r"\w+", path.read_text(encoding="utf-8"))
    }
    unknown = {
        f"{document}: {name}"
        for document in CHECKED_NAMES
        for name in CODE.findall(_prose(ROOT / document))
        if NAME.fullmatch(name) and not FILE.fullmatch(name) and not set(name.split(".")) <= code
    }
    assert not unknown


def test_the_table_of_papers_has_every_switch():
    switches = tomllib.loads((ROOT / "config.example.toml").read_text(encoding="utf-8"))["switches"]
    chapter = _prose(ROOT / "docs" / "ARCHITECTURE.md").partition("## Where each paper lives")[2].partition("\n## ")[0]
    rows = [line.split(" | ") for line in chapter.splitlines() if line.startswith("| ")]
    named = [name for row in rows for name in CODE.findall(row[2])]
    assert rows[0][2] == "switches"
    assert set(named) == set(switches)
