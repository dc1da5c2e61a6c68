/**
 * What happens in the generated stories. A plot is a list of beats, in order; a beat is one of several sentences.
 *
 * `{slots}` are filled from the story's cast, or drawn from `lists` in `words.ts`; `(a|b)` is one or the other.
 */

/** One of these is told, or two short sentences together. `may`: the beat may be left out. */
export type Beat = { readonly may?: boolean; readonly told: readonly string[] };
export type Plot = readonly Beat[];

const must = (...told: string[]): Beat => ({ told });
const may = (...told: string[]): Beat => ({ may: true, told });

const lost: Plot = [
  must(
    'Then {he} saw that {his} {thing} was gone.',
    'But {his} {hue} {thing} was lost.',
    'Suddenly the wind took {his} {thing} away.',
    '"My {thing} is gone!" {cried} {hero}.',
  ),
  may('{He} felt very {bad}.', '{hero} began to cry.', '{hero} was {bad} and did not know what to do.'),
  may(
    '{He} {looked} {hiding}, but it was not there.',
    '{He} {looked} {hiding} and {hiding}.',
    'First {he} {looked} {hiding}.',
  ),
  must(
    '"I will help you," {said} {friend}.',
    '{friend} came and asked, "Why are you so {bad}?"',
    '{friend} saw {him} and wanted to help.',
  ),
  may('They {looked} everywhere.', 'Together they {looked} {in} until the sun went down.', 'They did not give up.'),
  must(
    'At last they found the {thing} {hiding}.',
    '{quickly} {friend} found it {hiding}!',
    'There it was, {hiding}, a little wet but not broken.',
  ),
  must(
    '{hero} hugged {friend} and felt {good}.',
    '"Thank you!" said {hero}.',
    '{hero} was {good} to have {his} {thing} back.',
  ),
];

const found: Plot = [
  must(
    '{hiding} {he} found {a-thing}.',
    '{quickly} {he} saw something {color} {hiding}.',
    'There was {a-thing} {hiding}, and nobody was near.',
  ),
  may(
    '"Who lost this?" asked {hero}.',
    '{He} picked it up and looked at it {softly}.',
    '{hero} wanted to keep it, but it was not {his} own.',
  ),
  may('{He} showed it to {elder}.', '"You must find out whose it is," {said} {elder}.', '{He} knocked on every door.'),
  must(
    'Then {hero} saw {friend}, who looked {bad}.',
    '{friend} was sitting {in} and looked {bad}.',
    'It was the {thing} of {friend}, who was {bad} without it.',
  ),
  must(
    '"Is this your {thing}?" asked {hero}.',
    '{hero} gave the {thing} back at once.',
    '"Here it is," {said} {hero} {softly}.',
  ),
  must(
    '{friend} smiled and felt {good} again.',
    '"You are so kind!" {said} {friend}.',
    '{friend} jumped up and danced.',
  ),
  may('They ate {food} together.', 'Then they played {game}.', '{friend} gave {hero} {a-treat} to say thank you.'),
];

const fear: Plot = [
  must(
    'But {hero} was (scared|afraid) of (the dark|deep water|loud storms|high places|the big dog).',
    '{He} was {afraid} because of (the dark|the thunder|the deep water|the big dog).',
    '{hero} had a secret: {he} was {afraid} at night.',
  ),
  may('{His} heart beat fast.', '{He} closed {his} eyes.', '{He} wanted to run home.', '{He} could not move.'),
  must(
    '{His} {relative} took {his} hand.',
    '"You do not have to be alone," {said} {friend}.',
    '"I was {afraid} once, too," {said} {elder}.',
  ),
  may('{hero} took a deep breath.', '{He} counted to ten.', '{He} thought about it for a long time.'),
  must(
    'Step by step, {he} {walked} {to}.',
    'Then {he} tried, one small step at a time.',
    '{quickly} {hero} opened {his} eyes and took a step.',
  ),
  must(
    'It was not so bad at all.',
    'Nothing bad happened, and {hero} began to laugh.',
    '"I did it!" {cried} {hero}.',
    '{hero} saw that there was nothing to fear.',
  ),
  must('{He} felt {good} and {strong}.', 'Now {he} felt {good}.', '{His} {relative} was proud of {him}.'),
];

