"""Read an export, and check all of it before anything is stored.

A file is read twice, line by line: first it is checked, then it is stored, so that a file larger than the memory can be
imported, and one that is wrong anywhere changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import BinaryIO, Literal

from mcp_memory.domain.access import SPACE_NAME
from mcp_memory.domain.batch import Masking
from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.turns import Turn
from mcp_memory.errors import InvalidInput
from mcp_memory.services.transfer.format import FORMAT, LINE_BYTES, VERSION, BadLine, Fields
from mcp_memory.services.transfer.records import Reader, Value
from mcp_memory.services.transfer.renaming import Renaming
from mcp_memory.view.view import View
from mcp_memory.visible import with_masks

SHOWN = 5
"""Bad lines that one error names."""
HEADER_BYTES = 1 << 20
"""Most bytes of a first line; a file of another program may be one line of gigabytes."""

OpenFile = Callable[[], BinaryIO]


@dataclass(frozen=True, slots=True)
class Checked:
    """What the first pass found.

    Attributes:
        records: how many there are.
        renaming: where they go.
        taken: ids in the file of texts in whose place the store holds other words.
    """

    records: int
    renaming: Renaming
    taken: frozenset[str] = frozenset()


def check(
    open_file: OpenFile, view: View, into: str | None, renamed: Mapping[str, str], masking: Masking, *, part: bool
) -> Checked:
    """Check every line of a file against the format, the lines before it, and the store. Blocking.

    Args:
        open_file: opens the file.
        view: the view of the store.
        into: the space that everything goes into; None for those of the file.
        renamed: other names for spaces of the file.
        masking: the masking of secrets in it.
        part: whether a text may be left out in whose place another one stands.

    Raises:
        InvalidInput: the file is none of ours, or cut short, or some lines cannot be imported; it names them.
    """
    with open_file() as file:
        renaming = Renaming(_targets(_header(file), into, renamed), view)
    reader, bad, count, taken = Reader(renaming, masking), list[InvalidInput](), 0, set[str]()
    try:
        for line, value in read_records(open_file, reader):
            if isinstance(value, BadLine):
                bad.append(value.at(line))
            elif (clash := _clash(value, view)) is not None and part and isinstance(value, Turn):
                taken.add(renaming.former[value.id])
            elif clash is not None:
                bad.append(clash.at(line))
            count += 1
            if len(bad) == SHOWN:
                break
    except InvalidInput as cut_short:
        bad.append(cut_short)
    if bad:
        more = " There may be more." if len(bad) == SHOWN else ""
        raise InvalidInput("FILE", "it cannot be imported", "", [*map(str, bad), f"Nothing was stored.{more}"])
    renaming.settle()
    return Checked(count, renaming, frozenset(taken))


def read_records(open_file: OpenFile, reader: Reader) -> Iterator[tuple[int, Value | BadLine]]:
    """Yield each record of a file with the number of its line, or what is wrong with it.

    Raises:
        InvalidInput: the file is none of ours, or cut short.
    """
    with open_file() as file:
        _header(file)
        number, records = 1, 0
        while text := file.readline(LINE_BYTES + 1):
            number += 1
            if not text.endswith(b"\n") or len(text) > LINE_BYTES:
                problem = "has no end" if len(text) <= LINE_BYTES else f"is longer than {LINE_BYTES:,} bytes"
                raise _cut_short(number, problem)
            if not text.strip():
                continue
            try:
                fields = Fields(text)
                if "records" in fields and fields.take("record", Literal["end"]):
                    if fields.take("records", int) != records:
                        raise _cut_short(number, f"does not count the {records:,} records before it")
                    if file.readline(1):
                        raise _cut_short(number + 1, "stands behind the end")
                    return
                value: Value | BadLine = reader.read(fields, number)
            except BadLine as problem:
                value = problem
            records += 1
            yield number, value
    raise _cut_short(number + 1, "is missing: the last line of an export says how many records there are")


def _cut_short(line: int, problem: str) -> InvalidInput:
    remedy = "Copy or export it again; if you took lines out, correct the number of records in the last line."
    return InvalidInput(f"line {line}", f"{problem}. The file was cut short or changed", remedy)


def _header(file: BinaryIO) -> list[str]:
    """Return the spaces that the first line of a file names; the file is at the second line afterwards."""
    try:
        fields = Fields(file.readline(HEADER_BYTES))
        known = fields.take("format", str) == FORMAT
    except BadLine:
        known = False
    if not known:
        remedy = "Import a file that `mcp-memory export` has written."
        raise InvalidInput("FILE", "this is no export of mcp-memory: its first line does not say so", remedy)
    try:
        version = fields.take("version", int)
        if version != VERSION:
            problem = f"its format has the version {version}, and this program knows {VERSION}"
            raise InvalidInput("FILE", problem, "Import it with the newer mcp-memory that wrote it.")
        fields.take("program", str)
        fields.take("exported", int)
        spaces: tuple[str, ...] = fields.take("spaces", tuple[str, ...], ())
        fields.finish()
        if wrong := next((name for name in spaces if not SPACE_NAME.fullmatch(name)), None):
            raise BadLine(f"names a space {wrong[:80]!r}", "Give the name of a space.")
    except BadLine as problem:
        raise problem.at(1) from None
    return list(spaces)


def _targets(spaces: list[str], into: str | None, renamed: Mapping[str, str]) -> dict[str, str]:
    """Return the space that each space of a file goes into."""
    if into is not None and len(spaces) > 1:
        remedy = "Name each with --map OLD=NEW, or export one of them with --space."
        raise InvalidInput("--space", f"the file holds several: {', '.join(spaces)}", remedy)
    unknown = [name for name in renamed if name not in spaces]
    if unknown:
        raise InvalidInput("--map", f"the file holds no space {unknown[0]!r}", f"It holds: {', '.join(spaces)}.")
    targets = {name: into or renamed.get(name, name) for name in spaces}
    if len(set(targets.values())) < len(targets):
        raise InvalidInput("--map", "two spaces would become one", "Give each a space of its own.")
    return targets


def _clash(value: Value, view: View) -> BadLine | None:
    """Return what is wrong with a value beside those that the store holds already."""
    if isinstance(value, Turn):
        return clash_of(value, view)
    if isinstance(value, Assertion):
        known = view.space(value.space).facts.assertion(value.id)
        if known is not None and known.turn_id != value.turn_id:
            return BadLine(f"has the id of another fact, {value.id!r}", "Import it into another space (--space).")
    return None


def clash_of(turn: Turn, view: View) -> BadLine | None:
    """Return what is wrong with a text if the store holds another one in its place."""
    space = view.space(turn.space)
    held = next((one for one in space.revisions(turn.session, turn.ref) if one.revision == turn.revision), None)
    if held is None:
        return None
    if (held.id, held.kind, with_masks(held.text)) == (turn.id, turn.kind, with_masks(turn.text)):
        return None
    problem = f"is stored with other words: {held.kind} {turn.ref[:80]!r} of session {turn.session[:80]!r}"
    return BadLine(problem, "Import into another space (--space NAME or --map OLD=NEW).")
