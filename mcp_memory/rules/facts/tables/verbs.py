"""What verbs say: for each verb with its object or preposition, the relation that it asserts.

Each line reads *verb | slots | relation | effect | tail*. The verb stands in its plain form, with the particle that
belongs to it; "be founded" is a passive. A slot is ``obj``, a preposition, ``time`` (the words of a date), or ``each``
(the subjects to one another). The effect says what a moment does to the fact:

- ``state``: it holds then; told in the past, it is over.   - ``begin``: it holds from then on.
- ``end``: it holds no longer from then on.                  - ``event``: it happens then.
- ``lasting``: it holds, whatever the tense.                 - ``ended``: it held until then.

The tail must be such as the last column says (``tables/kinds.py``): ``any``, ``place``, ``org``, ``person``, ``role``,
``name`` (a proper name), ``thing`` (more than a pronoun), ``title``, ``pet`` …; ``joined`` and ``left`` name the
relation by what the tail is.
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
