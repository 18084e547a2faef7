"""The relations that verbs assert with an object or a preposition.

Each line reads *verb | slots | relation | effect | tail*. The verb is in its plain form, with its particles; "be
founded" is a passive. A slot is ``obj``, a preposition, ``time`` (the words of a date), or ``each`` (the subjects to
one another). The effect is what the time of the clause means for the fact:

- ``state``: it holds then; in the past tense it is over.   - ``begin``: it holds from then on.
- ``end``: it holds no longer from then on.                  - ``event``: it happens then.
- ``lasting``: it holds, whatever the tense.                 - ``ended``: it held until then.

The tail must be of the kind in the last column (``kinds.py``): ``any``, ``place``, ``org``, ``person``, ``role``,
``name`` (a proper name), ``thing`` (more than a pronoun), ``title``, ``pet`` …; with ``joined`` and ``left`` the kind
of the tail decides the relation (``tail_relations.py``).
"""

from __future__ import annotations

HOME = """
live            | in at on outside near     | lives_in     | state   | place
live            | with                      | lives_with   | state   | person
reside          | in at on                  | lives_in     | state   | place
move            | to into                   | lives_in     | begin   | place
move            | from                      | lives_in     | end     | place
move            | in_with                   | lives_with   | begin   | person
move back       | to into                   | lives_in     | begin   | place
move back       | from                      | lives_in     | end     | place
move back in    | with                      | lives_with   | begin   | person
move in         | with                      | lives_with   | begin   | person
move out        | of from                   | lives_in     | end     | place
move away       | from                      | lives_in     | end     | place
move over       | to                        | lives_in     | begin   | place
move on         | to                        | lives_in     | begin   | name
move up         | to                        | lives_in     | begin   | place
move down       | to                        | lives_in     | begin   | place
move house      | to                        | lives_in     | begin   | place
relocate        | to                        | lives_in     | begin   | place
relocate        | from                      | lives_in     | end     | place
be relocated    | to                        | lives_in     | begin   | place
settle          | in                        | lives_in     | begin   | place
settle down     | in                        | lives_in     | begin   | place
emigrate        | to                        | lives_in     | begin   | place
emigrate        | from                      | comes_from   | lasting | place
immigrate       | to                        | lives_in     | begin   | place
immigrate       | from                      | comes_from   | lasting | place
flee            | to                        | lives_in     | begin   | place
flee            | from                      | lives_in     | end     | place
return for good | to                        | lives_in     | begin   | place
come back for good | to                     | lives_in     | begin   | place
go back for good | to                       | lives_in     | begin   | place
grow up         | in on                     | comes_from   | lasting | place
be raised       | in on                     | comes_from   | lasting | place
be born         | in at                     | born_in      | lasting | place
be born         | time                      | born_on      | lasting | any
be born and raised | in                     | born_in      | lasting | place
hail            | from                      | comes_from   | lasting | place
come            | from                      | comes_from   | present | name
originate       | from                      | comes_from   | lasting | name
die             | in at                     | died_in      | event   | name
die             | time                      | died_on      | event   | any
die             | of from                   | died_of      | event   | cause
pass away       | of from                   | died_of      | event   | cause
pass away       | time                      | died_on      | event   | any
pass away       | in at                     | died_in      | event   | name
be based        | in at                     | based_in     | state   | place
be located      | in at on near             | located_in   | state   | place
be situated     | in at on near             | located_in   | state   | place
be headquartered | in at                    | located_in   | state   | place
lie             | in on                     | located_in   | state   | name
"""

