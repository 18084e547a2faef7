"""Find the sentences of a message that state nothing about its speaker's world, as far as their form tells.

Not asserted are scenarios and examples ("Imagine you …", "Example: …"), dreams, the plots of films, books and songs,
questions of a FAQ, irony and jokes, what everybody does ("we all love …"), and an offer, request or plan that its own
sentence, or the next one, refuses ("… asked me to move there, but I said no"). Scenarios and dreams reach to the end of
their paragraph. What single clauses leave unasserted (questions, conditions, wishes, modal verbs) is decided in
``modality.py``.

Right or silent: a true statement inside such a sentence is lost too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from mcp_memory.language.vocabulary import word_set

_LEAD = (
    r"\W*(?:(?:so|and|ok|okay|now|well|but|just|like|right|alright|also|oh|hey|then|first|next|please)[, ]{1,2}){0,3}"
)
_SCENARIO = re.compile(
    _LEAD
    + r"(?:imagine\b|suppose\b|supposing\b|picture\s(?:this|a|the|yourself)\b|pretend\b|hypothetical\w*\b|what\sif\b"
    r"|let(?:['’]?s|\sus)\s(?:just\s)?(?:say|imagine|pretend|assume|suppose|role-?play)\b|assum(?:e|ing)\b"
    r"|say\s(?:i|you|we|he|she|they|that|someone|somebody|there)\b|given\s(?:a|an|that)\b"
    r"|in\s(?:a|an|another|some)\s(?:\w{1,20}\s)?(?:perfect|ideal|parallel|alternate|different|other)?\s?"
    r"(?:world|life|universe|timeline|reality)\b"
    r"|for\s(?:example|instance)\b|e\.\s?g\.|examples?\s*[:,]|(?:test|sample|use)\s(?:case|data|input|story)\b.{0,40}:"
    r"|(?:user\sstory|draft|proposal|assumption|hypothesis|suggestion|(?:option|variant|alternative)\s\w{1,12}"
    r"|expected|scenario|prompt|template|role|persona|system)\s*:|as\sa\s(?:\w{1,20}\s)?user,?\s(?:i|you|we)\b"
    r"|role-?play\b|act\sas\b|you(?:['’]re|\sare)\s(?:a|an|the)\s(?:\w{1,20}\s){0,3}"
    r"(?:assistant|expert|agent|bot|model|ai|tutor|specialist|coach|editor|translator|interviewer)\b)",
    re.IGNORECASE,
)
_DREAM = re.compile(
    r"\b(?:dreamt|dreamed)\b|\b(?:in|had|have|having)\s(?:a|an|my|the|this|that|his|her|another|some)\s"
    r"(?:\w{1,20}\s){0,3}(?:dreams?|nightmares?)\b(?!\s(?:job|home|house|car|holiday|vacation|trip|wedding))",
    re.IGNORECASE,
)
_AWAKE = re.compile(
    r"\W*(?:anyway|anyhow|(?:but\s|and\s|so\s)?(?:then\s)?(?:i|when\si)\s(?:woke|wake)|in\sreal(?:ity|\slife)|in\sother\snews"
    r"|also|today|yesterday|tomorrow|this\s(?:morning|week|year)|btw|by\sthe\sway|ps\b|p\.s\.|on\sanother|meanwhile|real)",
    re.IGNORECASE,
)
_WORK = (
    r"(?:film|movie|book|novel|show|series|episode|play|song|comic|manga|anime|musical|trailer|chapter|scene|tale"
    r"|fairy\stale|poem|lyrics?|video\sgame|game|documentary|soap|sitcom|plot|ad|advert|commercial|article|podcast)"
)
_PLOT = re.compile(
    rf"\bin\s(?:the|this|that|a|an|one|my(?:\s\w+)?|his|her)\s(?:\w{{1,20}}\s){{0,2}}{_WORK}(?:,|\s(?:i|we|called|by|about)\b|\s[A-Z\"“])"
    r"|\bin\s(?:the|this|that|a|an|my)\s(?:(?:video|computer|board)\s?)?(?:game|novel)\W*$"
    rf"|\b{_WORK}(?:['’]s|\s(?:is|was))\s(?:\w{{1,20}}\s)?about\b"
    rf"|\b(?:the|this|that|a|its|whose)\s(?:\w{{1,20}}\s)?{_WORK}\s(?:\w{{1,20}}\s)?(?:goes|says?|said|tells|told|follows|claims)\b"
    r"|\b(?:the|its|whose|main|lead)\s(?:plot|storyline|protagonist|main\scharacter|character|heroine|villain|narrator|lyrics)\b",
    re.IGNORECASE,
)
_DREAM_THING = re.compile(
    r"\b(?:my|his|her|our|their|\w{1,30}['’]s)\s(?:\w{1,20}\s)?(?:dream|fantasy|wish|hope|plan|goal|idea|ambition)"
    r"(?:\s(?:job|home|house|car|holiday|vacation|trip|wedding|life|place|city|career|man|woman|dog))?\s"
    r"(?:is|was|would|has\salways|had\salways|will)\b",
    re.IGNORECASE,
)
_IRONY = re.compile(
    r"🙄|😜|😏|\b(?:oh,?\s(?:sure|great|joy|lovely|wonderful|fantastic|perfect|brilliant|yeah,?\ssure)|yeah,?\sright|as\sif"
    r"|(?:just|only)\s(?:kidding|joking)|jk|marry\sme|imagine|pretend(?:s|ed|ing)?|just\swhat\si\sneeded|how\s(?:lovely|wonderful)\sof"
    r"|love\s(?:it\s(?:when|how)|how|that|being\sthe|waiting|getting)|thanks\sfor\snothing|sarcasm|said\sno\sone\sever|not\s[.!]*$"
    r"|i\slied|(?:which|that|it)(?:['’]s|\s(?:is|was))\s(?:all\s)?(?:a\slie|false|not\strue|untrue)|which\s(?:is|was)\swrong|/s)(?:\b|\s|$)"
    r"|(?:[,(…]|\.\.)\s?(?:not|kidding|joking|joke)\W*$",
    re.IGNORECASE,
)
_FRAME = re.compile(
    _LEAD + r"(?:(?:in\stheory|on\spaper|(?:in|on)\smy\s(?:head|mind|imagination|cv|résumé|resume|profile)"
    r"|in\s(?:the|this|an|our|their)\s(?:\w{1,20}\s)?(?:example|examples|tutorial|template|mock-?up|sample))\b"
    r"|for\s(?:halloween|carnival|(?:the|a|our)\s(?:\w{1,20}\s)?(?:party|play|show|panto))\s"
    r"(?:\w{1,20}\s){0,3}(?:i|we|he|she|they)\s(?:was|were|am|are|is|played|went\sas)\b)",
    re.IGNORECASE,
)
"""What opens a sentence that holds on paper, in the mind or in disguise only."""
_MATERIAL = re.compile(
    r"\b(?:translate|proof-?read|rephrase|reword|rewrite|paraphrase|polish)\b"
    r"[^.!?:]{0,60}(?::|\b(?:this|the\sfollowing|below)(?:\s\w{1,20}){0,2}[.?!]?\s*$)"
    r"|\b(?:write|draft|compose)\b[^.!?:]{0,40}\b(?:bio|story|profile|poem|ad|advert|dialogue|character)\b[^.!?:]{0,40}:"
    r"|\b(?:dictated|homework|exercise|dummy|placeholder)\b[^.!?:]{0,30}:",
    re.IGNORECASE,
)
"""A task with its text, which is somebody's that the memory does not know: "Please translate: I live in Rome"."""
_TAKEN_BACK = re.compile(
    r"\W*(?:(?:just|only|ok|okay|well|no|nah|haha\w*|lol|i['’]m|i\sam|i\swas|sorry|wait)\b[,.]?\s){0,4}"
    r"(?:(?:kidding|joking|jk|not|as\sif|yeah,?\sright|not\sreally|i\swish|in\smy\sdreams?(?:,?\sthat\sis)?|i\slied)\W*$"
    r"|april\sfools?\b|(?:scratch|strike)\sthat\b|correction:|or\sso\s(?:he|she|they|it)\s\w+\W*$"
    r"|(?:that|it)(?:['’]s|\s(?:is|was))\s(?:all\s)?(?:a\slie|a\sjoke|not\strue|untrue|made\sup|nonsense)\W*$"
    rf"|in\s(?:the|a|my|our)\s(?:\w{{1,20}}\s)?{_WORK}\b.{{0,20}}$)"
    r"|\W*no,\s(?:really,?\s)?i\s(?:do|am|have|did|was|can)(?:n['’]t|\snot)\W*$",
    re.IGNORECASE,
)
"""A sentence that takes back the one before it."""
_NOT_MINE = re.compile(
    r"\W*(?:but\s)?(?:it|he|she|they|that|those)(?:['’]s|['’]re|\s(?:is|are|was|were))?(?:\snot|n['’]t)\s(?:really\s|actually\s)?"
    r"(?:mine|ours|my\sown)\b",
    re.IGNORECASE,
)
_OF_SPEAKER = re.compile(r"\b(?:I|[Ww]e)\b")
_GOES_ON = re.compile(r"\W*(?:then\s|and\s|but\s)?(?:he|she|they|it|his|her|their)\b", re.IGNORECASE)
"""How a plot goes on in the next sentence."""
_EVERYBODY = re.compile(
    r"\b(?:we|you|they)\sall\s(?:\w{1,20}ly\s)?(?:love|like|hate|need|want|know|have|make|do|get|enjoy|live|are|feel|fear|die|go|say)\b"
    rf"|^{_LEAD}(?:everyone|everybody|no\sone|nobody|people|most\sof\sus|one|some\speople|who\sdoes(?:n['’]t|\snot))\s"
    r"(?:\w{1,20}ly\s)?(?:loves?|likes?|hates?|needs?|wants?|knows?|has|have|makes?|does|do|gets?|is|are|says?|thinks?)\b",
    re.IGNORECASE,
)
_SPEECH = re.compile(
    r"(?<!\bI\s)(?<!\bI['’]ve\s)\b(?:said|says|goes|went|wrote|writes|replie[sd]|answer(?:s|ed)|text(?:s|ed)|asked|shouted|yelled"
    r"|(?:told|wrote|texted|messaged|asked)\s(?:me|us|him|her|them)|(?:is|was|were|['’]s)\s(?:all\s|just\s)?like)\s?[:,]\s?"
    r"[\"“'‘]?(?:I|I['’]\w{1,3}|[Mm]y|[Ww]e|[Oo]ur)\b"
)
"""Speech of somebody else without quotation marks: "she goes: I quit"."""
_TRANSCRIPT = re.compile(
    r"\W*(?P<who>[A-Z]\w{1,30}(?:\s[A-Z]\w{1,30})?)\s?:\s(?=.{0,200}?\b(?:I|[Mm]y|[Ww]e|[Oo]ur|me)\b)"
)
_NO_SPEAKER = word_set(
    "update news ps note edit fyi fact confession reminder today yesterday tonight me sidenote also status info anyway"
    " story spoiler summary result results background context question answer problem issue plan goal todo btw warning"
    " ours mine yours his hers theirs first second third last next"
    " remember important memo save store decision correction"
    " good bad well so here okay fun true false side tip idea thought thoughts rant hi hello hey"
)
_REQUEST = re.compile(
    r"\W*(?:(?:so|and|ok|okay|now|but|also|hey)[, ]{1,2}){0,2}(?:please|pls|plz|kindly)\b"
    r"(?!,?\s(?:do\s?n[o'’]t\sforget|never\sforget|note|remember|keep|bear|know|be\saware|save|store|take|call\sme))",
    re.IGNORECASE,
)
_FAQ = re.compile(r"\W*(?:q|faq|question)\s?\d{0,3}\s?[:.)]\s", re.IGNORECASE)
_PERSON = r"(?:i|we|he|she|they|you|[A-Z]\w{1,30})"
_REFUSED = re.compile(
    rf"\b{_PERSON}(?:['’]ve|['’]d|\shave|\shad|\sended\sup)?(?:\s(?:\w{{1,20}}ly|just|had\sto|still|then|of\scourse|both))?\s"
    r"(?:(?:said|say|saying)\s(?:no|nope|i['’]d\srather\snot|never|no\sthanks?)\b|refused?\b|declin(?:ed?|ing)\b|reject(?:ed)?\b"
    r"|turn(?:ed|ing)?\s(?:it|them|him|her|that|this|me|the\s\w{1,20}|his\s\w{1,20}|her\s\w{1,20}|their\s\w{1,20})\sdown\b"
    r"|turned\sdown\b|passed\s(?:on\s(?:it|that|this|the)|it\sup)\b|backed\sout\b|told\s\w{1,30}\sno\b|laughed\sit\soff"
    r"|did(?:n['’]t|\snot)\s(?:accept|agree|take\s(?:it|them|the\soffer)|go\sthrough\swith)\b|changed\s(?:my|his|her|our|their)\sminds?\b)"
    r"|\b(?:fell\sthrough|never\s(?:happened|came\sto)|(?:was|were|got)\s(?:cancell?ed|called\soff)|thanks\sbut\sno\sthanks)\b",
    re.IGNORECASE,
)
_PROPOSED = re.compile(
    r"\b(?:ask(?:ed|s|ing)?|offer(?:ed|s|ing)?|invit(?:ed|es?|ing|ation)|want(?:ed|s)|propos(?:ed|es?|al|ing)|begg?(?:ed|s)?"
    r"|suggest(?:ed|s|ion)?|told|urg(?:ed|es?)|encouraged|convince|talk(?:ed)?\s\w{1,20}\sinto|would\shave|supposed\sto|job"
    r"|hired|promotion|chance|opportunity|deal|trip|holiday|wedding|move|moving|plan(?:ned|s)?|booked|go(?:ing)?\sto)\b",
    re.IGNORECASE,
)
_CANCELLING = re.compile(
    r"\W*(?:(?:but|and|so|then|of\scourse|sadly|unfortunately|luckily)[, ]{1,2}){0,3}", re.IGNORECASE
)
_PARAGRAPH = re.compile(r"\n\s*\n")


