"""What people tell of their work; everything is said on Monday 8 May 2023 by Maria."""

import pytest
from reading import facts, read

from mcp_memory.language import iso


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Default page size: 40", ["Default page size set_to 40"]),
        ("the session timeout is 45 minutes", ["session timeout set_to 45 minutes"]),
        ("Rate limit: 90 req/min per client", ["Rate limit set_to 90 req/min per client"]),
        ("max attachment size 12 MB", ["max attachment size set_to 12 MB"]),
        ("log level is debug", ["log level set_to debug"]),
        ("the gateway times out after 8 s", ["gateway set_to 8 s"]),
        ("a parcel label costs 12 ct a piece", ["parcel label set_to 12 ct a piece"]),
        ("max 6 parallel jobs", ["max parallel jobs set_to 6"]),
    ],
)
def test_a_setting_has_a_value_with_its_unit(text: str, expected: list[str]) -> None:
    assert facts(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "We raised the upload limit from 10 MB to 30 MB.",
            ["upload limit set_to 30 MB", "not upload limit set_to 10 MB"],
        ),
        ("The max batch is 64, not 32", ["max batch set_to 64", "not max batch set_to 32"]),
        (
            "cache retention is 9 days now, it used to be 3",
            ["cache retention set_to 9 days", "not cache retention set_to 3"],
        ),
    ],
)
def test_a_new_value_denies_the_old_one(text: str, expected: list[str]) -> None:
    assert facts(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("staging runs on port 7071", "staging located_at port 7071"),
        ("the style guide is at docs/style.md", "style guide located_at docs/style.md"),
        ("dumps: s3://fernwick-dumps", "dumps located_at s3://fernwick-dumps"),
        ("Grafana lives at https://stats.fernwick.test", "Grafana located_at https://stats.fernwick.test"),
        ("tests: `make check`", "tests has_command make check"),
        ("start the worker with `uv run worker`", "start the worker has_command uv run worker"),
        ("seed data: npm run seed", "seed data has_command npm run seed"),
        ("Owner of the billing module: Ilka", "billing module owned_by Ilka"),
        ("the parser repo belongs to Tomke now", "parser repo owned_by Tomke"),
        ("Jorun takes over the deploy scripts", "deploy scripts owned_by Jorun"),
        ("the scheduler service is mine", "scheduler service owned_by Maria"),
        ("Retro every second Friday", "Retro scheduled_for every second Friday"),
        ("Moritz is on call this week", "on call owned_by Moritz"),
        ("the docs moved to docs.fernwick.test", "docs located_at docs.fernwick.test"),
        ("access tokens are valid for 20 minutes", "access tokens set_to 20 minutes"),
        ("cert valid until 4 June", "cert ends_on 4 June"),
        ("we build with Bazel", "the project uses Bazel"),
        ("rules are loaded from S3 at boot", "rules located_at S3"),
        ("key prefix `fw.`", "key prefix set_to fw."),
        ("min version is iOS 16", "min version set_to iOS 16"),
        ("secrets are in Vault", "secrets located_at Vault"),
        ("CI is Buildkite for the backend", "CI uses Buildkite"),
        ("release branch is `rel/7`", "the project has_branch rel/7"),
        ("upgraded to Django 5.1", "Django has_version 5.1"),
        ("I upgraded Postgres to version 16 last night.", "Postgres has_version 16"),
    ],
)
def test_a_note_gives_the_value_of_a_thing(text: str, expected: str) -> None:
    assert facts(text) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We use Postgres and Redis.", ["the project uses Postgres", "the project uses Redis"]),
        ("I'm using Flask 3.0 and SQLite for the API", ["Maria uses Flask 3.0", "Maria uses SQLite"]),
        ("the importer runs on Node 20", ["importer uses Node 20"]),
        (
            "We moved from Jenkins to GitHub Actions because the runners were flaky.",
            [
                "Jenkins replaced_by GitHub Actions",
                "not the project uses Jenkins",
                "the project uses GitHub Actions",
                "moved from Jenkins to GitHub Actions because the runners were flaky",
            ],
        ),
        (
            "search was switched from Solr to Typesense",
            ["Solr replaced_by Typesense", "not search uses Solr", "search uses Typesense"],
        ),
        (
            "We went with Svelte over React since it is smaller",
            [
                "the project chose Svelte",
                "the project decided_against React",
                "went with Svelte over React because it is smaller",
            ],
        ),
        ("We decided to drop the beta API", ["the project decided drop the beta API"]),
        (
            "Celery was replaced by Dramatiq.",
            ["Celery replaced_by Dramatiq", "not the project uses Celery", "the project uses Dramatiq"],
        ),
        ("we no longer use Sentry", ["not the project uses Sentry"]),
    ],
)
def test_what_a_team_uses_and_decides(text: str, expected: list[str]) -> None:
    assert facts(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The timeout is 30 s for the API and 60 for the worker.", ["timeout for API set_to 30 s"]),
        ("The port is 8080 on staging.", ["port on staging set_to 8080"]),
        ("The price is 9 euros for students.", ["price for students set_to 9 euros"]),
        ("The budget is 400 euros for the quarter.", ["budget set_to 400 euros"]),
        ("The target is 95 % by June.", ["target set_to 95 %"]),
        ("My target is 3 km a day.", ["Maria's target set_to 3 km a day"]),
        ("We raised the timeout to 45 s last week.", ["timeout set_to 45 s"]),
        ("The timeout is 30 s, right?", []),
        ("Their limit is 100 calls a day.", []),
        ("The timeout is 30 seconds too short.", []),
    ],
)
def test_a_value_is_told_with_its_rate_and_of_what_it_holds(text: str, expected: list[str]) -> None:
    assert facts(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Bumped the workers from 2 to 4.", ["workers set_to 4", "not workers set_to 2"]),
        ("Bumped the version to 2.4.1.", ["the project has_version 2.4.1"]),
        ("Upgraded eslint to 9.1.", ["eslint has_version 9.1"]),
    ],
)
def test_a_number_is_a_version_of_software_only(text: str, expected: list[str]) -> None:
    assert facts(text) == expected


