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
my new PIN for the gym locker is «5518»
Bank PIN: «2290» (Revolut)
the puk is «99120345»
PUK code «12345678»
Telephone banking password = «"Harvest moon 88"»
memorable answer: «Bramwell»
Security answer for first pet: «Tobermory»
the secret word for picking up the kids is «pumpernickel»
our safe word is «periwinkle»
Alarm: disarm code «8841», arm with 8842
The garage opens with «7741#»
punch in «33918» at the front door
enter «4409» on the keypad by the back door
The safe opens with «18-25-41».
Airbnb check-in: lockbox code «0923»
Key box at the cottage: «4471»
Der Code für die Garage ist «5563»
Türcode: «9921A»
El código de la puerta es «4823»
le code du portail est «A1482»
codice del cancello: «5529»
De code van de voordeur is «8812»
kod do bramy: «4417»
код от домофона «4782»
пароль от почты: «Snegir2019»
Пароль от вайфая — «zimnyaya777»
пин-код карты «4418»
contraseña de Netflix: «GatoNegro12»
La contraseña nueva de la wifi es «sol-y-luna-88»
mi clave del banco es «7741»
Mi clave del correo es «Mariposa_88»
Kennwort fürs Tablet: «Regenbogen5»
Das Passwort vom Router habe ich auf «Kastanie#12» geändert
Passwort geändert, neu: «Kastanie#12»
mot de passe wifi «chatnoir77»
Le mot de passe du NAS : «Fougère_2024»
password dell'email: «Girasole99»
senha do cartão é «4482»
wachtwoord van de wifi is «zonnebloem12»
lösenord: «Sommar2024»
heslo je «Jahoda123»
şifre: «Papatya34»
wifi şifresi «Papatya3434»
WiFi-Passwort ist «kaffee-und-kuchen»
パスワードは「«sakura2024!»」です
ログインのパスワード: «tanuki_88»
密码是 «xiaomao123»
비번 말고 비밀번호는 «namu7788» 이야
Guest wifi: GuestNet / «welcome2home»
WLAN-Schlüssel: «59823471029384756102»
wpa2 key «9F3kQz81LmP0»
network security key: «bluegiraffe77»
WIFI:S:Cafe;T:WPA;P:«latte4all!»;;
My Netflix login is maria@example.com with the password «Panda.Bear.12»
login for the school portal: user knut, password «Elchtest#7»
Username: bob Password: «correcthorse»
My amazon pw changed, now it's «Kiwi_Tree_55»
pasword: «monkey12»
passord: «fjell1234»
the passsword is «monkey12»
pwd for zip: «Autumn2023»
the zip's password -> «Autumn2023»
The spreadsheet is protected with the password «Ledger77»
I use the same password everywhere: «Schnitzel1»
remember my old password was «Schnitzel1»
she gave me her password (it's «lulu2011»)
root pw is «toor1234»
sudo password «hunter22»
Your one-time code is «552 918»
Use «481920» as your verification code
2FA secret: «JBSWY3DPEHPK3PXP»
authenticator setup key «JBSW Y3DP EHPK 3PXP»
Backup codes for GitHub:\\n«a1b2c-d3e4f»\\n«g5h6i-j7k8l»
Recovery code «XK29-LLQ0-83HF»
Apple recovery key: «ABCD-1234-EFGH-5678-IJKL-9012-MNOP»
FileVault key is «T7K2-9QPL-XX32-M4N8-7HGF-2JKL»
seed: «gravity lemon sunset turtle river candle mountain violin ocean copper basket mirror»
my wallet's recovery phrase is «gravity lemon sunset turtle river candle mountain violin ocean copper basket mirror»
12 word phrase: «gravity lemon sunset turtle river candle mountain violin ocean copper basket mirror»
OPENWEATHER_API_KEY=«8a7d6f5e4c3b2a1908f7e6d5c4b3a291»
x-api-key: «8a7d6f5e4c3b2a1908f7e6d5»
apikey «8a7d6f5e4c3b2a1908f7e6d5»
The token for the bot is «7f8e9d0c1b2a3948576»
access_token=«ya8f7d6s5a4d3f2g1h0»&scope=read
client_secret: «Qx8~k2LmN0pRsT4uVwXyZ»
"apiToken": "«c0ffee1234deadbeef5678»"
let apiKey = '«c0ffee1234deadbeef5678»'
Cookie: PHPSESSID=«4f8a9d7c6b5e3f2a1d0c9b8e»; lang=en
Set-Cookie: session=«eyJhbGciOi8d7f6s5a4d3f»; Path=/; HttpOnly
psql postgresql://app:«Winter9»@db:5432/app
smb://carol:«Hedgehog5»@nas/share
PGPASSWORD='«Hedgehog5»' pg_dump shop
mysql --password=«Hedgehog5» -u root
openssl enc -aes-256-cbc -k «Hedgehog5!» -in a
gpg --passphrase «Hedgehog5!» -d x.gpg
ssh carol@host # password «Hedgehog5»
ftp login: carol / «Hedgehog5»
<Password>«Hedgehog5»</Password>
password "«Hedgehog5»"
Password is: '«Hedgehog5»'.
Passwd: «Hedgehog5»
- pass: «Hedgehog5»
pass phrase: «silly purple hedgehog dances»
pin: «4471»
pin=«4471»
ATM pin «4471»
my phone's passcode: «447100»
phone unlock code «447100»
SIM pin is «4471» btw
voicemail pin «4471»
my debit pin = «4471»
the last four of my PIN... it's «4471»
CVV is «221»
cvc «221»
The code to get in is «4471»
Door: «4471#»
building entrance - code «4471»
the pass for the wifi is «sunnyday»
password please: «sunnyday12»
my ssn password is «Half_life3»
the pw's «Half_life3»
combo lock «24-36-08»
bike lock: «4821»
license key «AAAA1-BBBB2-CCCC3-DDDD4»
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
The door opens with 20 minutes delay.
The museum opens with 300 works by Klee.
The shop opens at 0900 and the door is green.
Press 3 to open the gate.
We use 120 panels on the garage.
Type 2 diabetes runs in the family, call 112 at the door.
Gate 22, seat 14C, boarding at 1420
The safe weighs 420 kg.
The alarm goes off at 0630.
Door 4471 is on the left.
Room key is 12 in the drawer
the key to room 412 is at the desk
The key for the API is good docs.
The word is that they sell in 2025.
The answer is 42.
The security answer is never a guess.
My answer: 1984
The secret to a long life is 10000 steps a day.
The secret ingredient is cardamom.
The passphrase policy needs 20 characters.
I changed my password on 12.05.2024.
My password manager is KeePassXC 2.7.6.
The password for the account was changed in 2023.
My password was leaked in the LinkedIn2012 breach.
Change your password at https://acme.example/reset?x=12
Password for user anna_92 expires soon.
I forgot the password for my lena_77 account.
What is the password for Windows11?
Do you remember the password to office365?
The password must contain 1 digit and 1 symbol!
I set my password to expire in 90 days.
We reset the password to comply with policy ISO27001.
set the token to null
I set the key to C# minor
He changed the code to use 4 threads.
The code for the door component is in door.tsx line 4711
The code of conduct has 12 rules.
access code to the article: not needed
area code 0211, zip 40213
The PIN has 4 digits.
PIN entry failed 3 times
pin it to version 1.2.3
I pinned 12 recipes on Pinterest.
Connect pin 12 to pin 13.
The pin layout: 1-2-3-4
bowling pins: 10
opinion poll 2024: 48 percent
Please pass the salt, 200 g of it.
mountain pass at 2240 m
pass rate: 82.5%
passing tests: 120
Login took 350ms
login: success
login at 10:45 from 10.0.0.5
The login page has 3 fields.
credentials: see 1Password
The credentials file is in ~/.aws/credentials.
token limit 8192
tokens per second: 45
token price $0.0021
Tokenizer v2.1
session token expired after 3600 s
API key: see .env.local
api key missing, error 401
API keys start with sk-
the API key page is at https://x.example/keys123
SSH key fingerprint SHA256:abcdEFGH1234
ssh key type: ed25519
key: value1
key=a1
primary key id_12
key figures 2024: 12, 14, 18
Hotkey: Ctrl+Shift+F5
The key is F5.
License key required
recovery code not needed
discount code SAVE20
promo code: WELCOME10
QR code: https://x.example/a1
barcode 4006381333931
color code #ff8800
error code: E1234-55
HTTP code 500
code 1 means failure
postal code: 10115
the code block above has 12 lines
The combination of 3 drugs
combo meal 4: 8.90
The phrase "to be or not to be" is by Shakespeare
the phrase is three words long
Spell phrase: abra kadabra simsalabim
safe word count is 4
crossword: 12 across
password crossword 12
Foreword: 2019 edition
keyword: python3
my keyboard is a K380s.
Passport: C01X00T47
passport number L898902C3
The password game level 14 is hard.
"Invalid password for user 'bob12'"
Password1 is a bad password.
passwords like 123456 are bad
Don't use hunter2!
const password = process.env.DB_PASS1;
password: z.string().min(8)
password = faker.internet.password(12)
assert token == "abc"
if (pin.length !== 4) return;
pin_number = models.CharField(max_length=4)
def open_door(code: int = 0) -> None:
cookies: 12 pieces, 200 g flour
cookie consent banner v2
Authorization: Basic auth is disabled
use Bearer tokens for auth
$PASSWORD is not set
password: $PASSWORD
--password "$PW"
mysql -u root -p shop
curl -u "$USER:$PASS" https://x.example
postgres://user:password@localhost/db
redis://localhost:6379/0
https://user:PASS@example.org
DB_PASSWORD=PLEASE_CHANGE
secret: SECRET_NAME
PUK is on the card
The memorable day was 12 May.
A memorable word from grandma.
security word of the day
wifi network: FritzBox7590
wifi speed 250 Mbit/s
The wifi code word is easy.
my username is maria_88 and the password is in the vault
disarmed 3 mines
alarm at 0700 on the phone
use 4 locks on the gate
unlock 3 levels with 500 points
The phone opens with Face ID.
Unlock with 2 keys.
the lock opens with 90 degrees of rotation
the safe was opened with 2 witnesses
open the door for 10 minutes with 400 watts
wait for code 200 then open the gate
The Secret Garden, 1911
Secret of Mana, 1993
пароль забыл, сбросил 12.05.2024
код ошибки 4044
ключ на 17
Der Schlüssel liegt unter Topf 2.
Passwort zurücksetzen dauert 24 Stunden.
Passwort muss 12 Zeichen haben
Code 128 ist ein Barcode.
mot de passe à changer avant le 12/06/2025
la clé USB de 64 Go
la clave es 1 cosa: paciencia
código postal 28013
contraseña olvidada 2 veces
hasło roku 2024: dobro
密码太短，至少8位
パスワードを3回間違えた
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
