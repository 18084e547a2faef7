"""The nouns by which people and programs call secrets, in one table for all languages, and what a noun in a text names.

A noun counts alone ("password", "contraseña", DB_PASSWORD), or with a word that qualifies it ("API key", "door code",
"code of the safe"): most keys and codes are no secrets. A word behind it can make it the name of something else
("password manager", "token_count").
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

Kind = Literal["password", "phrase", "answer", "credentials", "secret", "PIN", "code", "key"]
_TABLE: dict[Kind, str] = {
    "password": """
        password passwords passwd passcode pwd pswd psw pword pw pass psk passkode
        passwort passwörter kennwort wachtwoord passord kodeord adgangskode lösenord salasana pwort
        passe mdp contraseña contraseñas contrasena senha parole parola heslo hasło hasla jelszó şifre şifresi
        khẩu sandi lozinka geslo salasõna slaptažodis parool
        пароль пароля паролем пароли паролі κωδικός סיסמה पासवर्ड المرور السر
        密码 密碼 口令 パスワード 비밀번호 암호 รหัสผ่าน""",
    "phrase": "passphrase passphrases mnemonic phrase seed",
    "answer": "word answer",
    "credentials": "credentials credential creds login logins wifi wlan zugangsdaten anmeldedaten",
    "secret": "secret token geheimnis jeton токен секрет 密钥 トークン",
    "PIN": "pin puk cvv cvv2 cvc cvc2 pincode geheimzahl пин пинкод 暗証番号",
    "code": """
        code codes combination combo otp totp passcodes
        kode código codigo códigos codice digicode türcode kod код коды koodi kombination koda
        combinación combinaison combinazione zahlencode torcode alarmcode""",
    "key": "key keys schlüssel clave claves clé chiave ключ chave sleutel",
}
WORDS: dict[str, Kind] = {word: kind for kind, words in _TABLE.items() for word in words.split()}
_QUALIFIED: dict[str, re.Pattern[str]] = {
    name: re.compile(rf"\b(?:{words})\W{{0,3}}$")
    for name, words in {
        "key": r"api|access|auth|account|app|client|(?:en|de)cryption|aes|hmac|hex|wpa[23]?|wi-?fi|wlan|network"
        r"|recovery|back ?up|set ?up|router|vpn|wireguard|totp|2fa|mfa|authenticator|filevault|wallet|database|db"
        r"|licen[cs]e|product|signing|service|private|master|(?:pre-?)?shared|secret|session|bearer|refresh|bot|ssh"
        r"|storage|deploy|webhook|admin|root|activation|security|server|bitlocker|zugangs|zugriffs|lizenz"
        r"|privée?|secrète|secreta|segreta|privada|d['’]accès|de acceso|d['’]api|de api",
        "code": r"door|gate|garage|alarm|entry|entrance|access|security|safe|locker|(?:pad ?)?lock|bike|lock ?box"
        r"|key ?pad|disarm(?:ing)?|arming|panel|mailbox|parcel|front|barrier|duress|reset|master|pairing|secret"
        r"|sim|unlock|vault|building|elevator|lift|shed|back ?up|recovery|verification|confirmation"
        r"|one[ -]time|2fa|mfa"
        r"|otp|two[ -]factor|sms|log-?in|sign-?in|auth|authenticator|puk|card|parental|voicemail|intercom|suitcase"
        r"|luggage|(?:haus)?tür|zugangs|sicherheits|tresor|eingangs|d['’]entrée|d['’]accès|de la porte|de acceso"
        r"|de entrada|de seguridad|de segurança|de sécurité|di sicurezza|пин|защитный",
        "phrase": r"seed|1[258][ -]words?|2[14][ -]words?|recovery|secret|back ?up|mnemonic|wallet|pass|key",
        "passe": r"mot de|palavra",
        "sandi": r"kata",
        "khẩu": r"mật",
        "parole": r"mots? de|ma|la",
    }.items()
}
_PLACE = re.compile(
    r"(?:for|of|to|at|on|in|für|zur|zum|vom|der|die|des|de|del|la|du|pour|para|van|voor|от|для|к|do|da)\b"
    r"[^.!?\n]{0,24}?\b(?:get in\b|doors?|deur|voordeur|gates?|garage"
    r"|alarm|entry|entrance|safe|lockers?|(?:pad ?)?lock|lock ?box|key ?pad|vault|building|elevator|shed|bike|sim|gym"
    r"|voicemail|suitcase|office|house|flat|apartment|cellar|(?:haus)?tür|tor|tresor|puerta|porte|portail|porta"
    r"|cabin|cottage|airbnb|basement|barrier|mailbox|shutters?|hallway|stairwell|parking|storage|panel|keybox|alarma|alarme"
    r"|caja|coffre|cofre|cancello|portone|portão|домофона?|двери|подъезда|сейфа|ворот|гаража|сигнализации|kapı|drzwi"
    r"|bramy)\b"
)
_ACCESS = re.compile(
    r"(?:for|of|to|für|zum|vom|del?|d[aou]|du|per|от|для|к)\b[^.!?\n]{0,24}?\b(?:wi-?fi|wlan|router|api|account|vpn|network|"
    r"netz|r[eé]de?|réseau|cuenta|conta|compte|konto|banco|bank|email|correo|вайфая|wifi)\b"
)
_OWNED = re.compile(
    r"\b(?:my|your|his|her|our|their|card|sim|bank|debit|phone|atm|voicemail|gym|door|alarm|meine?r?|the|new|old|ihre?)\W{0,2}(?:\w+\s)?$"
)
_OTHER_THINGS = (
    "hash hashed hashing hasher digest id ids name names length len min max file files path url uri field fields"
    " type types count policy policies version date at expiry ttl limit limits usage budget budgets size manager"
    " managers reset resets strength rotation rotations protection prompt generator vault requirement requirements"
    " rules rule hint hints form page input box checker cracking leak leaks breach attempt attempts change changes"
    " recovery entropy store storage database list lists table column expiration lifetime window bucket economy"
    " ring holder sharing format encoding review reviews coverage style base smell quality block blocks snippet"
    " snippets santa ingredient sauce agent service services garden admirer pal ballot weapon society police"
    " recipe pool cushion board boards wheel point points signature stroke binding bindings card cards person"
    " figure word words frame performance takeaway takeaways error errors link links email screen management"
    " settings setting support issue layout fingerprint mapping network networks router speed signal name"
)
NO_VALUE = frozenset(_OTHER_THINGS.split())
"""Words behind a noun that make it the name of something that is no secret."""
_ENGLISH_CORES = "pass swor pw secret token cred login pin puk cod comb key phrase mnemonic seed wifi wlan cv otp kennw"
_CORES = tuple(_ENGLISH_CORES.split())
"""What the English nouns hold."""
_FOREIGN_CORES = tuple(
    word
    for word, kind in WORDS.items()
    if kind != "answer" and not any(core in word for core in (*_CORES, *(one for one in WORDS if one != word)))
)
"""What the others hold; those in ASCII are looked for only where a figure or a sign stands."""
_FRONTS = ("memorable ", "security ", "safe ", "secret ", "code ", "pass ")
"""What stands before "word" and "answer", which are too frequent to be looked for."""


def _one_of(cores: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern that branches by first letters, and so is twice as fast."""
    by_letter: dict[str, list[str]] = {}
    for core in sorted(cores, reverse=True):
        by_letter.setdefault(core[0], []).append(core[1:])
    return re.compile("|".join(f"{letter}(?:{'|'.join(rest)})" for letter, rest in by_letter.items()))


