"""memory_forget through the protocol: the schema, the preview, the deed, and what others see."""

from fakes import Disk
from integration.client_calls import connected, refused, said, structured
from unit.services.learning_memory import memory, told


async def test_a_client_previews_forgets_and_recalls_nothing_of_it():
    disk = Disk()
    await told(memory(disk))
    before = disk.commits
    async with connected(disk) as client:
        preview = await structured(client, "memory_forget", query="beagle")
        assert (preview["dry_run"], preview["forgotten"]["messages"], preview["engine"]) == (True, 1, "caller")
        assert any("I adopted a beagle" in line for line in preview["affected"])
        assert "beagle" in str((await structured(client, "memory_reconstruct", query="beagle"))["evidence"])
        assert disk.commits == before
        given = {"query": "beagle", "dry_run": False, "token": preview["token"]}
        text = await said(client, "memory_forget", **given)
        assert "Forgotten in space 'default': 1 message" in text
        assert "Copies elsewhere remain" in text
        assert "is not the token" in await refused(client, "memory_forget", **given)
        found = await structured(client, "memory_reconstruct", query="beagle")
        assert not any("beagle" in item["text"] for item in found["evidence"])


BAD = [
    ({}, "none of them was given"),
    ({"query": "beagle", "entity": "Ann"}, "entity and query came together"),
    ({"ids": ["a"], "everything": True}, "ids and everything came together"),
    ({"query": "beagle", "dry_run": False}, "token: is missing"),
    ({"query": "beagle", "dry_run": False, "token": "0123456789ab"}, "is not the token"),
    ({"ids": ["unknown"], "dry_run": False}, "is not known in space 'default'"),
    ({"ids": ["unknown"]}, "is not known in space 'default'"),
    ({"session": "nowhere"}, "is not known in space 'default'"),
    ({"since": "2024-02-01", "until": "2024-01-01"}, "is not before until"),
    ({"query": " "}, "none of them was given"),
    ({"query": "beagle", "everything": "yes"}, "everything: 'yes' is not true or false"),
    ({"query": "beagle", "space": "not a name"}, "is not the name of a space"),
]


async def test_bad_input_is_refused_in_words_and_changes_nothing():
    disk = Disk()
    await told(memory(disk))
    before = disk.commits
    async with connected(disk) as client:
        for arguments, words in BAD:
            assert words in await refused(client, "memory_forget", **arguments), arguments
    assert disk.commits == before
