"""How people and programs tell secrets, and what looks alike and tells none; all invented.

A form has its secret between « and », which are taken out.
"""

from __future__ import annotations

SECRET = """
**Password**: «tigerlily42»
- **Wifi password:** `«Marmalade-77»`
| Service | Password |\\n|---|---|\\n| mail | «Quokka!9» |\\n| shop | «zebra-1979-x» |
| wifi password | «moonlight88» |
user=anna pass=«wombat31»
user: anna, pass: «wombat31»
pw: «fjord2020»
pw «fjord2020» for the NAS
PIN «7302»
my PIN's «7302»
My bank card's PIN is «7302».
the pin for my debit card is «7302»
PIN code: «73 02»
pin number «7302»
changed my PIN to «9184»
«9184» is my PIN now
Password for the router: «gloomy4cat»
Password (guest wifi): «gloomy4cat»
secret key: «Zx81kLm2Qw»
Secret Key = «Zx81kLm2Qw»
client secret is «a8Kd92mMx1Qp»
mysql -u root -p«Lighthouse7» shop
mysqldump --user=root --password=«Lighthouse7» shop > dump.sql
sshpass -p «Lighthouse7» ssh root@10.0.0.5
curl -u anna:«Lighthouse7» https://example.org/api
redis-cli -h cache -a «s3rvedC0ld» ping
docker login -u anna -p «Lighthouse7»
PGPASSWORD=«Lighthouse7» psql -h db
tool --token «tok9s8d7f6g5» list
the wifi password is «purple-monkey-dishwasher»
the wifi password is «bluebirds»
My password is «sunflower».
the guest network's password is now «Sunflower22»
password changed to «Winter-Is-2027»
I set the admin password to «Winter-Is-2027».
the password has been reset to «Winter-Is-2027»
The new password is: «kQ3!xv»
The password I use for the bank is «kQ3!xv99»
the password we picked for the cabin wifi is «kQ3!xv99»
use «kQ3!xv99» as the password
«kQ3!xv99» is the wifi password
«kQ3!xv99» is still our Netflix password
password: «hunter2024»
Password - «hunter2024»
password → «hunter2024»
password = "«opensesame99»"
password:\\n«hunter2024»
Username\\nanna\\nPassword\\n«hunter2024»
{"user": "anna", "password": "«sesame»"}
<password>«sesame12»</password>
<td>Password</td><td>«sesame12»</td>
<input name="password" value="«sesame12»">
DB_PASSWORD=«sesame»
dbPassword: "«sesame12»"
spring.datasource.password=«sesame12»
password => '«sesame12»'
wifi pass is «sesame12»
netflix login: anna@example.org / «sesame12»
creds: anna / «sesame12»
credentials are admin:«sesame12»
the alarm code is «4471»
alarm code «4471»
the code for the garage is «4471»
code to the safe: «44-71-03»
Gate code: «#4471»
the door code's «4471»
locker combination «12-34-08»
keypad code = «4471E»
your verification code is «482913»
backup codes: «8812-3391», «1029-4472»
recovery code: «A7K2-99XQ»
CVV «391»
cvc: «391»
the security code on my card is «391»
API key: «sk9d8f7g6h5j4k3l»
the api key for the weather service is «9d8f7g6h5j4k3l2m»
api token «9d8f7g6h5j4k3l2m1n»
license key: «QW3R-TY7U-IOP9-ASD1»
ssh passphrase: «velvet otter canyon breeze»
seed phrase: «ocean tiger maple violin rocket candle desert puzzle anchor mirror bridge lemon»
recovery phrase is «ocean tiger maple violin rocket candle»
Passwort: «Wolke77»
Das WLAN-Passwort ist «Wolke77!»
das Kennwort lautet «Wolke77»
Meine PIN ist «7302»
Der Türcode ist «4471»
mot de passe : «nuage77»
le mot de passe du wifi est «nuage77»
mdp: «nuage77»
la contraseña es «nube77xx»
contraseña del wifi: «nube77xx»
a senha do wifi é «nuvem77»
senha: «nuvem77»
la password è «nuvola77»
wachtwoord: «wolk77»
пароль: «oblako77»
пароль от вайфая: «oblako77»
密码是«yunduo77»
密码：«yunduo77»
パスワードは«kumo7788»です
비밀번호: «gureum77»
hasło: «chmura77»
my laptop password: «T4rtan_Kilt»
Password: «P@ssw0rd!»
password «Tr0ub4dor&3»
pwd=«Tr0ub4dor»;server=db
ftp://anna:«Tr0ub4dor»@files.example.org
email: anna@example.org, password: «oldtown99»
pass: «test1234»
pass code for the phone: «839201»
The passcode is «839201».
"""

