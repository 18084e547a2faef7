"""Lines of a client: what is read, what is refused, and under which id."""

import io
import json

import pytest

from mcp_memory.bounds import MOST_VALUES
from mcp_memory.server.incoming import KEPT_BYTES, read_message, without_halves


def lines(data, most=100_000):
    """Return a message as JSON, or the error that its line got, for each line that is not blank."""
    file = io.BytesIO(data)
    found = []
    while read := read_message(file, most):
        message, refusal = read
        assert (message is None) == bool(refusal)
        assert "\n" not in refusal
        found.append(message.model_dump(exclude_unset=True) if message else json.loads(refusal))
    return found


def request(**fields):
    return json.dumps({"jsonrpc": "2.0", **fields}).encode() + b"\n"


def code_and_id(line):
    (told,) = lines(line)
    return told["error"]["code"], told["id"]


def test_lines_are_read_up_to_the_limit_whatever_ends_them():
    ping = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
    read = lines(b"\xef\xbb\xbf" + ping + b"\r\n\r\n\n" + ping + b" " * 60 + b"\n" + ping, most=60)
    assert [message.get("method") for message in read] == ["ping", None, "ping"]
    assert "server.max_line" in read[1]["error"]["message"]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (b"Content-Length: 40\r\n", None),
        (b'{"jsonrpc":"2.0","id":4,"method":"ping"\n', 4),
        (b'{"jsonrpc":"2.0","id":4,"method":"ping"} {"jsonrpc":"2.0","id":5,"method":"ping"}\n', 4),
        (b"{'jsonrpc':'2.0','id':4,'method':'ping'}\n", None),
        (b'{"jsonrpc":"2.0","id":4,"method":"ping","params":' + b"[" * 5000 + b"]" * 5000 + b"}\n", 4),
        (b"\xff\xfe{\x00}\x00\n", None),
        (b"\x00\n", None),
    ],
)
def test_a_line_that_is_not_json_gets_a_parse_error(line, told):
    assert code_and_id(line) == (-32700, told)


@pytest.mark.parametrize("number", [b"NaN", b"-Infinity", b'"caf\xe9"', b'"\xc3"'])
def test_a_request_that_is_json_but_for_a_number_or_byte_is_refused_under_its_id(number):
    line = b'{"jsonrpc":"2.0","id":"a4","method":"tools/call","params":{"x":' + number + b"}}\n"
    assert code_and_id(line) == (-32700, "a4")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        *((line, None) for line in (b"{}", b"[]", b"null", b"7", b'"ping"')),
        *((request(id=wrong, method="ping"), None) for wrong in (None, 1.5, True, {})),
        (request(id=4), 4),
        (b'{"id":4,"method":"ping"}', 4),
        (b'{"jsonrpc":"1.0","id":4,"method":"ping"}', 4),
        (request(id="x", method=["ping"]), "x"),
        (request(id=4, method="ping", params=[1]), 4),
        (request(method="ping", params="x"), None),
        (request(id=4, result=[]), None),  # a reply to the server's own request 4
        (request(id=4, error="no"), None),
        (b"[" + request(id=4, method="ping").strip() + b"]", None),
    ],
)
def test_json_that_is_no_request_is_refused_under_the_id_that_it_has(line, told):
    assert code_and_id(line + b"\n") == (-32600, told)


HALVES = ["\ud800", "\udfff", "a\udc00\ud800b", "\\\ud9ab", "\ud83d\ud83d\ude00", "\udead"]


@pytest.mark.parametrize("text", HALVES)
def test_half_a_pair_becomes_the_replacement_character_wherever_it_stands(text):
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    fields = {"id": text, "method": "x", "params": {text: [text, {"deep": text}]}}
    (read,) = lines(request(**fields))
    assert read == {"jsonrpc": "2.0", "id": whole, "method": "x", "params": {whole: [whole, {"deep": whole}]}}
    assert len(without_halves(request(**fields))) == len(request(**fields))


@pytest.mark.parametrize("text", ["\\ud83d", "\\\\ud800 \U0001f600", "\U0001f600", "ud83d", "\n\\u"])
def test_whole_characters_and_words_about_escapes_stay_as_they_are(text):
    line = request(id=1, method="x", params={"t": text})
    assert without_halves(line) == line
    assert lines(line)[0]["params"] == {"t": text}
    assert without_halves(json.dumps([text, "\ud800"]).encode()) == json.dumps([text, "\ufffd"]).encode()


@pytest.mark.parametrize("size", [100_001, KEPT_BYTES * 2, 3_000_000])
@pytest.mark.parametrize("number", [7, 'seven: "}', -1])
def test_a_longer_line_is_refused_under_its_id_wherever_that_stands(size, number):
    long = {"arguments": {"text": 'a "id": 9, ' * (size // 10), "id": 8}, "id": 8}
    first, last = request(id=number, method="tools/call", params=long), request(params=long, method="x", id=number)
    middle = request(params=long, id=number, method="tools/call")
    *refused, read = lines(first + last + middle + request(id=1, method="ping"))
    for told in refused:
        assert (told["id"], told["error"]["code"]) == (number, -32600)
        assert "server.max_line" in told["error"]["message"]
    assert (len(refused), read["id"]) == (3, 1)


@pytest.mark.parametrize(
    "line",
    [
        b'{"params":{"id":5,"x":"' + b"y" * 200_000 + b'"}}\n',
        b'[{"id":5,"x":"' + b"y" * 200_000 + b'"}]\n',
        b'{"x":"' + b"y" * 200_000 + b'","id":{"a":5}}\n',
        b"y" * 200_000,
    ],
)
def test_an_id_of_something_else_is_not_taken_for_the_lines(line):
    assert code_and_id(line) == (-32700, None)


def test_a_line_of_very_many_values_is_refused_under_its_id_and_one_of_very_many_commas_is_not():
    (told,) = lines(request(id=3, method="x", params={"a": [[]] * MOST_VALUES}), most=10**9)
    assert (told["id"], told["error"]["code"]) == (3, -32600)
    (read,) = lines(request(id=3, method="x", params={"a": ", [ { " * MOST_VALUES}), most=10**9)
    assert (read["id"], len(read["params"]["a"])) == (3, 6 * MOST_VALUES)