_ENGLISH = _one_of((*_CORES, *_FRONTS[:3]))
_ASCII = _one_of((*_CORES, *_FRONTS[:3], *filter(str.isascii, _FOREIGN_CORES)))
_ALL = _one_of((*_CORES, *_FRONTS[:3], *_FOREIGN_CORES))
_TAILS = {
    core: re.compile(
        f"(?i:{'|'.join(sorted({word[word.index(core) :] for word in WORDS if core in word}, reverse=True))})"
        "(?![a-zß-ÿ])"
    )
    for core in (*_CORES[2:], *_FOREIGN_CORES)
}
"""How a word goes on from a core that is a noun's: "pin" of "shopping" is left at once."""
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def _misspelt(word: str) -> set[str]:
    cuts = [(word[:at], word[at:]) for at in range(len(word))]
    return {
        *(front + back[1] + back[0] + back[2:] for front, back in cuts if len(back) > 1),
        *(front + back[1:] for front, back in cuts),
        *(front + letter + back[skipped:] for front, back in cuts for letter in _LETTERS for skipped in (0, 1)),
    }


_SLIPS = {
    slip: word
    for word in ("password", "passwords", "passwort", "passcode", "passphrase", "kennwort")
    for slip in _misspelt(word)
    if slip not in WORDS and slip not in ("passport", "passports")
}
"""Long nouns with one letter too many, too few, wrong, or two swapped."""
_LENGTHS = sorted({len(word) for word in WORDS if len(word) > 2}, reverse=True)
_PART = re.compile(r"[A-Z]+(?![a-zß-ÿ])|[A-Z]?[^\W\dA-Z_]+|[^\W\d_]+")
_LONGEST = 40
_NAME = re.compile(rf"[\w-]{{0,{_LONGEST}}}")


@dataclass(frozen=True, slots=True)
class Noun:
    """A noun in a text that names a secret.

    Attributes:
        kind: of the secret.
        start: first character of its word.
        end: first character after the word.
        certain: whether it can hardly mean anything else; else its value has to show that it is a secret.
    """

    kind: Kind
    start: int
    end: int
    certain: bool


