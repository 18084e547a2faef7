"""The kinds of nouns and names by their last word: places, organisations, teams, roles, possessions and others.

English puts the kind last ("Halden Clinic", "shipping company"), so the last word of a phrase decides. A name that ends
in none of these words may be of any kind.
"""

from __future__ import annotations

from mcp_memory.language.vocabulary import COMMON_DEMONYMS, word_set

PLACES = word_set(
    "flat apartment house farmhouse cottage village town city country suburb suburbs countryside farm cabin"
    " bungalow studio loft condo island neighbourhood neighborhood district region state province county"
    " street road avenue lane square mansion villa caravan houseboat trailer dorm dormitory station coast"
    " valley mountains outskirts capital shoebox barn bay abroad"
)
HOMES = word_set("flat apartment house cottage studio bungalow room loft condo houseshare flatshare")
TEAMS = word_set(
    "united fc afc sc cf if athletic rovers rangers wanderers albion hotspur wolves badgers lions tigers"
    " bears eagles hawks falcons sharks bulls giants knights kings warriors pirates raiders dynamo spartak"
    " sporting racing villa team squad eleven rugby club's"
)
SCHOOLS = word_set(
    "school university college academy institute conservatory kindergarten polytechnic uni seminary lyceum gymnasium"
)
ENSEMBLES = word_set("band orchestra choir quartet trio quintet ensemble group chorus duo")
CLUBS = word_set(
    "club party union association society league federation church committee board council guild gym band"
    " orchestra choir quartet trio quintet ensemble commission brigade troupe senate parliament congress"
    " assembly team squad group community chorus fraternity sorority crew staff cooperative co-op movement"
    " alliance caucus"
)
COMPANIES = word_set(
    "company firm startup start-up agency bank shop store restaurant cafe café bakery hospital clinic museum"
    " library factory studio studios lab labs laboratory office hotel newspaper magazine station broadcaster"
    " theatre theater gallery bookshop bookstore supermarket pharmacy salon garage brewery winery vineyard"
    " publisher practice ministry department corporation group holdings inc ltd llc gmbh corp co foods press"
    " foundry mobility motors logistics freight systems technologies technology software consulting partners"
    " solutions industries media energy airlines airways pharma foundation charity shelter ngo nursery zoo"
    " insurance electronics records games films pictures bros brothers sons associates services networks"
    " telecom railways shipyard mill mills works hospice post daily times herald gazette tribune diner pub bar"
    " plant warehouse call-centre observatory archive archives court embassy consulate police army navy"
    " government council bbc nasa university school college academy institute conservatory kindergarten"
    " shipping robotics analytics ventures capital bistro boatyard"
)
NO_WORKPLACES = word_set(
    "time times moment minute hour day days night nights weekend weekends week weeks month year start beginning end"
    " pace speed rate level scale age expense cost request behest behalf risk limit peak height depth distance"
    " desk desks table tables counter till computer laptop keyboard screen machine bench easel piano window door"
    " top bottom back front side sides rear edge edges corner centre center middle heart head foot root roots base"
    " level grassroots relationship relationships problem problems project projects issue issues goal goals skill"
    " skills task tasks marriage craft art technique form balance thing things place places same house home"
)
"""Nouns that follow "work at" and are no workplace: times, measures, parts, furniture, objects of work."""
ASSEMBLIES = word_set("parliament senate congress council board committee assembly government cabinet house")
JOBS = word_set(
    "job post position role work career internship apprenticeship gig contract traineeship employment stint"
)
EVENTS = word_set(
    "concert festival conference wedding funeral exhibition workshop seminar meetup marathon race tournament"
    " parade gala party retreat camp class classes convention fair summit lecture course championship"
    " championships gig ceremony reunion premiere play opera protest march rally graduation meeting show event match"
    " picnic barbecue bbq carnival fundraiser rehearsal audition screening competition contest gathering run"
    " recital expo interview cookout potluck brunch sleepover pageant regatta"
    " launch signing reading showcase slam vigil ball"
)
VEHICLES = word_set(
    "car van truck lorry bus tram taxi cab train motorbike motorcycle scooter tractor bike bicycle boat lada"
    " volvo toyota honda ford fiat bmw audi tesla mazda mercedes skoda subaru jeep suv minivan campervan"
    " camper ambulance forklift moped hatchback convertible pickup cargo-bike beetle golf polo corsa vw volkswagen"
    " renault peugeot citroen citroën opel vauxhall nissan hyundai kia suzuki mini porsche lexus dacia seat vespa"
    " chevrolet chevy mitsubishi landrover minibus"
)
OWNABLE = VEHICLES | word_set(
    "house flat apartment cottage farm farmhouse cabin restaurant cafe café shop store business company"
    " bakery bar pub hotel vineyard studio gallery garage boat yacht sailboat kayak canoe caravan guitar piano"
    " violin cello drum drums keyboard camera laptop computer phone tablet telescope greenhouse allotment"
    " orchard garden motorhome trucks land holiday-home houseboat workshop bookshop bookstore brewery record"
    " collection sewing-machine printer drone console bikes cars boats houses flats apartments guitars"
    " surfboard skateboard"
)
CONDITIONS = word_set(
    "diabetes asthma migraine migraines arthritis cancer epilepsy anxiety depression insomnia adhd autism"
    " dyslexia hypertension anaemia anemia parkinson's alzheimer's dementia eczema psoriasis allergy allergies"
    " tinnitus scoliosis fibromyalgia endometriosis gout flu covid pneumonia bronchitis stroke pressure"
    " disease syndrome disorder condition intolerance celiac coeliac lupus sclerosis glaucoma cataracts"
    " concussion hernia tendonitis tonsillitis sciatica vertigo lyme infection malaria tuberculosis hepatitis"
    " osteoporosis bipolar ptsd ocd ibs shingles measles chickenpox apnea apnoea leukaemia leukemia tumour"
    " tumor"
)
ROLES = word_set(
    "accountant actor actress administrator advisor adviser ambassador analyst animator anthropologist"
    " archaeologist architect archivist artist assistant astronaut astronomer athlete attorney author baker"
    " banker barber barista bartender beekeeper biochemist biologist blacksmith blogger boatbuilder bookkeeper"
    " bookseller botanist bricklayer broker builder butcher butler captain caregiver carer caretaker carpenter"
    " cartographer cashier ceo cfo chairman chairwoman chairperson chancellor chaplain chef chemist"
    " choreographer cinematographer cleaner clerk coach cobbler columnist comedian commander commissioner"
    " composer conductor consul consultant contractor cook copywriter correspondent councillor counsellor"
    " counselor courier critic cto curator dancer dean decorator dentist deputy designer detective developer"
    " dietician dietitian diplomat director diver dj doctor driver drummer economist editor electrician"
    " engineer entrepreneur epidemiologist ethnologist explorer farmer farrier firefighter fisherman florist"
    " footballer forester gardener general geographer geologist glassblower goalkeeper goldsmith governor"
    " grocer guard guide guitarist hairdresser handyman headmaster headmistress historian housekeeper"
    " illustrator inspector instructor interpreter inventor investigator janitor jeweller jeweler journalist"
    " judge laborer labourer landscaper lawyer lecturer librarian lifeguard linguist locksmith logistician"
    " machinist magistrate magician manager marketer mason mathematician mayor mechanic merchant meteorologist"
    " midwife miller miner minister missionary model musician nanny naturalist neurologist neuroscientist"
    " novelist nun nurse nutritionist officer operator optician optometrist organist painter paralegal"
    " paramedic pastor pediatrician paediatrician pharmacist philosopher photographer physicist physician"
    " physiotherapist pianist player pilot playwright plumber poet policeman policewoman politician porter postman"
    " potter president priest principal printer producer professor programmer psychiatrist psychologist"
    " psychotherapist publicist publisher rabbi radiographer radiologist ranger realtor receptionist recruiter"
    " referee reporter researcher restorer roofer sailor salesman salesperson saleswoman saxophonist scholar"
    " scientist sculptor seamstress secretary senator sergeant servant sheriff shepherd shoemaker singer"
    " skipper sociologist soldier solicitor songwriter sommelier speaker statistician stewardess stonemason"
    " striker superintendent supervisor surgeon surveyor tailor tattooist teacher technician technologist"
    " therapist tiler trader trainer translator treasurer trumpeter tutor undertaker upholsterer urologist"
    " usher vet veterinarian vicar vice-president violinist vocalist waiter waitress watchmaker weaver welder"
    " winemaker woodworker worker writer zoologist zookeeper freelancer intern apprentice trainee student"
    " undergraduate postdoc bassist cellist executive defender midfielder winger forward keeper frontman"
    " choirmaster monarch king queen emperor pope bishop archbishop cardinal abbot"
)
OFFICES = word_set(
    "president chairman chairwoman chair director ceo cto cfo head leader mayor governor minister manager"
    " captain principal dean secretary treasurer editor coach chancellor ambassador commander boss"
    " commissioner senator deputy spokesperson spokesman spokeswoman headmaster headmistress king queen bishop"
    " rector vice-president"
)
ROYAL = word_set("king queen prince princess emperor pope president captain boss master")
MUSICIANS = word_set(
    "drummer singer guitarist bassist vocalist keyboardist pianist violinist cellist frontman trumpeter"
)
LANGUAGES = word_set(
    "english french german spanish italian portuguese dutch swedish norwegian danish finnish icelandic polish"
    " czech slovak hungarian romanian bulgarian greek turkish russian ukrainian serbian croatian slovene"
    " albanian arabic hebrew persian farsi hindi urdu bengali punjabi tamil telugu thai vietnamese indonesian"
    " malay tagalog mandarin cantonese chinese japanese korean swahili amharic yoruba igbo zulu afrikaans"
    " latin welsh irish gaelic basque catalan galician estonian latvian lithuanian esperanto georgian armenian"
    " mongolian nepali sinhala khmer lao"
)
PLAYED = word_set(
    "piano guitar violin cello drums bass flute clarinet saxophone sax trumpet trombone harp ukulele banjo"
    " viola organ keyboard accordion harmonica oboe oud lute sitar bagpipes fiddle synth recorder cards"
    " scrabble tuba mandolin tennis football soccer basketball volleyball badminton chess golf hockey rugby"
    " cricket squash handball baseball softball poker bridge go darts snooker pool padel ping-pong lacrosse"
    " frisbee dnd"
)
WORKS = word_set(
    "book novel story poem article essay paper memoir biography play script song opera album blog thesis"
    " column letter novels books poems songs stories essays plays film movie series show documentary comic"
    " trilogy sequel"
)
ACTIVITIES = word_set(
    "yoga pilates therapy pottery karate judo salsa ballet meditation chemo medication ceramics calligraphy"
    " zumba tango crossfit aikido taekwondo woodwork photography gymnastics"
)
AWARDS = word_set(
    "prize award medal trophy championship cup title scholarship grant oscar nobel honour honor marathon race"
)
ING_NOUNS = word_set(
    "meeting reading painting building wedding training recording gathering drawing clothing housing festival morning"
    " evening opening screening outing engineering lighting landing briefing hearing offering earnings savings"
)
"""Nouns that look like forms of verbs."""
VENUES = word_set(
    "beach park museum zoo aquarium gallery mountains forest lake theatre theater cinema mall market fair farm castle"
    " palace temple cathedral mosque synagogue church library waterfall cave planetarium stadium arena spa festival"
    " shelter hospital clinic restaurant cafe café bar pub farmhouse center centre amusement-park campground vineyard"
)
"""Places that people visit."""
DEGREES = word_set("degree master's masters phd doctorate bachelor's bachelors diploma ba bsc msc ma mba course")
NATIONALITIES = COMMON_DEMONYMS
JUDGED = word_set("answer verdict score rating guess bet age day turn rule motto motivation inspiration passion go-to")
"""Nouns whose value is no fact, even if it is a name or a number."""
DIRECTIONS = word_set(
    "north south east west centre center heart middle northeast northwest southeast southwest outskirts"
)
SPORTS_ROLES = word_set("goalkeeper striker midfielder defender winger forward keeper player footballer quarterback")
CONDITIONED = word_set(
    "diabetic dyslexic colour-blind color-blind colorblind lactose-intolerant gluten-intolerant celiac coeliac deaf"
    " blind asthmatic autistic epileptic anaemic anemic bipolar half-blind"
)
"""Adjectives and nouns for somebody's lasting condition."""
STATES = CONDITIONED | word_set(
    "vegan vegetarian pregnant divorced single retired unemployed left-handed gluten-free pescatarian bilingual widowed"
    " self-employed transgender gay lesbian bisexual catholic protestant muslim jewish buddhist hindu atheist teetotal"
    " sober"
)
"""Adjectives and nouns for lasting states of a person."""
PERSONISH = word_set("person lover fan owl bird enthusiast buff geek nerd addict beginner expert native")
TITLE_ROLES = word_set(
    "mayor president professor captain senator king queen prince princess pope bishop judge general colonel"
    " major striker midfielder defender goalkeeper coach chancellor governor minister painter poet architect"
)
"""Roles that precede a name without being part of it: "Mayor Ines Calvo"."""
CRAFTS = word_set(
    "cake bread pie cookies jam soup salad dinner lunch breakfast pizza pasta bowl bowls pot pots vase plate"
    " plates mug pottery sculpture painting paintings drawing card cards dress quilt scarf sweater jumper"
    " necklace bracelet jewelry jewellery furniture table chair bench shelf candles candle soap cheese wine"
    " beer cider honey film movie video documentary album song podcast game app website model kite lantern"
    " doll toy toys curry stew sauce ice-cream"
    " tart cobbler crumble jam cupcakes muffins pancakes lasagna lasagne quiche"
)
JUDGING = word_set(
    "good great perfect ideal amazing awesome terrible bad excellent wonderful fantastic brilliant lousy"
    " decent keen big huge avid proud busy better best talented terrific natural born"
)
"""Adjectives that make a role a judgement: "a good cook" need not be a cook by trade."""
VAGUE = word_set(
    "enough connections connection relationships relationship trust confidence bridges bond bonds momentum"
    " foundation ton tons month months weeks weekend morning evening afternoon impact path difference bunch"
    " busy dream dreams accident trap process awareness freedom stuff whole list video site link future past"
    " present time idea chance problem question look feeling fun day days night week year years moment"
    " plan plans place point reason sense mistake experience issue word words news luck break money trouble"
    " effect view minute minutes hour hours turn try memory memories opportunity call step space room feelings"
    " thought thoughts life world people person man woman guy girl someone love heart mind hand hands eye eyes"
    " mornings evenings afternoons nights"
    " head bit couple number kind sort rest part end start beginning beginnings top bottom middle front while"
    " piece pieces amount series talk chat conversation goal goals progress journey vibes advice support"
    " help attention sure hope job work name names photo photos picture pictures pic pics thing things way"
    " ways lot lots"
)
"""Nouns that mean nothing without their context."""
PETS = word_set(
    "dog cat puppy kitten parrot rabbit bunny hamster horse pony goldfish turtle tortoise snake lizard gecko"
    " budgie canary ferret hedgehog pup pooch kitty goat goats chicken chickens hens ducks guinea pet pets"
    " dogs cats puppies kittens rabbits hamsters parrots horses ponies turtles budgies guinea-pig labrador"
    " beagle poodle corgi retriever terrier dachshund husky greyhound collie spaniel bulldog dalmatian tabby"
    " siamese cockatiel cockatoo pug chinchilla rat rats iguana axolotl donkey donkeys bees sheep alpaca"
    " alpacas llama"
)
ROLE_ENDINGS = ("ologist", "ician", "grapher", "smith", "maker", "keeper", "worker", "driver", "teacher", "writer")
"""Endings of further nouns for roles."""
ABSTRACT = word_set(
    "fun trouble joy happiness peace courage strength effort interest success beauty nature balance comfort passion"
    " inspiration creativity energy power growth culture knowledge skill skills emotion emotions experience"
    " experiences challenge challenges opportunity opportunities event events idea ideas insight insights value values"
    " choice choices decision decisions change changes success mood spirit spirits soul bodies body moments memories"
    " weather view views vibe vibes smile smiles laugh laughs tears passion gear steps limits barriers boundaries"
    " potential importance purpose meaning truth justice equality acceptance respect kindness care stress risk"
    " risks results result difference differences atmosphere scene scenery scenes light darkness hope faith belief"
    " beliefs bar note ropes ice deal deals pressure message messages story stories lesson lessons tip tips info"
    " information details detail topic topics lives game games bullet nerves barrel luck wonders magic bucket ball"
    " boat track shape ground charge lead role line lines control cause causes interests issues needs kind side sides"
    " touch sleep compliments compliment wishes wish presence page pages ambitions me-time last latest total first"
    " second third fourth female male matter share refusal"
    " nerve temper patience grip appetite plot"
    " class deep breath post question questions answer answers self selves voice voices bunch gap gaps mark sights"
)
"""Nouns that need the rest of a conversation to mean anything, or that idioms are made of."""
ABSTRACT_ENDINGS = ("ness", "ship", "ity", "ism", "ance", "ence", "hood", "ful", "thing", "body", "one")
"""Endings of nouns that mean nothing by themselves."""