def test_the_name_of_a_version_is_carried_to_the_new_one() -> None:
    told = facts("We moved the runners from Node 18 to 20.")
    assert told == ["Node 18 replaced_by Node 20", "not runners uses Node 18", "runners uses Node 20"]


@pytest.mark.parametrize("text", ["I started with Rust.", "I worked with Orlen Ltd on this."])
def test_who_works_with_something_is_not_employed_there(text: str) -> None:
    assert not [fact for fact in read(text) if fact.relation == "works_at"]


def test_what_was_decided_is_told_to_its_end() -> None:
    text = "We decided to cap the results at 9 to save API calls and improve the page."
    assert facts(text) == ["the project decided cap the results at 9 to save API calls and improve the page"]


def test_what_changes_hands_is_planned_from_its_date_on() -> None:
    fact = next(fact for fact in read("from 1 June the deploy scripts are mine") if fact.relation == "owned_by")

    assert (fact.head, fact.tail, fact.kind, iso.show(fact.since)[:10]) == (
        "deploy scripts",
        "Maria",
        "planned",
        "2023-06-01",
    )


def test_a_change_holds_from_its_date_on() -> None:
    started = {
        fact.relation: (iso.show(fact.since) or "")[:10] for fact in read("we switched from npm to pnpm on 2 May")
    }

    assert started == {"replaced_by": "2023-05-02", "uses": "2023-05-02"}