const stranger: Plot = [
  must(
    '{friend} was new and sat alone {in}.',
    'There {he} met {friend}, who had no friends yet.',
    '{hero} saw {friend} {in}, all alone.',
  ),
  may('{friend} looked {bad}.', '{friend} did not say a word.', '{hero} could see that {friend} was {bad}.'),
  must(
    '"Do you want to play?" asked {hero}.',
    '{hero} {walked} over and said hello.',
    '{hero} gave {friend} half of {his} {treat}.',
  ),
  may('At first {friend} was too {bad} to answer.', '{friend} looked up and smiled a little.', '{friend} nodded.'),
  must(
    'They played {game} until {sky} came out.',
    'Soon they were running and laughing {in}.',
    'They built a {size} house of sticks and leaves.',
  ),
  may('{friend} knew a funny {sound}.', '{friend} showed {hero} {a-thing}.', 'A {creature} came to watch them.'),
  must(
    '{friend} was not {bad} anymore.',
    'When it was time to go home, both felt {good}.',
    'From then on, {hero} and {friend} were friends.',
  ),
];

const gift: Plot = [
  must(
    '{He} wanted to make a gift for {his} {relative}.',
    'It was the birthday of {his} {relative}, and {hero} had no gift.',
    'Tomorrow was the birthday of {friend}.',
  ),
  must(
    '{He} made {a-thing} with {his} own hands.',
    '{He} took some {color} paper and began to work.',
    '{He} painted a picture of {sky} and a {color} {creature}.',
  ),
  must(
    'Then, with a {sound}, it broke.',
    'But it did not look good, and {hero} was {bad}.',
    'The rain came in and made it all wet.',
  ),
  may('{hero} wanted to give up.', '{He} threw it away.', 'A tear ran down {his} face.'),
  must(
    '"It is not about the gift," {said} {friend}. "It is about love."',
    '"Try again," {said} {elder} {softly}.',
    '{friend} came to help, and they worked all {part}.',
  ),
  may(
    'In the end the gift was {look} and {color}.',
    'They made a new one, and it was even better.',
    '{hero} put it in a {color} box.',
  ),
  must(
    '"This is the best gift of all!" {said} {his} {relative}.',
    'Everyone felt {good}.',
    '{hero} was {good}, and so was {his} {relative}.',
  ),
];

const seed: Plot = [
  must(
    '{elder} gave {him} a {size} seed.',
    '{He} found a {color} seed and put it in the ground.',
    '{His} {relative} showed {him} how to plant a {plant}.',
  ),
  must('Every day {he} gave it water.', '{hero} watered it and waited.', '{He} sang to it {softly} every {part}.'),
  may('But nothing grew.', 'For a long time nothing happened, and {hero} felt {bad}.', 'A week went by, and then two.'),
  may('"Good things take time," {said} {elder}.', '"Be patient," {said} {friend}.', '{hero} did not give up.'),
  must(
    'Then, one day, a {size} green leaf came up.',
    'After the rain, {hero} saw something green.',
    '{quickly} it was there: a {color} {plant}!',
  ),
  may('It grew and grew.', 'A {creature} came to visit it.', 'It was as tall as {hero}.'),
  must(
    '{hero} was so {good} that {he} danced {in}.',
    '{He} gave it to {friend}, who felt {good}.',
    '{hero} felt {good} and ran to tell {friend}.',
  ),
];

