"""Words for people by what they are to somebody: the relation from that somebody to them, and how one refers to them.

Each line reads *words | relation | pronoun*: "my sister Anna" gives (I, sibling_of, Anna), and "she" is Anna then.
A relation in brackets is kept only as the way to name the person ("Maria's boss").
"""

from __future__ import annotations

from mcp_memory.rules.facts.tables import word_set

KIN = """
mother mom mum mama mommy mummy ma               | child_of       | she
father dad papa daddy dada pa                    | child_of       | he
parent parents                                   | child_of       | they
sister stepsister half-sister                    | sibling_of     | she
brother stepbrother half-brother bro             | sibling_of     | he
sibling siblings twin sisters brothers           | sibling_of     | they
daughter stepdaughter                            | parent_of      | she
son stepson                                      | parent_of      | he
child children kid kids baby toddler sons daughters boys girls twins boy girl | parent_of | they
wife                                             | married_to     | she
husband hubby                                    | married_to     | he
spouse                                           | married_to     | they
fiancée                                          | engaged_to     | she
fiancé                                           | engaged_to     | he
fiance                                           | engaged_to     | they
fiancee                                          | engaged_to     | she
girlfriend gf                                    | dating         | she
boyfriend bf                                     | dating         | he
partner                                          | dating         | they
friend bestie buddy pal mate friends             | friend_of      | they
colleague coworker co-worker workmate teammate colleagues | colleague_of | they
neighbour neighbor neighbours neighbors          | neighbour_of   | they
roommate flatmate housemate                      | lives_with     | they
cousin cousins                                   | cousin_of      | they
aunt auntie                                      | niece_or_nephew_of | she
uncle                                            | niece_or_nephew_of | he
niece                                            | <niece_or_nephew_of | she
nephew                                           | <niece_or_nephew_of | he
grandmother grandma granny nana gran             | grandchild_of  | she
grandfather grandpa grandad granddad             | grandchild_of  | he
grandparents                                     | (grandparents) | they
grandson                                         | grandparent_of | he
granddaughter                                    | grandparent_of | she
grandchild grandchildren                         | grandparent_of | they
mother-in-law                                    | has_mother_in_law | she
father-in-law                                    | has_father_in_law | he
sister-in-law                                    | has_sister_in_law | she
brother-in-law                                   | has_brother_in_law | he
in-laws family                                   | (family)       | they
boss manager supervisor                          | has_boss       | they
teacher mentor coach tutor                       | (teacher)      | they
doctor therapist dentist landlord assistant student nanny | (person) | they
ex ex-wife ex-husband ex-girlfriend ex-boyfriend | ex_of          | they
"""
PETS = word_set(
    "dog cat puppy kitten parrot rabbit bunny hamster horse pony goldfish turtle tortoise snake lizard gecko"
    " budgie canary ferret hedgehog pup pooch kitty goat goats chicken chickens hens ducks guinea pet pets"
    " dogs cats puppies kittens rabbits hamsters parrots horses ponies turtles budgies guinea-pig labrador"
    " beagle poodle corgi retriever terrier dachshund husky greyhound collie spaniel bulldog dalmatian tabby"
    " siamese cockatiel cockatoo pug chinchilla rat rats iguana axolotl donkey donkeys bees sheep alpaca"
    " alpacas llama"
)