WORK = """
work            | at                        | works_at     | state   | workplace
work            | for                       | works_at     | state   | org
work            | as                        | works_as     | state   | role
work            | from                      | work_from    | state   | home
work            | with                      | works_at     | state   | company
volunteer       | at for with               | volunteer_at | state   | org
intern          | at for with               | works_at     | state   | org
teach           | at in                     | works_at     | state   | org
teach           | obj                       | teach        | state   | subject
lecture         | at                        | works_at     | state   | org
freelance       | as                        | works_as     | state   | role
freelance       | for                       | works_at     | state   | org
serve           | as                        | works_as     | state   | role
act             | as                        | works_as     | state   | office
start           | at with                   | works_at     | begin   | org
start           | as                        | works_as     | begin   | role
begin           | at with                   | works_at     | begin   | org
begin           | as                        | works_as     | begin   | role
start out       | as                        | works_as     | begin   | role
start over      | as                        | works_as     | begin   | role
join            | obj                       | joined       | begin   | org
rejoin          | obj                       | joined       | begin   | org
sign on         | with at                   | works_at     | begin   | org
sign on         | as                        | works_as     | begin   | role
sign            | with for                  | signed       | begin   | org
sign up         | for                       | sign_up_for  | event   | thing
transfer        | to                        | signed       | begin   | org
switch          | to                        | switched     | begin   | org
move            | to                        | works_at     | begin   | company
come back       | to                        | joined       | begin   | company
return          | to                        | joined       | begin   | company
be hired        | by at                     | works_at     | begin   | org
be hired        | as obj                    | works_as     | begin   | role
be employed     | by at with                | works_at     | state   | org
be employed     | as                        | works_as     | state   | role
be recruited    | by                        | works_at     | begin   | org
be signed       | by                        | signed       | begin   | org
be on the payroll | of                      | works_at     | state   | org
get hired       | by at                     | works_at     | begin   | org
get hired       | as                        | works_as     | begin   | role
be promoted     | to                        | works_as     | begin   | role
get promoted    | to                        | works_as     | begin   | role
be appointed    | obj as to                 | works_as     | begin   | role
be elected      | obj as                    | works_as     | begin   | role
be elected      | to                        | member_of    | begin   | org
be named        | as                        | works_as     | begin   | role
be made         | obj                       | works_as     | begin   | role
retrain         | as                        | works_as     | begin   | role
qualify         | as                        | works_as     | begin   | role
train           | as                        | train_as     | state   | role
quit            | obj                       | works_at     | end     | org
quit            | as                        | works_as     | end     | role
leave           | obj                       | left         | end     | any
be fired        | from by                   | works_at     | end     | org
get fired       | from by                   | works_at     | end     | org
be laid off     | from by                   | works_at     | end     | org
get laid off    | from by                   | works_at     | end     | org
be let go       | from by                   | works_at     | end     | org
resign          | from                      | works_at     | end     | org
resign          | as                        | works_as     | end     | role
retire          | from                      | works_at     | end     | org
retire          | as                        | works_as     | end     | role
step down       | as                        | works_as     | end     | role
step down       | from                      | works_at     | end     | org
study           | obj                       | studies      | state   | thing
study           | at                        | studies_at   | state   | org
study           | for                       | studies      | state   | degree
major           | in                        | studies      | state   | thing
enroll          | in at                     | enrolled     | begin   | thing
enrol           | in at                     | enrolled     | begin   | thing
attend          | obj                       | attends      | state   | thing
graduate        | from                      | studies_at   | ended   | org
graduate        | in                        | studies      | ended   | thing
drop out        | of from                   | studies_at   | end     | org
learn           | obj                       | learns       | state   | thing
speak           | obj                       | speaks       | state   | language
play            | for                       | plays_for    | state   | org
play            | in with                   | member_of    | state   | ensemble
play            | obj                       | plays        | state   | played
sing            | in with                   | member_of    | state   | ensemble
sing            | obj                       | sing         | state   | thing
coach           | obj                       | coaches      | state   | thing
train           | at                        | train_at     | state   | org
be coached      | by                        | <coaches     | state   | person
lead            | obj                       | leads        | state   | thing
head            | obj                       | leads        | state   | org
chair           | obj                       | leads        | state   | org
manage          | obj                       | leads        | state   | org
run             | obj                       | runs         | state   | thing
govern          | obj                       | leads        | state   | name
be led          | by                        | <leads       | state   | person
be run          | by                        | <leads       | state   | person
be headed       | by                        | <leads       | state   | person
be managed      | by                        | <leads       | state   | person
found           | obj                       | founded      | event   | thing
co-found        | obj                       | founded      | event   | thing
cofound         | obj                       | founded      | event   | thing
establish       | obj                       | founded      | event   | org
set up          | obj                       | founded      | event   | org
start           | obj                       | started_up   | event   | thing
begin           | obj                       | started_up   | event   | thing
open            | obj                       | open         | event   | thing
open            | time                      | opened       | event   | any
close           | time                      | closed       | event   | any
be opened       | time                      | opened       | event   | any
make a home     | in at                     | lives_in     | begin   | place
make my home    | in                        | lives_in     | begin   | place
make her home   | in                        | lives_in     | begin   | place
make his home   | in                        | lives_in     | begin   | place
earn a living   | as                        | works_as     | state   | role
earn my living  | as                        | works_as     | state   | role
earn his living | as                        | works_as     | state   | role
earn her living | as                        | works_as     | state   | role
launch          | obj                       | launch       | event   | thing
take up         | obj                       | started      | event   | thing
be founded      | by                        | <founded     | event   | name
be founded      | time                      | founded_in   | event   | any
be established  | by                        | <founded     | event   | name
be established  | time                      | founded_in   | event   | any
be built        | time                      | built_in     | event   | any
be built        | by                        | built_by     | event   | name
succeed         | obj                       | succeed      | event   | name
sit             | in                        | member_of    | state   | assembly
belong          | to                        | belongs      | state   | thing
"""