const storm: Plot = [
  must(
    'Then dark clouds came, and it began to rain.',
    'Suddenly there was thunder, and the sky went black.',
    '{quickly} a big storm came up from the sea.',
  ),
  may(
    '{hero} and {friend} ran to hide {hiding}.',
    '"What shall we do now?" asked {friend}.',
    '{friend} was {bad} and held the hand of {hero}.',
  ),
  may('The wind was loud.', 'Rain fell on the roof like a drum.', 'They were wet and cold.'),
  must(
    '"Let us sing a song," {said} {hero}.',
    'They lit a {look} lantern and told stories.',
    'They sat close together and ate {food}.',
    '{hero} made a boat of paper, and they laughed.',
  ),
  must(
    'Soon the rain stopped.',
    'After a while the sun came back, and there was a rainbow.',
    'When it was over, the world smelled fresh and new.',
  ),
  may(
    'They jumped in every puddle.',
    'A {creature} came out and shook its head.',
    'The whole sky was (golden|orange|blue).',
  ),
  must('{hero} felt {good} and {strong}.', '"I am {good} that you are here," {said} {friend}.', 'They felt {good}.'),
];

const wing: Plot = [
  must(
    '{He} heard a sad {sound} {hiding}.',
    '{hiding} lay a {size} bird with a hurt wing.',
    'There {he} found a {size} {color} bird that could not fly.',
  ),
  may('The bird was {bad}.', '"Do not be afraid," {said} {hero} {softly}.', '{hero} picked it up with great care.'),
  must(
    '{He} carried it home in {his} hat.',
    '{hero} and {his} {relative} made a soft bed for it.',
    '{He} took it to {elder}, who knew what to do.',
  ),
  may('{hero} gave it water and seeds.', 'Every day the bird ate a little more.', '{friend} came to see it, too.'),
  must(
    'After a week the wing was strong again.',
    'One day, the bird began to sing.',
    '{quickly} the bird could fly from the bed to the door.',
  ),
  may(
    '{hero} opened the window and let it go.',
    'It was time to say goodbye.',
    'The bird flew up into the (blue|gray|golden|white) sky.',
  ),
  must(
    '{hero} was {good} and a little sad.',
    '{He} waved until it was gone, and felt {good}.',
    'Every {season} it came back to sing for {hero}.',
  ),
];

const race: Plot = [
  must(
    'That day there was a big race {in}.',
    '{friend} said, "Let us have a race {to}!"',
    'Everyone wanted to win the {color} cup.',
  ),
  may(
    '{hero} was {bad}, because {he} was not very fast.',
    '"You are too slow," {said} a {size} {creature}.',
    '{hero} had lost every race before.',
  ),
  may('{He} practiced every {part}.', '{friend} ran with {him} every day.', '"Just try your best," {said} {elder}.'),
  may('One, two, three, go!', 'The race began with a loud {sound}.', 'They all ran as fast as they could.'),
  must(
    'Then {friend} fell down, and {hero} stopped to help.',
    '{hero} fell, but {he} got up and ran on.',
    '{hero} was last, but {he} did not stop.',
  ),
  must(
    '{hero} did not win, but {he} felt {good}.',
    'They crossed the line together, hand in hand.',
    'To the surprise of all, {hero} won!',
  ),
  may('Everyone clapped.', '{elder} gave {him} {a-treat}.', '"You are the real winner," {said} {friend}.'),
];

const quarrel: Plot = [
  must(
    '{hero} and {friend} both wanted the same {hue} {thing}.',
    '"It is mine!" {cried} {friend}. "No, it is mine!" {cried} {hero}.',
    '{friend} took the {thing} of {hero} and ran away.',
  ),
  must(
    'They pulled and pulled, until it broke.',
    'They were both {bad} and did not speak.',
    '{hero} was {bad} and went home alone.',
  ),
  may('The {part} was long and quiet.', 'Playing alone was no fun.', '"What happened?" asked {his} {relative}.'),
  may(
    '{hero} thought about what {he} had done.',
    '"A friend is worth more than a {thing}," {said} {elder}.',
    '{hero} missed {friend} very much.',
  ),
  must('"I am sorry," {said} {hero}.', '{hero} went to {friend} and said sorry.', 'Then they both said sorry.'),
  may(
    'They fixed the {thing} together.',
    '{friend} smiled, and they hugged.',
    '"We can share it," {said} {friend} {softly}.',
  ),
  must('Both of them felt {good}.', 'They played {game} and were {good}.', 'Sharing it was much more fun.'),
];

