"""The order of a recall: what each text of a space scores for a query, and which texts are returned, best first.

Each stage adds scores by name to a `CandidateSet`, in this order; a `Candidate` says which it has:

1. the channels (``channels.py``), among them ``facts``, ``experience`` (from feedback), ``propagation`` and
   ``questions``, which other rooms compute; where the query gives dates, ``time`` and ``siblings`` (``times.py``);
2. what the best lead to by then: what they mention and name, ``links`` and ``entities`` (``links.py``);
3. ``parts``: other wordings of the query, by the caller, are each searched for by themselves;
4. ``reader``: a model that reads query and record together (`read_first`);
5. what the loop finds (``services/recall/loop.py``), and ``alike``, similar turns (`similar_turn_scores`); behind the
   best of the search (`CandidateSet.boost`).

Last, two things get places whatever their scores: what a caller named as helpful comes first (`rank_confirmed`;
``gain/gates.py``), and the messages of wishes that apply are among the evidence (`place_wishes`).

Messages and documents are found by different things, so each kind has its own formula: a weighted sum of channels. For
a message::

    (cos⁺/max cos⁺ + .7·BM25/max BM25 + .4·[said by the one speaker named] + .5·[not said by an assistant]) · max cos⁺

with BM25 over the words of the messages around, and the last two as far as the query wants them (`whose_words`). For a
document segment::

    cos + .015·BM25 + .3·[its title stands in the query]

Where the query compares documents, their titles count more.

**One scale.** Both formulas are in units of the cosine: the sum for messages is relative to the best of this query and
is multiplied by the best cosine that any message has. So a score means the same for both kinds, and a kind that does
not fit the query stays below. Nothing else merges them. The score returned is this number divided by the best one, cut
at 0: best = 1. (Measured in spaces with three dialogues and 4,000 to 9,000 passages: at most 1 point below each kind
alone, where z-scores for each kind lose 17.)

Maxima are taken over the segments that may be returned: live, within the window, of the role that is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from mcp_memory.configurable import Switches
from mcp_memory.domain.evidence import Wish
from mcp_memory.domain.query import Query, Window
from mcp_memory.domain.turns import Role
from mcp_memory.errors import EmbedderError
from mcp_memory.language.questions import asks_for_several, looks_back
from mcp_memory.language.tokens import mentions
from mcp_memory.language.wishes import is_small_talk
from mcp_memory.ports import PairReader
from mcp_memory.search.channels import (
    EXPERIENCE,
    FACTS,
    MEANING,
    PROPAGATION,
    QUESTIONS,
    SPEAKER,
    TITLE,
    TYPICAL_COSINE,
    USER_FIRST,
    WORDS,
    Channel,
    ChannelInput,
    SpeakerIndex,
    best_first,
    similarity,
    sum_scores,
)
from mcp_memory.search.exchanges import ExchangeIndex
from mcp_memory.search.links import ENTITIES, LINKS, lead_on
from mcp_memory.search.times import SIBLINGS, TIME, TimeIndex, add_temporal_scores, recallable
from mcp_memory.search.wishes import WishIndex
from mcp_memory.search.words import READ_CHARS, TitleIndex, WordIndex, message_text
from mcp_memory.vectors import Rows, Scores
from mcp_memory.view.entities import EntityIndex
from mcp_memory.view.space import NONE, Space

INDEXES = (WordIndex, SpeakerIndex, TitleIndex, TimeIndex, partial(EntityIndex, mentions), ExchangeIndex, WishIndex)
"""The indexes that a view must keep for its spaces so that they can be searched."""
PARTS = Channel("parts", talk=0.4, document=0.2)
"""The score of a search for another wording of the query.

