"""The kinds of values that documents say with a verb and a date: how each is asked for, and how it is said.

The stated times of a sentence are masked by "#" (`said_values`), so that an expression can say where a time stands.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_WHO = (
    r"(?:the|his|her|its|their|an?)?\s*(?:(?:[\w'’.-]+\s+){0,5}?(?:club|side|team|outfit|label|company|firm|stadium"
    r"|theatre|university|battleship|cruiser|ship|subsidiary|giants|group|officer|bank)\s+)?(?:the\s+)?"
)
"""What may stand between the verb and the name: "the Serie B club"."""
_AT = r"(?:\s+(?:in|on|from)\s+#+)?"

_NEVER = re.compile(r"(?!)")
_GIVEN = re.compile(
    r"\b(?:receiv|award|confer|grant|given|achiev|attain|earn|designat|honou?red|win|won|got|anoint)", re.I
)


class Kind(NamedTuple):
    """A kind of value.

    Attributes:
        asked: what a question for it looks like.
        said: what stands directly before such a value.
        years: how long it is taken to last without another word; 0 for what is over at once.
        phrase: whether it need not be a name, "an officer of the Legion".
        then: what stands directly behind such a value instead, "… acquired it".
        sure: whether its verbs are said of hardly anything else. "Became" and "received" are, so that on questions that
            nobody had looked at fewer than half of the ranks, posts and races were the ones asked for: a hedge says so.
        once: what makes a question ask for the moment at which it began, "Which rank did she *receive* …?".
    """

    asked: re.Pattern[str]
    said: re.Pattern[str]
    years: float
    phrase: bool = False
    then: re.Pattern[str] | None = None
    once: re.Pattern[str] = _NEVER
    sure: bool = True


def _kind(asked: str, said: str, *, years: float, phrase: bool = False, then: str = "", sure: bool = True) -> Kind:
    cue = rf"(?<!\w)(?:{said}){_AT}\s+"
    behind = re.compile(rf"\s+(?:{then})", re.I) if then else None
    before = re.compile(cue if phrase else rf"{cue}{_WHO}$", re.I)
    return Kind(re.compile(asked, re.I), before, years, phrase, behind, _GIVEN if phrase else _NEVER, sure)


KINDS = (
    _kind(  # held captive
        r"\b(?:detained|incarcerated|imprisoned|held\s+against|concentration\s+camp|prison)\b",
        r"(?:transferred|moved|deported|sent|taken|brought)(?:\s+back)?\s+to|(?:imprisoned"
        r"|incarcerated|held|detained)\s+(?:in|at)",
        years=3.0,
    ),
    _kind(  # award
        r"\b(?:prize|awards?|awarded|honou?rs?|medal)\b",
        r"(?:awarded|received|receiving|won|winning|earned|given|granted)(?:\s+(?:an?|the|with))?"
        r"|(?:was|were|been|he|and)\s+(?:made|appointed|named|elected)(?:\s+(?:an?|the|to))?"
        r"(?=\s[^#,;]{0,60}\b(?:order|legion|knight|fellow|honorary|companion|dame|member)\b)|inducted\s+into"
        r"|[-•*](?=\s[^#,;]{0,60}\b(?:prize|award|medal|order|honorary|fellow)\w*\b)",
        years=0.0,
        phrase=True,
    ),
    _kind(  # rank
        r"\b(?:rank|title|grade|nobility)\b",
        r"promoted\s+to(?:\s+the\s+rank\s+of)?|(?:awarded|earned|received|became|becoming"
        r"|inherited|conferred|granted|achieved|attained)(?:\s+(?:an?|the|his"
        r"|her))?(?:\s+(?:titles?|ranks?)\s+of)?|titles?\s+of",
        years=4.0,
        phrase=True,
        sure=False,
    ),
    _kind(  # member
        r"\b(?:join|become\s+(?:a\s+)?(?:part|member))\b.*|\b(?:academy|council|society)\b",
        r"(?:member|fellow)\s+of|elected\s+to|joined",
        years=0.0,
    ),
    _kind(  # coached
        r"\b(?:coach\w*|manag\w+|in\s+charge)\b.*\b(?:team|club|side)\b|\b(?:team|club"
        r"|side)\b.*\b(?:coach\w*|manag\w+|in\s+charge)\b",
        r"coach(?:ed|ing)?(?:\s+of)?|managed|manager\s+(?:of|at)|(?:coach|manager)\s+(?:of|at)"
        r"|(?:took|taking)\s+(?:over|charge)(?:\s+(?:of|at))?|in\s+charge\s+of|(?:appointed"
        r"|hired)\s+by|(?:appointed|named|became)(?:\s+as)?|(?:moved|returned|duties)(?:\s+to|\s+on\s+#+\s+with)",
        years=2.0,
    ),
    _kind(  # played for
        r"\b(?:team|club|squad|football\s+group)\b",
        r"joined|joining|signed\s+(?:for|with|to)|signing\s+(?:for|with)|(?:moved|transferred"
        r"|returned|switched|went|move)\s+to|(?:loaned(?:\s+out)?|on\s+loan)\s+(?:to|at|with)"
        r"|contract\s+with|(?:season|campaign)\s+(?:with|at|for|on\s+loan\s+at)",
        years=1.0,
    ),
    _kind(  # label
        r"\b(?:record|music)\s+(?:label|company)\b|\blabel\b",
        r"signed\s+(?:with|to|onto)|signing\s+(?:with|to)|(?:contract|deal|partnership)\s+with",
        years=6.0,
    ),
    _kind(  # branch
        r"\bmilitary\s+(?:branch|service)|branch\s+of\s+(?:the\s+)?(?:military|service)\b",
        r"joined|joining|entered|enlisted\s+in|transferred\s+to|drafted\s+into",
        years=10.0,
    ),
    _kind(  # series
        r"\bsport\b|\brac(?:e|ing)\b",
        r"(?:raced|competed|competing|drove|driving|participated|debut|debuted)\s+in|(?:moved"
        r"|graduated|switched|stepped)(?:\s+(?:up|on))?(?:\s+in)?\s*to|(?:into|in)",
        years=0.0,
        sure=False,
    ),
    _kind(  # ship
        r"\bship\b.*\b(?:station|serv|assign|command)",
        r"(?:posted|assigned)\s+to|(?:stationed|served)\s+(?:on|aboard|in)|command\s+of",
        years=1.5,
    ),
    _kind(  # name
        r"\bwh(?:at|ich)\b(?!.*\bnamed\s+(?:after|for)\b).*\b(?:called|named|moniker|names?\s+(?:did|was|were))\b|\b(?:formal"
        r"|official|executive|original)(?:ly)?\s+name\w*",
        r"(?:renamed|redesignated|rechristened|christened|retitled|rebranded)(?:\s+(?:to|as))?"
        r"|name\s+(?:was\s+)?(?:changed\s+)?to|became|becoming|(?:known|established|activated"
        r"|constituted|founded|commissioned|opened)(?:\s+#+)?\s+as",
        years=8.0,
    ),
    _kind(  # seat
        r"\b(?:headquarter\w*|based|administrative\s+cent\w+|capital|county\s+seat)\b",
        r"(?:headquarters|seat|capital|center|centre|offices|homeport)\s+(?:(?:was|were"
        r"|is)\s+)?(?:moved|relocated|transferred|established|located)?(?:\s+inland\s*,)?\s*(?:to"
        r"|in|at)|(?:headquartered|based|located)\s+(?:in|at)|(?:moved|relocated)\s+(?:its|the"
        r"|their)\s+(?:headquarters|seat|capital|offices)\s+to",
        years=8.0,
    ),
    _kind(  # home
        r"\b(?:residen\w+|reside|live[ds]?)\b",
        r"(?:moved|relocated|returned|emigrated|settled)(?:\s+\w+){0,4}?\s+(?:to|in)|(?:settled"
        r"|lived|living|resided)\s+in",
        years=8.0,
    ),
    _kind(  # employer
        r"\b(?:university|college|school|theat\w+|institution|employ\w*|hired?|work(?:ed)?\s+(?:at"
        r"|for|in)|attend\w*|educat\w*)\b",
        r"(?:taught|teach|worked|professor|lecturer|engaged|employed|lectured|position|actress"
        r"|actor|instructor|job)\s+(?:at|for)|joined|hired\s+by|faculty\s+(?:of|at)|(?:studied"
        r"|educated|enrolled|attended)(?:\s+at)?",
        years=3.0,
    ),
    _kind(  # venue
        r"\b(?:where|location|venue|place|stadium|park|museum|housed|exhibited|home\s+station"
        r"|home\s+to)\b",
        r"(?:event|tournament|festival|museum|collection|it|institute|library|statue|work|club"
        r"|team|school|ceremony)\s+(?:was\s+)?(?:moved|relocated|transferred)\s+to|(?:held|housed"
        r"|exhibited|displayed|showcased|hosted|played|broadcast)\s+(?:in|at|on)"
        r"|there\s+moved\s+to|took\s+place\s+(?:in|at)",
        years=3.0,
    ),
    _kind(  # owner
        r"\b(?:own(?:ed|er|s|ership)?|shareholder|stakeholder|operat\w+|parent|subsidiary"
        r"|took\s+over)\b",
        r"(?:acquired|bought|purchased|owned|taken\s+over|operated|run|absorbed)\s+by|(?:sold"
        r"|transferred|conveyed)\s+to|(?:subsidiary|part)\s+of|merged\s+(?:into|with)",
        years=8.0,
        then=r"(?:acquired|bought|purchased|took\s+over|became\s+the\s+(?:sole|majority|largest"
        r"|main)\s+(?:share|stake)holder)",
    ),
    _kind(  # publisher
        r"\b(?:publish\w*)\b",
        r"published\s+by",
        years=3.0,
        then=r"(?:published|took\s+over\s+as\s+publisher)",
    ),
    _kind(  # married
        r"\b(?:married|wife|husband|spouse|wed)\b",
        r"married(?:\s+to)?|wed|marriage\s+to|wedding\s+to",
        years=8.0,
    ),
    _kind(  # post
        r"\b(?:position|job|role|post|occupation|employed\s+as|profession)\b",
        r"became|becoming|(?:was|been|and)\s+(?:appointed|elected|named|made"
        r"|promoted\s+to)(?:\s+as)?|ordained|serv(?:ed|ing)\s+as|work(?:ed|ing)\s+as|(?:post"
        r"|position|job)\s+(?:of|as)",
        years=3.0,
        phrase=True,
        sure=False,
    ),
)