HARMLESS = """
The password is wrong again.
The password is too short.
My password is expired, I think.
The wifi password is on the fridge.
Is the wifi password the same as at home?
Password: required
Password: must be at least 12 characters
Password must have 8-16 characters.
The password is 14 characters long.
password strength: strong
Password manager: Bitwarden
I use 1Password for passwords.
password policy: ISO27001
Password reset link: https://example.org/reset
Password last changed: 2026-05-04
Password hash: bcrypt
the password is hashed with SHA-256
The password is case-sensitive.
Passwords are stored with argon2id.
Password protected: yes
Forgot your password? Write to help@example.org.
The password field is up-to-date.
password: str
password: string;
def login(user: str, password: str) -> Token: ...
connect(user=user, password=password)
password = input("Password: ")
password=os.environ["DB_PASSWORD"]
DB_PASSWORD=${DB_PASSWORD}
DB_PASSWORD=changeme
password: <your password>
password: ********
Password: [hidden]
passwd: N/A
token count: 128000
max_tokens=4096
The token expires in 3600s.
Token: invalid
access token: missing
token type: Bearer
The token costs 12 euros.
token budget is 128k
The key is to keep stirring.
The key is under the mat.
key: C major
Key takeaways: 1. sleep 2. walk
primary key: user_id
the key is 12 cm long
key=value
press any key: Enter
The secret is patience.
Secret ingredient: cinnamon
Secret Santa: Maria
It is no secret: she left in 2019.
secret: none
My pin board has 4821 photos.
I put a pin at 4821 Main Street.
GPIO pin 17 goes to ground
pin 13 is the LED
The PIN is four digits long.
PIN: see the letter
PIN attempts: 3
a pin code has 4 digits
exit code 137
error code: 4821
zip code 90210
area code: 415
HTTP status code 404
promo code: SPRING20
The code is 4821 lines long.
dress code: casual
country code +351
flight code TP1234
The code for the importer has 4821 lines.
code review: 12 comments
QR code on page 12
source code: 1200 files
Morse code is from 1840.
a combination of 12 herbs
combination lock, three wheels
boarding pass: seat 14C
ski pass: 240 euros
pass: 12, fail: 3
pass=True
tests pass in 12s
I will pass 3 exams.
pass me the salt, 2 spoons
pw of the engine: 90 kW
login: 2026-05-04 at 09:30
login page: https://example.org/login
Last login: Mon 09:30
login failed 3 times
credentials: none needed
Her credentials are excellent.
ID 4821
Order number: 4821-7730
Room 4821
My flat is number 4821.
bus pass number on request
Passwort: falsch
Das Passwort ist abgelaufen.
Die PIN hat 4 Stellen.
la clave es la paciencia
La clé est sous le tapis.
mot de passe oublié
Passport: 2031
The passage is from 1984.
keyboard: qwerty-104
My keyword is memory2.
tokenizer: cl100k_base
I wrote a poem called Password in 2019.
The passphrase is the title of my favourite song.
Her phrase: never give up on me
password changed on 12 May 2026
new password needed by 2026-12-01
I forgot the password to server2.
bearer of 3 gifts
Basic training starts at 8:30.
Git commit 5d41402abc4b2a76b9719d911017c592
cache key: 5d41402abc4b2a76b9719d911017c592
session id: 8812ab
| field | type |\\n|---|---|\\n| password | string |
| Password | required |
| test | pass |\\n|---|---|\\n| a1 | yes |
| item | code |\\n|---|---|\\n| chair | 4821 |
name, password, email
hotel login desk closes at 22:00
two-factor login with TOTP is on
The api key is in the vault.
API key rotation every 90 days
an API key looks like sk-...
The secret key: where did you put it?
secret key is stored in AWS
"""


def _forms(table: str) -> list[str]:
    return [line.replace("\\n", "\n") for line in table.strip().splitlines()]


def told() -> list[tuple[str, list[str]]]:
    """Return texts that tell secrets, each with them."""
    made = []
    for form in _forms(SECRET):
        secrets = [part.split("»")[0] for part in form.split("«")[1:]]
        made.append((form.replace("«", "").replace("»", ""), secrets))
    return made


def harmless() -> list[str]:
    """Return texts that tell none."""
    return _forms(HARMLESS)
