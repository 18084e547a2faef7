"""What verbs say of people with each other, of tastes, things and deeds; read as in ``verbs.py``."""

from __future__ import annotations

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
"""Verbs whose own name is a good enough relation between who does it and what it is done to."""