class Unasserted:
    """Says of the sentences of one message, asked in order, which of them state nothing."""

    def __init__(self, text: str, sentences: Sequence[tuple[int, int]], speaker: str | None = None) -> None:
        """Take the message.

        Args:
            text: the text of the message.
            sentences: spans of its sentences, in characters.
            speaker: the speaker of the message; what stands behind the name of another ("Tom: I live here") is his.
        """
        self._speaker = (speaker or "").casefold()
        self._text = text
        self._sentences = sentences
        self._fiction_until = 0
        self._gap = -1
        self._dreaming = self._in_plot = False
        low = text.casefold()
        self._may_dream = "dream" in low or "nightmare" in low

    def in_fiction(self, index: int) -> bool:
        """Return whether a sentence belongs to a scenario or a dream; to be asked once for each sentence, in order."""
        start, end = self._sentences[index]
        if start < self._fiction_until:
            if not (self._dreaming and _AWAKE.match(self._text, start, end)):
                return True
            self._fiction_until = 0
        self._in_plot = bool(
            _PLOT.search(self._text, start, end) or (self._in_plot and _GOES_ON.match(self._text, start, end))
        )
        dream = self._may_dream and bool(_DREAM.search(self._text, start, end))
        if dream or _SCENARIO.match(self._text, start, end) or _MATERIAL.search(self._text, start, end):
            self._fiction_until = self._end_of_paragraph(end)
            self._dreaming = dream
            return True
        return self._in_plot

    def _end_of_paragraph(self, index: int) -> int:
        if self._gap < index:  # looked for once for each paragraph
            gap = _PARAGRAPH.search(self._text, index)
            self._gap = gap.start() if gap else len(self._text)
        return self._gap

    def is_unreal(self, index: int) -> bool:
        """Return whether a sentence alone, or the refusal after it, shows that it states nothing."""
        start, end = self._sentences[index]
        sentence = self._text[start:end]
        return self._is_of_another(sentence) or _is_unreal(sentence) or self._refused_next(index)

    def _is_of_another(self, sentence: str) -> bool:
        """Return whether a sentence repeats what another person said, in words where "I" is that person."""
        line = _TRANSCRIPT.match(sentence)
        if line is not None:
            who = line["who"].casefold()
            if who.split()[0] not in _NO_SPEAKER and who not in self._speaker:
                return True
        return bool(_SPEECH.search(sentence))

    def _refused_next(self, index: int) -> bool:
        """Return whether the next sentence refuses what this one tells of ("They hired me", "I turned it down")."""
        if index + 1 >= len(self._sentences):
            return False
        start, end = self._sentences[index + 1]
        if _TAKEN_BACK.match(self._text, start, end) or (
            _NOT_MINE.match(self._text, start, end) and _OF_SPEAKER.search(self._text, *self._sentences[index])
        ):
            return True
        if not _PROPOSED.search(self._text, *self._sentences[index]):
            return False
        opening = _CANCELLING.match(self._text, start, end)
        return bool(_REFUSED.match(self._text, opening.end() if opening else start, end))


def _is_unreal(sentence: str) -> bool:
    patterns = (_IRONY, _PLOT, _DREAM_THING, _EVERYBODY)
    if any(opening.match(sentence) for opening in (_FAQ, _REQUEST, _FRAME)) or any(
        pattern.search(sentence) for pattern in patterns
    ):
        return True
    refused = _REFUSED.search(sentence)
    return bool(refused and _PROPOSED.search(sentence))