PEOPLE = """
marry           | obj                       | married_to   | begin   | person
marry           | each                      | married_to   | begin   | person
get married     | to                        | married_to   | begin   | person
get married     | each                      | married_to   | begin   | person
be married      | to                        | married_to   | state   | person
be married      | each                      | married_to   | state   | person
tie the knot    | with                      | married_to   | begin   | person
tie the knot    | each                      | married_to   | begin   | person
wed             | obj                       | married_to   | begin   | person
wed             | each                      | married_to   | begin   | person
get engaged     | to                        | engaged_to   | begin   | person
get engaged     | each                      | engaged_to   | begin   | person
be engaged      | to                        | engaged_to   | state   | person
be engaged      | each                      | engaged_to   | state   | person
divorce         | obj                       | married_to   | end     | person
divorce         | each                      | married_to   | end     | person
get divorced    | from                      | married_to   | end     | person
get divorced    | each                      | married_to   | end     | person
be divorced     | from                      | married_to   | end     | person
be divorced     | each                      | married_to   | end     | person
date            | obj                       | dating       | state   | person
go out          | with                      | dating       | state   | name
see             | obj                       | seeing       | state   | name
be              | with                      | being_with   | state   | name
break up        | with                      | dating       | end     | person
break up        | each                      | dating       | end     | person
split up        | with                      | dating       | end     | person
split up        | each                      | dating       | end     | person
break off       | with                      | dating       | end     | person
get together    | with                      | dating       | begin   | name
become friends  | with                      | friend_of    | begin   | person
make friends    | with                      | friend_of    | begin   | person
be friends      | with                      | friend_of    | state   | person
be best friends | with                      | friend_of    | state   | person
be best friends | each                      | friend_of    | state   | name
take care       | of                        | take_care_of | state   | person
look after      | obj                       | take_care_of | state   | person
give birth      | to                        | parent_of    | lasting | person
"""

TASTE = """
like            | obj                       | likes        | state   | liked
love            | obj                       | likes        | state   | liked
enjoy           | obj                       | likes        | state   | liked
adore           | obj                       | likes        | state   | liked
hate            | obj                       | dislikes     | state   | liked
dislike         | obj                       | dislikes     | state   | liked
detest          | obj                       | dislikes     | state   | liked
loathe          | obj                       | dislikes     | state   | liked
can't_stand     | obj                       | dislikes     | state   | liked
can't_bear      | obj                       | dislikes     | state   | liked
prefer          | obj                       | prefers      | state   | liked
get             | into                      | interested_in | begin  | hobby
fall in love    | with                      | likes        | begin   | liked
"""