Talk, measured with parts written by hand as sentences that might state the answer, for 50 questions to dialogues: +9
points of R@2 and +6 of R@5, with .2 +8 and +4; by the cosine alone -4 and 0. Documents, measured where the parts of
questions of several hops are known: +1.1 points of R@2 and +.9 of R@5 with those that stand by themselves, +1.3 and +.9
with all; .4 gives +.3 to +.9 of R@5, .7 costs .9; by the cosine alone 0. With parts written by hand, for 40 questions,
-1 and 0.
"""
READER = Channel("reader", talk=0.2, finds=False)
"""The reader's chance that a record helps, where the best score of the search counts 1; see `read_first`."""
CHANNELS: tuple[Channel, ...] = (
    MEANING,
    WORDS,
    SPEAKER,
    TITLE,
    TIME,
    FACTS,
    EXPERIENCE,
    PROPAGATION,
    LINKS,
    ENTITIES,
    QUESTIONS,
    PARTS,
    USER_FIRST,
    SIBLINGS,
    READER,
)
"""All channels, in the order in which their scores are added and ``via`` names them where two score the same."""
PART_EXPONENT = 3
"""How fast the score of a search for a part falls: only its best candidates are meant, the rest is noise."""
MOST_CANDIDATES = 200
"""Candidates that are returned unless the caller asks for another number."""
ALIKE = "alike"
"""The name of the similar-turn boost in ``via``."""
SIMILAR_WEIGHT = 0.4
"""Weight of the cosine with the best message.

Measured, R@10 with .2, .4 and .6: friends' talk 83.9 / 84.4 / 84.8, a year's records 52.8 / 53.7 / 53.7, chats with an
assistant 65.3 / 65.4 / 65.9, prompts in projects 51.8 / 51.3 / 50.5.
"""
SEVERAL_WEIGHT = 0.15
"""Weight of the cosine with a query that asks for several things."""
BOOSTED = 200
"""Best candidates that may gain, if they are messages."""
BACKGROUND = slice(20, 100)
"""Messages, by rank, whose mean is subtracted: those ranked 21st to 100th."""
MOST_RECORDS, READ_TOGETHER_CHARS = 24, 3_000
"""Records that are read at most, and characters of them with the query together."""
QUERY_CHARS = 190
"""Characters of a query that are read, about: of a longer one its beginning and its end."""
NO_DOUBT = 0.4
"""Share of the best score below which the second leaves no doubt."""
BEFORE_WISHES = 5
"""Records that stand before the messages of wishes."""
CONFIRMED_SUFFICIENCY = 0.7
"""The least sufficiency of evidence that a caller said helps."""
PLACED_WISHES = 3
"""Most messages of wishes that become evidence."""
_GAP = 0.01  # the share of a score within which boosted candidates stand below the one that keeps its place (`boost`)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A segment that was found.

    Attributes:
        row: the row of the segment.
        score: in [0, 1], best = 1.
        via: the channels that found it, strongest first.
        scores: by channel, those that are not 0, in units of the cosine.
    """

    row: int
    score: float
    via: tuple[str, ...]
    scores: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class CandidateSet:
    """The segments that may be returned with their scores, before they are ranked.

    Attributes:
        rows: the rows of the segments.
        scores: by channel, and by operator of the loop, each of shape ``(len(rows),)``, in units of the cosine.
        total: the sum of the scores where a channel found anything, else 0; shape ``(len(rows),)``.
    """

    rows: Rows
    scores: Mapping[str, Scores]
    total: Scores

    def add(self, gained: Mapping[str, Scores]) -> CandidateSet:
        """Return the set with further scores; those of a channel that it has count beside what is there."""
        scores = dict(self.scores)
        for name, more in gained.items():
            scores[name] = scores[name] + more if name in scores else more
        finding = [scores[channel.name] > 0 for channel in CHANNELS if channel.finds and channel.name in scores]
        total = np.where(np.any(finding, axis=0), sum_scores(scores, len(self.rows)), np.float32(0))
        return CandidateSet(self.rows, scores, total)

    def boost(self, space: Space, boosts: Mapping[str, Scores], keep: int = 0) -> CandidateSet:
        """Return the set with the scores of operators and of similar turns, its best turns in their places.

        Args:
            space: the space of the set.
            boosts: by name, each of shape ``(len(space.segments),)``; the names stand behind the channels in ``via``.
            keep: how many of the best turns keep their places; what would rise above them comes right behind.
        """
        added = {name: part[self.rows] for name, part in boosts.items()}
        total = self.total + sum_scores(added, len(self.rows))
        best = distinct_turns(space, self.rows, self.total, keep) if keep else []
        if best:
            bar = self.total[best[-1]]
            above = total > bar * np.float32(1 - _GAP)
            total[above] = bar * (1 - np.float32(_GAP) * bar / (bar + total[above]))  # in their order, below the bar
            total[best] = self.total[best]
        return CandidateSet(self.rows, {**self.scores, **added}, total)


def find_candidates(
    space: Space, query: Query, cosines: Scores, switches: Switches, external: Mapping[str, Scores] = {}
) -> CandidateSet | None:
    """Return the segments of a space with their scores for a query and its parts; None where no channel finds any.

    Args:
        space: its view keeps `INDEXES`.
        query: understood with the speakers of this space; only turns within its window and of its role are found.
            Without a vector, no single sentence is compared with it.
        cosines: of the query, shape ``(len(space.segments),)``; 0 where the store gave none.
        switches: which channels take part.
        external: by name the scores of channels that other rooms compute, each of shape ``(len(space.segments),)`` and
            in [-1, 1], below 0 for what speaks against a segment.
    """
    title_in_query = space.index(TitleIndex).in_query(space, query.text)
    open_ = recallable(space, query.window, query.role)
    kinds: list[tuple[Rows, dict[str, Scores]]] = []
    most = 0.0  # that a message gains for being no assistant's
    for talk in (True, False):
        rows = np.flatnonzero(open_ & (space.talk if talk else ~space.talk))
        if not len(rows):
            continue
        near, unit = cosines, 1.0
        if talk:
            near = np.maximum(near, 0)
            unit = (float(near[rows].max()) if switches.meaning else 0.0) or TYPICAL_COSINE
        inputs = ChannelInput(space, query, switches, rows, talk, near, unit, title_in_query)
        scores: dict[str, Scores] = {}
        for channel in CHANNELS:
            weight = channel.weight(talk)
            if channel.name in external:
                scores[channel.name] = external[channel.name][rows] * np.float32(weight * unit)
            elif channel.score and (own := channel.score(inputs, weight)) is not None:
                scores[channel.name] = own
        if talk and USER_FIRST.name in scores:
            # What messages gain for being no assistant's orders them, and says nothing against a document: of 22
            # questions to documents beside some 75 messages to an assistant, six found only talk without it, two with.
            most = max(most, float(scores[USER_FIRST.name].max()))
        scores = scores if inputs.time is None else add_temporal_scores(inputs, inputs.time, scores)
        if not talk and most:
            scores[USER_FIRST.name] = np.full(len(rows), most, dtype=np.float32)
        kinds.append((rows, scores))
    if not kinds:
        return None
    scores = {
        channel.name: np.concatenate([own.get(channel.name, np.zeros(len(rows), np.float32)) for rows, own in kinds])
        for channel in CHANNELS
        if any(channel.name in own for _, own in kinds)
    }
    rows = np.concatenate([rows for rows, _ in kinds])
    found = CandidateSet(rows, {}, np.zeros(len(rows), np.float32)).add(scores)
    if found.total.max() <= 0:
        return None
    found = found.add(lead_on(space, query, title_in_query, rows, found.total))
    parts = (find_candidates(space, part, similarity(space, part.vector), switches) for part in query.parts)
    return found.add(_of_parts(space, found, [part for part in parts if part is not None])) if query.parts else found


def _of_parts(space: Space, found: CandidateSet, parts: Sequence[CandidateSet]) -> dict[str, Scores]:
    """Return the most that the search for any part gives a segment; the best of each counts like the best of all."""
    best = np.float32(found.total.max())
    scores = np.zeros(len(found.rows), dtype=np.float32)
    for part in parts:
        scores = np.maximum(scores, best * (part.total / part.total.max()) ** np.float32(PART_EXPONENT))
    weights = np.where(space.talk[found.rows], PARTS.talk, PARTS.document).astype(np.float32)
    return {PARTS.name: scores * weights}


async def read_first(
    reader: PairReader | None, space: Space, query: Query, found: CandidateSet | None, *, always: bool
) -> tuple[CandidateSet | None, tuple[str, ...]]:
    """Return the candidates with the reader's chance added to the scores of those it read, and warnings.

    A search compares what a query and a record say each by itself; the reader sees both at once, and was trained on
    what searches put first wrongly. It moves what is near to each other, and does not overrule the search. It reads
    before the loop goes on: what a chain of memories leads to need not be like the query, and would fall behind.

    It reads the best records until `READ_TOGETHER_CHARS` are used up: fifteen lines of talk or six long plans take the
    same time. It reads messages alone: it learnt from talk, and of documents the search knows more. What it does not
    read gains what it gives on average, so that nothing rises by having been read.

    **Measured** on what did not train it, R@5 and 10 without and with it: prompts of kept worlds 45.0 / 67.2 and 53.3 /
    67.2, their questions 64.6 / 81.2 and 71.8 / 82.3; within a point on friends' talk, chats with an assistant,
    projects and a year's records (``training/README.md``). With more weight worlds gain more and all else loses. A
    recall over stdio takes 116 ms instead of 28.

    Args:
        reader: None leaves them as they are; so does one that cannot read, which the first recall warns of.
        space: the space of the candidates.
        query: understood.
        found: what the search found; None for nothing.
        always: whether it reads even where one record is far ahead (`NO_DOUBT`).
    """
    if found is None or reader is None or reader.problem:
        return found, ()
    places: list[int] = []
    shown: list[str] = []
    size = 0
    best = [
        place for place in distinct_turns(space, found.rows, found.total, MOST_RECORDS) if space.talk[found.rows[place]]
    ]
    if len(best) < 2 or (not always and found.total[best[1]] < NO_DOUBT * found.total[best[0]]):
        return found, ()
    for place in best:
        text = record_text(space, int(found.rows[place]))
        size += min(len(text), READ_CHARS) + min(len(query.text), QUERY_CHARS)
        if shown and size > READ_TOGETHER_CHARS:
            break
        places.append(place)
        shown.append(text)
    try:
        chances = await reader.read([(query.text, text) for text in shown])
    except EmbedderError as error:
        return found, (str(error),)
    helps = np.where(found.total > 0, chances.mean(), 0).astype(np.float32)
    helps[places] = chances
    return found.add({READER.name: READER.talk * found.total.max() * helps}), ()


def record_text(space: Space, row: int) -> str:
    """Return a segment as the reader sees it, here and in training: with what came before, or with its title."""
    turn, text = space.segment_turn[row], space.text(space.segments[row])
    if turn.kind == "document":
        return f"{turn.title or 'document'}: {text}"
    before = int(space.rows_before[row])
    earlier = "" if before == NONE else space.text(space.segments[before])
    return message_text(turn.speaker or turn.role or "somebody", text, earlier)


def rank_candidates(space: Space, candidates: CandidateSet, limit: int = MOST_CANDIDATES) -> list[Candidate]:
    """Return the candidates, best first, ties by id; a message once, by its best segment, and no small talk."""
    best, channels = float(candidates.total.max()), {channel.name for channel in CHANNELS}
    ranked: list[Candidate] = []
    for place in distinct_turns(space, candidates.rows, candidates.total, limit):
        scores = {name: float(part[place]) for name, part in candidates.scores.items() if part[place]}
        found_by = (channel.name for channel in CHANNELS if channel.finds and scores.get(channel.name, 0) > 0)
        via = sorted(found_by, key=scores.__getitem__, reverse=True)
        via += [name for name, score in scores.items() if score > 0 and name not in channels]
        row, score = int(candidates.rows[place]), float(candidates.total[place]) / best
        if space.talk[row] and is_small_talk(space.text(space.segments[row])):
            continue
        ranked.append(Candidate(row, score, tuple(via), scores))
    return ranked


def rank_confirmed(
    space: Space, query: Query, candidates: Sequence[Candidate], confirmed: Set[int], gates: Mapping[int, float]
) -> tuple[Sequence[Candidate], float | None]:
    """Return the candidates, best first, and their sufficiency by the word of callers, both as feedback has them.

    First stand the sentences of these rows (`confirmed_sentences`, `find_correction`). Where nothing is confirmed, or
    there is no room for all of it, the sufficiency is None: nobody judged it.
    """
    if not confirmed:
        return candidates, None

    def sentences(row: int) -> list[int]:
        return space.sentences_within(space.segments[row])

    first = [candidate for candidate in candidates if not confirmed.isdisjoint(sentences(candidate.row))]
    missing = confirmed - {row for candidate in first for row in sentences(candidate.row)}
    further: dict[int, None] = {}
    for row in sorted(missing, key=lambda row: (-gates[row], row)):
        further[space.segments_of(row)[0]] = None
    least = min((candidate.score for candidate in candidates), default=1.0) or 1.0
    first += [Candidate(row, least, ("experience",), {}) for row in further]
    best = max(candidate.score for candidate in first) or 1.0
    rest = [candidate for candidate in candidates if candidate not in first]
    ranked = [replace(candidate, score=(1 + candidate.score / best) / 2) for candidate in first]
    ranked = [*ranked, *(replace(candidate, score=candidate.score / 2) for candidate in rest)][: query.limit]
    if len(first) > query.limit:
        return ranked, None
    return ranked, max(CONFIRMED_SUFFICIENCY, *(gates[row] / 2 for row in confirmed))


def place_wishes(
    space: Space, candidates: Sequence[Candidate], wishes: Sequence[Wish], query: Query
) -> Sequence[Candidate]:
    """Return the candidates with the messages of the nearest wishes behind the best `BEFORE_WISHES` of them.

    A message that the best records show stays where it is. Fewer candidates than `BEFORE_WISHES` get no more: what was
    found is little, and a wish does not answer a question. Nor does a question of the past ("have I ever baked
    bread?"): a wish says how something is to be done.

    Args:
        space: the space of the candidates.
        candidates: best first.
        wishes: the wishes that apply, the nearest first.
        query: the query whose window, role and limit hold for wishes as well.
    """
    if len(candidates) <= BEFORE_WISHES or looks_back(query.text):
        return candidates
    open_ = recallable(space, query.window, query.role)
    first, rest = list(candidates[:BEFORE_WISHES]), list(candidates[BEFORE_WISHES:])
    shown = {space.segment_turn[one.row].id for one in first}
    placed: list[Candidate] = []
    for wish in wishes:
        if not wish.scope or not open_[wish.row] or len(placed) == PLACED_WISHES:
            continue
        turn = space.segment_turn[wish.row].id
        if turn not in shown:
            shown.add(turn)
            placed.append(Candidate(wish.row, rest[0].score, ("wishes",), {}))
    rest = [one for one in rest if not (space.talk[one.row] and space.segment_turn[one.row].id in shown)]
    return [*first, *placed, *rest][: query.limit]


def newest_candidates(space: Space, window: Window, limit: int, role: Role | None = None) -> list[Candidate]:
    """Return the beginnings of the newest turns within the window, newest first; the later arrival first in a tie."""
    times = space.times
    rows = np.flatnonzero(recallable(space, window, role))
    newest: list[Candidate] = []
    for row in rows[np.lexsort((-rows, -times[rows]))]:
        if len(newest) == limit:
            break
        if space.segments[row].index == 0:
            newest.append(Candidate(int(row), 1.0 - len(newest) / limit, ("newest",), {}))
    return newest


def similar_turn_scores(space: Space, candidates: CandidateSet, query: Query) -> dict[str, Scores]:
    """Return the similar-turn boost: what messages gain that are similar to the best one.

    A question of several parts finds the message that says most of it. The messages that say the rest mostly share with
    that one what they do not share with the question. So a message gains by the cosine of its most similar sentence
    with the best message, less what all messages around have in common (`BACKGROUND`). Where the query asks for several
    things, it also gains by the cosine of that sentence with the query.

    It stands in for the step of QRMeM's reflection (§2.2) that takes what is nearest to question, reason and entities
    together. It uses vectors that are there: nothing is embedded.

    **Measured** on long dialogues, with the first five messages in their places (`CandidateSet.boost`): +1.8 points of
    R@10, +2.5 on one half of the questions and +1.1 on the other; on those that need several messages +3.8, of which .7
    are the part for several things. Without the five in their places it costs one to two points of R@2.

    Returns:
        Of shape ``(len(space.segments),)``; {} where the best candidate is no message, and where there are no vectors.
    """
    if space.segment_vectors is None or space.sentence_vectors is None:
        return {}
    if not space.talk[candidates.rows[int(candidates.total.argmax())]]:
        return {}
    rows = _best_messages(space, candidates)
    best = space.segment_vectors.take(rows[:1])[0]
    if len(background := rows[BACKGROUND]):
        best = best - space.segment_vectors.take(background).mean(axis=0)
    sentences = [space.sentences_within(space.segments[row]) for row in rows.tolist()]
    vectors = space.sentence_vectors.take(np.array([row for each in sentences for row in each], dtype=np.intp))
    gains = np.float32(SIMILAR_WEIGHT) * _max_per_segment(vectors @ best, sentences)
    if asks_for_several(query.text):
        gains += np.float32(SEVERAL_WEIGHT) * _max_per_segment(vectors @ query.vector, sentences)
    scores = np.zeros(len(space.segments), dtype=np.float32)
    scores[rows] = gains
    return {ALIKE: scores}


def distinct_turns(space: Space, rows: Rows, total: Scores, limit: int) -> list[int]:
    """Return the positions of the best segments above 0, best first, ties by id, a message only once."""
    wanted = limit
    while True:
        chosen: dict[str, int] = {}
        for place in best_first(space, rows, total, wanted):
            segment = space.segments[rows[place]]
            chosen.setdefault(segment.turn_id if space.talk[rows[place]] else segment.id, place)
        if len(chosen) >= limit or wanted >= len(total):
            return list(chosen.values())[:limit]
        wanted *= 4  # long messages filled the pool with several segments each


def _best_messages(space: Space, candidates: CandidateSet) -> Rows:
    """Return the rows of those of the best candidates that are messages, best first."""
    total = candidates.total
    pool = np.flatnonzero(total > 0)
    if len(pool) > BOOSTED:
        pool = np.sort(np.argpartition(-total, BOOSTED)[:BOOSTED])
    rows = candidates.rows[pool[np.argsort(-total[pool], kind="stable")]]
    return rows[space.talk[rows]]


def _max_per_segment(cosines: Scores, sentences: Sequence[Sequence[int]]) -> Scores:
    """Return the greatest cosine of each segment's sentences, at least 0; ``cosines`` runs segment by segment."""
    owner = np.repeat(np.arange(len(sentences)), [len(each) for each in sentences])
    greatest = np.zeros(len(sentences), dtype=np.float32)
    np.maximum.at(greatest, owner, cosines)
    return greatest