def find_nouns(text: str, lower: str, *, figures: bool) -> Iterator[Noun]:
    """Yield the nouns of a text, each once.

    Args:
        text: the text.
        lower: the same in lower case.
        figures: whether it holds any figure, colon, bar or sign of equation.
    """
    cores = _ENGLISH
    if not text.isascii():
        cores = _ALL
    elif figures:
        cores = _ASCII
    end = 0
    for found in cores.finditer(lower):
        if found.start() >= end:
            end, noun = _noun_at(text, lower, found.start(), found[0])
            if noun is not None:
                yield noun


def _noun_at(text: str, lower: str, place: int, core: str) -> tuple[int, Noun | None]:
    """Return where the word at a place ends, and the noun that it is, if any."""
    if core > "\u0900":  # scripts that have no spaces, or marks inside of words
        return place + len(core), Noun(WORDS[core], place, place + len(core), certain=True)
    if core in _TAILS and not _TAILS[core].match(text, place):
        return place + len(core), None
    start = place
    while start and place - start < _LONGEST and (text[start - 1].isalnum() or text[start - 1] in "_-"):
        start -= 1
    end = max(_end_of_name(text, place), place + 1)
    behind = _end_of_name(text, end + 1)
    if lower[start : end + 1] in _FRONTS and WORDS.get(lower[end + 1 : behind]) == "answer":
        return behind, Noun("answer", end + 1, behind, certain=True)
    parts = [one[0].lower() for one in _PART.finditer(text, start, end)]
    words = [_word_in(part) for part in parts]
    rest = next((n for n in range(len(parts) - 1, -1, -1) if words[n]), None)
    if rest is None or (rest < len(parts) - 1 and parts[-1] in NO_VALUE):
        return end, None
    if text[end : end + 1] == " " and lower[end + 1 : _end_of_name(text, end + 1)] in NO_VALUE:
        return end, None
    word = words[rest] or ""
    fused = parts[rest].removesuffix(word) if parts[rest] not in _SLIPS else ""
    prefix = " ".join([*parts[:rest], fused]).strip()
    before = lower[max(0, start - 24) : start] + (f"{prefix} " if prefix else "")
    return end, _judged(word, before, lower, start, end, capital=text[start:end] == "PIN")


def _end_of_name(text: str, place: int) -> int:
    found = _NAME.match(text, place)
    return found.end() if found else place


def _word_in(part: str) -> str | None:
    if part in WORDS:
        return part
    ends = (part[-length:] for length in _LENGTHS if length < len(part))
    return _SLIPS.get(part) or next((end for end in ends if end in WORDS and _fused(end, part)), None)


_PROGRAMS = "client app api shared signing webhook auth access bot refresh sim"
_OF_PROGRAMS = frozenset(_PROGRAMS.split())
"""What stands before "secret" and "pin" in one word of a program."""


def _fused(word: str, part: str) -> bool:
    """Return whether the front of a word like "wifipassword" or "apikey" leaves it a noun for a secret."""
    kind, front = WORDS[word], part[: -len(word)]
    if kind == "password":
        return len(word) > 4
    if kind in ("secret", "PIN"):
        return front in _OF_PROGRAMS
    qualified = _QUALIFIED.get(kind)
    return qualified is not None and qualified.fullmatch(front) is not None


def _judged(word: str, before: str, lower: str, start: int, end: int, *, capital: bool) -> Noun | None:
    """Return a noun as what stands around it says: qualified, uncertain, or None for no secret's."""
    kind = WORDS[word]
    qualified = _QUALIFIED.get(word) or _QUALIFIED.get(kind)
    if word == "pass":
        return Noun(kind, start, end, certain=_ACCESS.match(lower, end + 1) is not None)
    if kind == "key":
        if (qualified and qualified.search(before)) or _ACCESS.match(lower, end + 1, end + 48):
            return Noun("password" if word in ("clave", "chave") else "secret", start, end, certain=True)
        told = re.search(r"\b(?:my|our|the|mein\w*|unser\w*|mi|ma)\s$", before)
        return Noun("key", start, end, certain=False) if told else None
    if kind == "code":
        placed = (qualified and qualified.search(before)) or _PLACE.match(lower, end + 1, end + 48)
        known = placed or word in ("otp", "totp", "digicode", "türcode")
        return Noun(kind, start, end, certain=True) if known else None
    if word == "seed":
        return Noun(kind, start, end, certain=False)
    if word in ("wifi", "wlan") and end - start > 4:
        return None
    if qualified is not None and word not in ("passphrase", "passphrases", "mnemonic") and not qualified.search(before):
        return None
    if kind == "PIN" and word == "pin":
        owned = _OWNED.search(before)
        return Noun(
            kind, start, end, certain=owned is not None or capital or lower[end : end + 5] in (" code", " numb")
        )
    return Noun(kind, start, end, certain=True)