THINGS = """
own             | obj                       | owns         | state   | thing
be owned        | by                        | owned_by     | state   | name
buy             | obj                       | bought       | event   | thing
purchase        | obj                       | bought       | event   | thing
be bought       | by                        | <bought      | event   | name
be acquired     | by                        | <bought      | event   | name
acquire         | obj                       | bought       | event   | thing
get             | obj                       | got          | begin   | thing
adopt           | obj                       | adopted      | event   | thing
inherit         | obj                       | inherit      | event   | thing
sell            | obj                       | sold         | event   | thing
trade           | obj                       | owns         | end     | thing
trade           | for                       | owns         | begin   | thing
trade in        | obj                       | owns         | end     | thing
swap            | obj                       | owns         | end     | thing
swap            | for                       | owns         | begin   | thing
drive           | obj                       | drives       | state   | vehicle
ride            | obj                       | ride         | state   | vehicle
use             | obj                       | uses         | state   | thing
take            | obj                       | takes        | state   | dose
have            | obj                       | has          | state   | thing
have a soft spot | for                      | likes        | state   | liked
have a crush    | on                        | likes        | state   | name
have a passion  | for                       | likes        | state   | liked
have a thing    | for                       | likes        | state   | liked
suffer          | from                      | has_condition | state  | thing
be diagnosed    | with                      | has_condition | begin  | thing
get diagnosed   | with                      | has_condition | begin  | thing
cause           | obj                       | causes       | state   | thing
contain         | obj                       | contain      | state   | thing
house           | obj                       | house        | state   | thing
consist         | of                        | has_part     | state   | thing
border          | obj                       | neighbour_of | state   | name
include         | obj                       | includes     | state   | name
belong          | to                        | belongs      | state   | thing
"""

DOINGS = """
visit           | obj                       | visited      | event   | place
travel          | to                        | visited      | past    | name
go              | to                        | went         | past    | thing
go              | on                        | went         | past    | thing
go              | obj                       | go           | past    | outing
take            | to                        | went         | past    | thing
fly             | to                        | visited      | past    | name
drive           | to                        | visited      | past    | name
be              | to                        | visited      | been    | name
get back        | from                      | visited      | past    | trip
come back       | from                      | visited      | past    | trip
return          | from                      | visited      | past    | trip
participate     | in                        | attended     | past    | thing
take part       | in                        | attended     | past    | thing
compete         | in                        | attended     | past    | thing
win             | obj                       | won          | past    | won
receive         | obj                       | won          | past    | award
be awarded      | obj                       | won          | past    | thing
write           | obj                       | wrote        | event   | work
read            | obj                       | read         | past    | work
finish          | obj                       | finish       | past    | title
finish reading  | obj                       | read         | past    | work
watch           | obj                       | watched      | past    | work
see             | obj                       | watched      | past    | title
direct          | obj                       | directed     | event   | thing
be directed     | by                        | <directed    | event   | name
be written      | by                        | <wrote       | event   | name
be composed     | by                        | <wrote       | event   | name
be designed     | by                        | <created     | event   | name
be invented     | by                        | <created     | event   | name
be created      | by                        | <created     | event   | name
be discovered   | by                        | <discover    | event   | name
be painted      | by                        | <created     | event   | name
be caused       | by                        | caused_by    | lasting | thing
be part         | of                        | part_of      | state   | thing
invent          | obj                       | created      | event   | thing
design          | obj                       | created      | event   | thing
compose         | obj                       | created      | event   | thing
make            | obj                       | make         | event   | thing
score           | obj                       | score        | past    | thing
"""

OPEN = (
    "plant brew bake cook knit crochet sew paint build publish discover collect restore renovate fix repair breed"
    " record translate manufacture export import photograph illustrate excavate"
)
"""Verbs whose own name is a good enough relation between subject and object."""