const night: Plot = [
  must(
    'That night {he} could not sleep.',
    'At night {hero} lay awake in {his} bed.',
    'When it was dark, {hero} heard a {sound} {hiding}.',
  ),
  may('{He} felt {bad}.', '"Who is there?" asked {hero}.', '{He} looked out of the window at {sky}.'),
  must(
    'It was only a {size} {creature}.',
    'A star fell from the sky and landed {hiding}.',
    '{quickly} the moon began to speak to {him}.',
  ),
  may('It had a {color} light.', '"I am {bad}, too," it {said}.', '{hero} could not believe it.'),
  must(
    '"Make a wish," it {said} {softly}.',
    '{hero} told it all about {his} day.',
    'Together they flew over the hills and the sea.',
  ),
  may(
    'Then {he} fell asleep and had a lovely dream.',
    '{hero} closed {his} eyes and felt {good}.',
    'When {he} woke up, there was {a-thing} in {his} hand.',
  ),
  may('{He} never told anyone.', '"Good night," said the moon.', 'In the morning {he} told {friend} about it.'),
];

const cake: Plot = [
  must(
    '{He} wanted to bake a {size} cake.',
    '{hero} and {his} {relative} were making {food}.',
    '"Let us cook something good," {said} {friend}.',
  ),
  must(
    'But there was no (milk|flour|sugar|honey) in the kitchen.',
    'Then {hero} dropped an egg, and {he} felt {bad}.',
    'They put in too much salt, and it tasted bad.',
  ),
  must(
    '{hero} {walked} to {elder} and asked for help.',
    '"I have some at home," {said} {friend}.',
    '"We can start again," {said} {his} {relative}.',
  ),
  may('They mixed and they stirred.', '{hero} had flour on {his} nose.', 'The kitchen smelled very sweet.'),
  may(
    'The cake was {size} and {color}.',
    'At last it was ready, and it looked very good.',
    'It was a little burned, but nobody cared.',
  ),
  must(
    'They ate it together {in}.',
    'Everyone got a piece, even the {creature}.',
    '{hero} gave the biggest piece to {friend}.',
  ),
  must('{hero} felt {good} and full.', '"This is so good!" {said} {friend}.', '{hero} was proud of the cake.'),
];

export const plots: readonly Plot[] = [
  ...[lost, found, fear, stranger, gift, seed],
  ...[storm, wing, race, quarrel, night, cake],
];

/** What may be said between the opening and the plot. */
export const asides: readonly string[] = [
  'The air was {weather}, and a {creature} sang.',
  'The sky was (blue|gray|golden|white).',
  '{He} wore {his} {color} coat and a warm hat.',
  '{He} had a {hue} {thing} in {his} bag.',
  '{His} {relative} had given {him} {a-treat} for the way.',
  '{friend} came along.',
  '{He} liked to watch the {creature} and the {color} leaves.',
  'Everything was quiet, and only a {creature} could be heard.',
  '{He} was hungry, so {he} ate {a-treat} under a {size} tree.',
  '{friend}, who was the best friend of {hero}, came too.',
];

/** How stories end. */
export const endings: readonly string[] = [
  'From that day on, {hero} and {friend} were best friends.',
  'That {part}, {hero} learned about {virtue}.',
  '{hero} never forgot that {weather} {part}.',
  'And they all went home and ate {food}.',
  '{He} smiled all the way home.',
  'It was the best day of the {season}.',
  '"{virtue} makes the world better," {said} {his} {relative}.',
  'That night {hero} fell asleep with a smile.',
  '{hero} told {his} {relative} all about it, and they laughed.',
  'Now {hero} knew that {virtue} is the best thing in the world.',
  'The end.',
  'They waved goodbye and went home.',
  'And {hero} went home with {a-thing} and a warm heart.',
  '"Let us come back tomorrow," {said} {friend}.',
];
