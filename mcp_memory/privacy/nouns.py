"""The nouns by which people and programs call secrets, in one table for all languages, and what a noun in a text names.

A noun counts alone ("password", "contraseña", DB_PASSWORD), or with a word that qualifies it ("API key", "door code",
"code of the safe"): most keys and codes are no secrets. A word behind it can make it the name of something else
("password manager", "token_count").
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Kind = Literal["password", "phrase", "credentials", "secret", "PIN", "code", "key"]
_TABLE: dict[Kind, str] = {
    "password": """
        password passwords passwd passcode pwd pswd psw pword pw pass psk
        passwort passwörter kennwort wachtwoord passord kodeord adgangskode lösenord salasana pwort
        passe mdp contraseña contraseñas contrasena senha parole parola heslo hasło jelszó şifre khẩu sandi
        пароль пароля пароли κωδικός סיסמה पासवर्ड المرور السر 密码 密碼 口令 パスワード 비밀번호 암호 รหัสผ่าน""",
    "phrase": "passphrase passphrases mnemonic phrase",
    "credentials": "credentials credential creds login logins zugangsdaten",
    "secret": "secret token geheimnis jeton токен секрет 密钥 トークン",
    "PIN": "pin cvv cvv2 cvc cvc2 pincode geheimzahl 暗証番号",
    "code": """
        code codes combination combo otp totp passcodes
        kode código codigo códigos codice digicode türcode kod код koodi kombination koda""",
    "key": "key keys schlüssel clave clé chiave ключ",
}
WORDS: dict[str, Kind] = {word: kind for kind, words in _TABLE.items() for word in words.split()}
_QUALIFIED: dict[str, re.Pattern[str]] = {
    name: re.compile(rf"\b(?:{words})\W{{0,3}}$")
    for name, words in {
        "key": r"api|access|auth|account|app|client|(?:en|de)cryption|aes|hmac|hex|wpa[23]?|wi-?fi|wlan|network"
        r"|recovery|licen[cs]e|product|signing|service|private|master|(?:pre-?)?shared|secret|session|bearer|refresh|bot|ssh"
        r"|storage|deploy|webhook|admin|root|activation|security|server|bitlocker|zugangs|zugriffs|lizenz"
        r"|privée?|secrète|secreta|segreta|privada|d['’]accès|de acceso|d['’]api|de api",
        "code": r"door|gate|garage|alarm|entry|entrance|access|security|safe|locker|(?:pad ?)?lock|bike|lock ?box"
        r"|key ?pad|sim|unlock|vault|building|elevator|lift|shed|back ?up|recovery|verification|confirmation"
        r"|one[ -]time|2fa|mfa"
        r"|otp|two[ -]factor|sms|log-?in|sign-?in|auth|authenticator|puk|card|parental|voicemail|intercom|suitcase"
        r"|luggage|(?:haus)?tür|zugangs|sicherheits|tresor|eingangs|d['’]entrée|d['’]accès|de la porte|de acceso"
        r"|de entrada",
        "phrase": r"seed|recovery|secret|back ?up|mnemonic|wallet|pass|key",
        "passe": r"mot de|palavra",
        "sandi": r"kata",
        "khẩu": r"mật",
        "parole": r"mots? de|ma|la",
    }.items()
}
_PLACE = re.compile(
    r"(?:for|of|to|at|on|in|für|zur|zum|vom|der|die|des|de|del|la|du|pour|para)\b[^.!?\n]{0,24}?\b(?:doors?|gates?|garage"
    r"|alarm|entry|entrance|safe|lockers?|(?:pad ?)?lock|lock ?box|key ?pad|vault|building|elevator|shed|bike|sim|gym"
    r"|voicemail|suitcase|office|house|flat|apartment|cellar|(?:haus)?tür|tor|tresor|puerta|porte|portail|porta)\b"
)
_NOT_PASS = re.compile(
    r"(?:boarding|ski|bus|day|hall|season|mountain|backstage|travel|park|press|rail|to|will|must|didn't)\s$"
)
_OWNED = re.compile(
    r"\b(?:my|your|his|her|our|their|card|sim|bank|debit|phone|atm|meine?r?|the|new|old|ihre?)\W{0,2}(?:\w+\s)?$"
)
_ACCOUNT = re.compile(r"\b(?:user\w*|login|wi-?fi|e-?mail|root|admin|db|db_?user|account|name|wlan|usr|uid)\b")
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
    " settings setting support issue"
)
NO_VALUE = frozenset(_OTHER_THINGS.split())
"""Words behind a noun that make it the name of something that is no secret."""
_CORES = (
    "pass",
    "pw",
    "secret",
    "token",
    "cred",
    "login",
    "pin",
    "cod",
    "comb",
    "key",
    "phrase",
    "mnemonic",
    "cv",
    "otp",
)
"""What the English nouns hold; found by plain search, which is many times as fast as a pattern."""
_FOREIGN_CORES = (
    *(
        "psk",
        "psw",
        "kenn",
        "geheim",
        "zugang",
        "wacht",
        "mdp",
        "contrase",
        "senha",
        "kod",
        "clave",
        "salasana",
        "parol",
    ),
    *("heslo", "chiave", "totp"),
)
_WIDE_CORES = tuple(word for word in WORDS if not word.isascii())
"""What the others hold; looked for only where a figure or a sign stands, as behind them a value needs one."""
_FIGURE = re.compile(r"[0-9:=|]")
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


def find_nouns(text: str, lower: str) -> Iterator[Noun]:
    """Yield the nouns of a text, each once.

    Args:
        text: the text.
        lower: the same in lower case.
    """
    cores = [core for core in _CORES if core in lower]
    if _FIGURE.search(text):
        cores += [
            core for core in (_FOREIGN_CORES if text.isascii() else _FOREIGN_CORES + _WIDE_CORES) if core in lower
        ]
    seen = set()
    for core in cores:
        place = lower.find(core)
        while place >= 0:
            end, noun = _noun_at(text, lower, place, core)
            if noun is not None and end not in seen:
                seen.add(end)
                yield noun
            place = lower.find(core, end)


def _noun_at(text: str, lower: str, place: int, core: str) -> tuple[int, Noun | None]:
    """Return where the word at a place ends, and the noun that it is, if any."""
    if core[0] > "\u024f":  # scripts that may have no spaces
        return place + len(core), Noun(WORDS[core], place, place + len(core), certain=True)
    start = place
    while start and place - start < _LONGEST and (text[start - 1].isalnum() or text[start - 1] in "_-"):
        start -= 1
    end = max(_end_of_name(text, place), place + 1)
    parts = [one[0].lower() for one in _PART.finditer(text, start, end)]
    words = [_word_in(part) for part in parts]
    rest = next((n for n in range(len(parts) - 1, -1, -1) if words[n]), None)
    if rest is None or (rest < len(parts) - 1 and parts[-1] in NO_VALUE):
        return end, None
    if text[end : end + 1] == " " and lower[end + 1 : _end_of_name(text, end + 1)] in NO_VALUE:
        return end, None
    word = words[rest] or ""
    prefix = " ".join([*parts[:rest], parts[rest].removesuffix(word)]).strip()
    before = lower[max(0, start - 24) : start] + (f"{prefix} " if prefix else "")
    return end, _judged(word, before, lower, start, end, capital=text[start:end] == "PIN")


def _end_of_name(text: str, place: int) -> int:
    found = _NAME.match(text, place)
    return found.end() if found else place


def _word_in(part: str) -> str | None:
    if part in WORDS:
        return part
    return next((one for one in WORDS if len(one) > 2 and part.endswith(one) and _fused(one, part)), None)


def _fused(word: str, part: str) -> bool:
    """Return whether the front of a word like "wifipassword" or "apikey" leaves it a noun for a secret."""
    kind, front = WORDS[word], part[: -len(word)]
    if kind == "password":
        return len(word) > 4
    if kind in ("secret", "PIN"):
        return front in (
            "client",
            "app",
            "api",
            "shared",
            "signing",
            "webhook",
            "auth",
            "access",
            "bot",
            "refresh",
            "sim",
        )
    qualified = _QUALIFIED.get(kind)
    return qualified is not None and qualified.fullmatch(front) is not None


def _judged(word: str, before: str, lower: str, start: int, end: int, *, capital: bool) -> Noun | None:
    """Return a noun as what stands around it says: qualified, uncertain, or None for no secret's."""
    kind = WORDS[word]
    qualified = _QUALIFIED.get(word) or _QUALIFIED.get(kind)
    if word == "pass":
        if _NOT_PASS.search(before):
            return None
        return Noun(kind, start, end, certain=_ACCOUNT.search(lower, max(0, start - 40), start) is not None)
    if kind == "key" and (qualified is None or not qualified.search(before)):
        told = re.search(r"\b(?:my|our|the|mein\w*|unser\w*|mi|ma)\s$", before)
        return Noun("key", start, end, certain=False) if told else None
    if kind == "code":
        placed = (qualified and qualified.search(before)) or _PLACE.match(lower, end + 1, end + 48)
        return (
            Noun(kind, start, end, certain=True) if placed or word in ("otp", "totp", "digicode", "türcode") else None
        )
    if qualified is not None and word not in ("passphrase", "passphrases", "mnemonic") and not qualified.search(before):
        return None
    if kind == "PIN" and word == "pin":
        owned = _OWNED.search(before)
        return Noun(
            kind, start, end, certain=owned is not None or capital or lower[end : end + 5] in (" code", " numb")
        )
    return Noun("secret" if kind == "key" else kind, start, end, certain=True)
