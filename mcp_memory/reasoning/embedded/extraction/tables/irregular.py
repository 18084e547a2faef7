"""The irregular verbs: plain form, past, participle."""

from __future__ import annotations

IRREGULAR = """
be was been | become became become | begin began begun | bear bore born | break broke broken | breed bred bred
bring brought brought | build built built | buy bought bought | catch caught caught | choose chose chosen
come came come | cost cost cost | cut cut cut | deal dealt dealt | do did done | draw drew drawn | drink drank drunk
drive drove driven | eat ate eaten | fall fell fallen | feel felt felt | fight fought fought | find found found
flee fled fled | fly flew flown | forget forgot forgotten | get got gotten | give gave given | go went gone
grow grew grown | have had had | hear heard heard | hide hid hidden | hit hit hit | hold held held | keep kept kept
knit knitted knitted | know knew known | lead led led | learn learned learned | leave left left | lend lent lent
let let let | lie lay lain | lose lost lost | make made made | mean meant meant | meet met met | move moved moved
pay paid paid | put put put | quit quit quit | read read read | ride rode ridden | rise rose risen | run ran run
say said said | see saw seen | sell sold sold | send sent sent | set set set | sew sewed sewn | shoot shot shot
show showed shown | sing sang sung | sit sat sat | sleep slept slept | speak spoke spoken | spend spent spent
split split split | stand stood stood | steal stole stolen | swim swam swum | take took taken | teach taught taught
tell told told | think thought thought | understand understood understood | wake woke woken | wear wore worn
wed wed wed | win won won | write wrote written | throw threw thrown | bind bound bound | wind wound wound
"""
SECOND_FORMS = {"learnt": "learn", "were": "be", "divorced": "divorce"}
COMMON = (
    "accept add admit agree allow announce appear apply arrive ask award base believe belong bet blame bloom"
    " borrow call cancel care celebrate change chat check clean climb close cry collapse complain confirm"
    " consider continue cover create cross cycle dance decide decline defeat delay describe destroy diagnose"
    " die discuss doubt dream dress earn elect encourage end expect explain explore fail figure fill finish"
    " fix follow forgive gain garden give graduate guess happen hate help hike hire hope hug hurt imagine"
    " improve injure introduce invite jog join joke jump kill kiss laugh land last lean like listen look"
    " locate love manage matter mention mind miss need name notice offer order own park pass pick plan"
    " practice prepare present promise promote pull push rain realise realize recall receive recommend refuse"
    " release relax remain remember remind remove rent report represent require rescue rest retire return"
    " reveal ruin save scare seem separate serve share shop sign skate ski smell smile smoke sneeze snow sound"
    " start stay stop struggle suggest supply support suppose surprise survive suspect switch talk taste thank"
    " tie tour touch train travel treat trust try turn use visit volunteer vote wait walk want warn wash watch"
    " whisper wish wonder work worry yell commute date shift transfer employ appoint situate headquarter lay"
    " marry engage raise relocate settle emigrate immigrate hail originate sponsor succeed house contain claim"
    " estimate state argue assume insist rumour swear enrol major study attend coach chair head govern score"
    " exercise exhibit play live stroll crave quit prefer tend intend bake paint cook sail surf swim dislike"
    " detest loathe enjoy adore hang"
)
"""Further regular verbs, so that a clause is recognised as one whatever its verb."""