@pytest.mark.parametrize(
    "text",
    [
        "Should we use Redis for that?",
        "maybe we could raise the timeout to 60 s",
        "Let's switch from Jest to Vitest",
        "If the limit is 50, we are fine",
        "Set the timeout to 30 s, please",
        "the default timeout in nginx is 60 s",
        "there is a bug in parser.py",
        "I'd love to use Rust one day",
        "Dance is just me",
        "the height is 6",
        "He'll cost us 380 a month for his room.",
        "We moved from the city to the coast",
        "I'm using the `repeat` function",
        "the bug is in useFetch.ts",
        "we dropped support for Python 3.8",
        "we're moving from REST to gRPC",
        "Fernbot's user agent is fernbot/2.1",
    ],
)
def test_talk_that_settles_nothing_gives_no_fact_of_work(text: str) -> None:
    relations = {"set_to", "uses", "located_at", "has_command", "replaced_by", "decided", "chose", "owned_by"}

    assert not [fact for fact in read(text) if fact.relation in relations]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The staging bucket is called blue-whale", ["staging bucket named blue-whale"]),
        ("Our wifi network is named Harbour7", ["wifi network named Harbour7"]),
        ("My band is called Velvet Mire.", ["Maria's band named Velvet Mire"]),
        ("The trunk branch is called main.", ["the project has_branch main"]),
        ("the on-call number is 0455 220 118", ["on-call number set_to 0455 220 118"]),
        ("my customer number is 88213", ["Maria's customer number set_to 88213"]),
        ("Keys live in Consul under kv/orders/prod.", ["Keys located_at kv/orders/prod"]),
        ("the health check is /ready", ["health check located_at /ready"]),
        ("Feature flag `new_cart` is off since Friday.", ["Feature flag new_cart set_to off"]),
    ],
)
def test_a_name_or_a_number_is_a_value_of_its_thing(text: str, expected: list[str]) -> None:
    assert facts(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "The function is called twice.",
        "The queue is called often.",
        "the branch name is wrong",
        "my shop is called a lot",
        "the exit code is 137",
        "my old number is 0455 220 118",
        "is the bucket called blue-whale?",
    ],
)
def test_what_only_looks_like_a_name_or_a_number_gives_none(text: str) -> None:
    assert not [fact for fact in read(text) if fact.relation in ("named", "set_to", "phone") and fact.tail != "137"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Tilda has the API, Bo has the dashboard and, for now, the site.",
            ["API owned_by Tilda", "dashboard owned_by Bo"],
        ),
        ("Dashboard is Svelte 4.", ["Dashboard uses Svelte 4"]),
        ("API's on Python 3.13 as of 0.4.0", ["API uses Python 3.13"]),
        ("Worker retries default to 4.", ["Worker retries set_to 4"]),
        ("I put the default session timeout at 20 s.", ["default session timeout set_to 20 s"]),
        ("Bo fixed the proxy so I dropped the session timeout to 8 s", ["session timeout set_to 8 s"]),
        ("I've also put worker retries up from 2 to 4.", ["worker retries set_to 4", "not worker retries set_to 2"]),
        ("default upload limit's been 90 since Monday", ["default upload limit set_to 90"]),
    ],
)
def test_short_notes_of_a_team_tell_owners_tools_and_settings(text: str, expected: list[str]) -> None:
    assert facts(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("retention: raw rows 30 days, daily sums 2 years", ["retention set_to raw rows 30 days, daily sums 2 years"]),
        (
            "First pilot site: the dairy in Turku, for the API.",
            ["First pilot site set_to the dairy in Turku, for the API"],
        ),
        ("Correction on the API: Tuesday evening", []),
        ("backups: nightly at 03:15 UTC to the vault", ["backups scheduled_for nightly at 03:15"]),
        (
            "Olga does ingest, Rui the API, and I do the docs.",
            ["ingest owned_by Olga", "API owned_by Rui", "docs owned_by Maria"],
        ),
        ("Olga does yoga.", []),
        ("Login tokens last 12 hours.", ["Login tokens set_to 12 hours"]),
        ("The export is being fixed.", []),
        ("The export is done except for the dates.", []),
        ("Nothing is signed.", []),
    ],
)
def test_notes_of_who_does_what_and_what_is_done(text: str, expected: list[str]) -> None:
    assert facts(text) == expected
