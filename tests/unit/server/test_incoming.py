"""Lines of a client: what is read, what is refused, and under which id."""

import io
import json

import pytest

from mcp_memory.server.incoming import KEPT, VALUES, read_line, request_id, too_many_values


def lines(data, most=100_000):
    file = io.BytesIO(data)
    found = []
    while read := read_line(file, most):
        found.append(read)
    return found


def request(**fields):
    return json.dumps({"jsonrpc": "2.0", **fields}).encode() + b"\n"


def test_lines_are_read_as_they_are_up_to_the_limit():
    assert lines(b'{"a":1}\n\n\xffb\r\nlast', most=8) == [
        ('{"a":1}\n', None),
        ("\n", None),
        ("\ufffdb\r\n", None),
        ("last", None),
    ]
    assert [refusal is None for _, refusal in lines(b"x" * 8 + b"\n" + b"x" * 9 + b"\nshort\n", most=8)] == [
        True,
        False,
        True,
    ]


@pytest.mark.parametrize("size", [100_001, KEPT * 2, 3_000_000])
@pytest.mark.parametrize("number", [7, 'seven: "}', -1])
def test_a_longer_line_is_refused_under_its_id_wherever_that_stands(size, number):
    long = {"arguments": {"text": 'a "id": 9, ' * (size // 10), "id": 8}, "id": 8}
    first, last = request(id=number, method="tools/call", params=long), request(params=long, method="x", id=number)
    middle = request(params=long, id=number, method="tools/call")
    read = lines(first + last + middle + request(id=1))
    assert [refusal is None for _, refusal in read] == [False, False, False, True]
    for line, refusal in read[:3]:
        assert line == ""
        told = json.loads(refusal)
        assert (told["id"], told["error"]["code"]) == (number, -32600)
        assert "server.max_line" in told["error"]["message"]
        assert refusal.count("\n") == 1
    assert json.loads(read[3][0])["id"] == 1


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
    ((_, refusal),) = lines(line)
    told = json.loads(refusal)
    assert (told["id"], told["error"]["code"]) == (None, -32700)


def test_a_line_of_very_many_values_is_refused_under_its_id_and_one_of_very_many_commas_is_not():
    ((line, refusal),) = lines(request(id=3, params=[[]] * VALUES), most=10**9)
    assert (line, json.loads(refusal)["id"]) == ("", 3)
    ((line, refusal),) = lines(request(id=3, params=", [ { " * VALUES), most=10**9)
    assert (refusal, json.loads(line)["id"]) == (None, 3)


def test_values_of_a_text_are_counted_without_those_in_its_strings():
    assert not too_many_values(json.dumps(['"[,{\\' * VALUES]))
    assert too_many_values("[" + "1," * VALUES + "1]")


def test_an_id_that_may_be_cut_off_is_not_given():
    assert request_id('{"id": 123', "") is None
    assert request_id('{"id": "12', "") is None
    assert request_id('{"id": true,', "") is None
