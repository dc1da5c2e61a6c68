/**
 * Plots of the generated stories, as a text: `#` begins a plot, `-` a beat of it, `?` an optional beat. The line of a
 * beat and the indented lines below it are alternative sentences; one of them is told.
 *
 * `{slots}` are filled from the story's cast, or drawn from `lists` in `words.ts`; `(a|b)` is one or the other.
 */
const written = `
# lost
- Then {he} saw that {his} {thing} was gone.
  But {his} {hue} {thing} was lost.
  Suddenly the wind took {his} {thing} away.
  "My {thing} is gone!" {cried} {hero}.
? {He} felt very {bad}.
  {hero} began to cry.
  {hero} was {bad} and did not know what to do.
? {He} {looked} {hiding}, but it was not there.
  {He} {looked} {hiding} and {hiding}.
  First {he} {looked} {hiding}.
- "I will help you," {said} {friend}.
  {friend} came and asked, "Why are you so {bad}?"
  {friend} saw {him} and wanted to help.
? They {looked} everywhere.
  Together they {looked} {in} until the sun went down.
  They did not give up.
- At last they found the {thing} {hiding}.
  {quickly} {friend} found it {hiding}!
  There it was, {hiding}, a little wet but not broken.
- {hero} hugged {friend} and felt {good}.
  "Thank you!" said {hero}.
  {hero} was {good} to have {his} {thing} back.
# found
- {hiding} {he} found {a-thing}.
  {quickly} {he} saw something {color} {hiding}.
  There was {a-thing} {hiding}, and nobody was near.
? "Who lost this?" asked {hero}.
  {He} picked it up and looked at it {softly}.
  {hero} wanted to keep it, but it was not {his} own.
? {He} showed it to {elder}.
  "You must find out whose it is," {said} {elder}.
  {He} knocked on every door.
- Then {hero} saw {friend}, who looked {bad}.
  {friend} was sitting {in} and looked {bad}.
  It was the {thing} of {friend}, who was {bad} without it.
- "Is this your {thing}?" asked {hero}.
  {hero} gave the {thing} back at once.
  "Here it is," {said} {hero} {softly}.
- {friend} smiled and felt {good} again.
  "You are so kind!" {said} {friend}.
  {friend} jumped up and danced.
? They ate {food} together.
  Then they played {game}.
  {friend} gave {hero} {a-treat} to say thank you.
# fear
- But {hero} was (scared|afraid) of (the dark|deep water|loud storms|high places|the big dog).
  {He} was {afraid} because of (the dark|the thunder|the deep water|the big dog).
  {hero} had a secret: {he} was {afraid} at night.
? {His} heart beat fast.
  {He} closed {his} eyes.
  {He} wanted to run home.
  {He} could not move.
- {His} {relative} took {his} hand.
  "You do not have to be alone," {said} {friend}.
  "I was {afraid} once, too," {said} {elder}.
? {hero} took a deep breath.
  {He} counted to ten.
  {He} thought about it for a long time.
- Step by step, {he} {walked} {to}.
  Then {he} tried, one small step at a time.
  {quickly} {hero} opened {his} eyes and took a step.
- It was not so bad at all.
  Nothing bad happened, and {hero} began to laugh.
  "I did it!" {cried} {hero}.
  {hero} saw that there was nothing to fear.
- {He} felt {good} and {strong}.
  Now {he} felt {good}.
  {His} {relative} was proud of {him}.
# stranger
- {friend} was new and sat alone {in}.
  There {he} met {friend}, who had no friends yet.
  {hero} saw {friend} {in}, all alone.
? {friend} looked {bad}.
  {friend} did not say a word.
  {hero} could see that {friend} was {bad}.
- "Do you want to play?" asked {hero}.
  {hero} {walked} over and said hello.
  {hero} gave {friend} half of {his} {treat}.
? At first {friend} was too {bad} to answer.
  {friend} looked up and smiled a little.
  {friend} nodded.
- They played {game} until {sky} came out.
  Soon they were running and laughing {in}.
  They built a {size} house of sticks and leaves.
? {friend} knew a funny {sound}.
  {friend} showed {hero} {a-thing}.
  A {creature} came to watch them.
- {friend} was not {bad} anymore.
  When it was time to go home, both felt {good}.
  From then on, {hero} and {friend} were friends.
# gift
- {He} wanted to make a gift for {his} {relative}.
  It was the birthday of {his} {relative}, and {hero} had no gift.
  Tomorrow was the birthday of {friend}.
- {He} made {a-thing} with {his} own hands.
  {He} took some {color} paper and began to work.
  {He} painted a picture of {sky} and a {color} {creature}.
- Then, with a {sound}, it broke.
  But it did not look good, and {hero} was {bad}.
  The rain came in and made it all wet.
? {hero} wanted to give up.
  {He} threw it away.
  A tear ran down {his} face.
- "It is not about the gift," {said} {friend}. "It is about love."
  "Try again," {said} {elder} {softly}.
  {friend} came to help, and they worked all {part}.
? In the end the gift was {look} and {color}.
  They made a new one, and it was even better.
  {hero} put it in a {color} box.
- "This is the best gift of all!" {said} {his} {relative}.
  Everyone felt {good}.
  {hero} was {good}, and so was {his} {relative}.
# seed
- {elder} gave {him} a {size} seed.
  {He} found a {color} seed and put it in the ground.
  {His} {relative} showed {him} how to plant a {plant}.
- Every day {he} gave it water.
  {hero} watered it and waited.
  {He} sang to it {softly} every {part}.
? But nothing grew.
  For a long time nothing happened, and {hero} felt {bad}.
  A week went by, and then two.
? "Good things take time," {said} {elder}.
  "Be patient," {said} {friend}.
  {hero} did not give up.
- Then, one day, a {size} green leaf came up.
  After the rain, {hero} saw something green.
  {quickly} it was there: a {color} {plant}!
? It grew and grew.
  A {creature} came to visit it.
  It was as tall as {hero}.
- {hero} was so {good} that {he} danced {in}.
  {He} gave it to {friend}, who felt {good}.
  {hero} felt {good} and ran to tell {friend}.
# storm
- Then dark clouds came, and it began to rain.
  Suddenly there was thunder, and the sky went black.
  {quickly} a big storm came up from the sea.
? {hero} and {friend} ran to hide {hiding}.
  "What shall we do now?" asked {friend}.
  {friend} was {bad} and held the hand of {hero}.
? The wind was loud.
  Rain fell on the roof like a drum.
  They were wet and cold.
- "Let us sing a song," {said} {hero}.
  They lit a {look} lantern and told stories.
  They sat close together and ate {food}.
  {hero} made a boat of paper, and they laughed.
- Soon the rain stopped.
  After a while the sun came back, and there was a rainbow.
  When it was over, the world smelled fresh and new.
? They jumped in every puddle.
  A {creature} came out and shook its head.
  The whole sky was (golden|orange|blue).
- {hero} felt {good} and {strong}.
  "I am {good} that you are here," {said} {friend}.
  They felt {good}.
# wing
- {He} heard a sad {sound} {hiding}.
  {hiding} lay a {size} bird with a hurt wing.
  There {he} found a {size} {color} bird that could not fly.
? The bird was {bad}.
  "Do not be afraid," {said} {hero} {softly}.
  {hero} picked it up with great care.
- {He} carried it home in {his} hat.
  {hero} and {his} {relative} made a soft bed for it.
  {He} took it to {elder}, who knew what to do.
? {hero} gave it water and seeds.
  Every day the bird ate a little more.
  {friend} came to see it, too.
- After a week the wing was strong again.
  One day, the bird began to sing.
  {quickly} the bird could fly from the bed to the door.
? {hero} opened the window and let it go.
  It was time to say goodbye.
  The bird flew up into the (blue|gray|golden|white) sky.
- {hero} was {good} and a little sad.
  {He} waved until it was gone, and felt {good}.
  Every {season} it came back to sing for {hero}.
# race
- That day there was a big race {in}.
  {friend} said, "Let us have a race {to}!"
  Everyone wanted to win the {color} cup.
? {hero} was {bad}, because {he} was not very fast.
  "You are too slow," {said} a {size} {creature}.
  {hero} had lost every race before.
? {He} practiced every {part}.
  {friend} ran with {him} every day.
  "Just try your best," {said} {elder}.
? One, two, three, go!
  The race began with a loud {sound}.
  They all ran as fast as they could.
- Then {friend} fell down, and {hero} stopped to help.
  {hero} fell, but {he} got up and ran on.
  {hero} was last, but {he} did not stop.
- {hero} did not win, but {he} felt {good}.
  They crossed the line together, hand in hand.
  To the surprise of all, {hero} won!
? Everyone clapped.
  {elder} gave {him} {a-treat}.
  "You are the real winner," {said} {friend}.
# quarrel
- {hero} and {friend} both wanted the same {hue} {thing}.
  "It is mine!" {cried} {friend}. "No, it is mine!" {cried} {hero}.
  {friend} took the {thing} of {hero} and ran away.
- They pulled and pulled, until it broke.
  They were both {bad} and did not speak.
  {hero} was {bad} and went home alone.
? The {part} was long and quiet.
  Playing alone was no fun.
  "What happened?" asked {his} {relative}.
? {hero} thought about what {he} had done.
  "A friend is worth more than a {thing}," {said} {elder}.
  {hero} missed {friend} very much.
- "I am sorry," {said} {hero}.
  {hero} went to {friend} and said sorry.
  Then they both said sorry.
? They fixed the {thing} together.
  {friend} smiled, and they hugged.
  "We can share it," {said} {friend} {softly}.
- Both of them felt {good}.
  They played {game} and were {good}.
  Sharing it was much more fun.
# night
- That night {he} could not sleep.
  At night {hero} lay awake in {his} bed.
  When it was dark, {hero} heard a {sound} {hiding}.
? {He} felt {bad}.
  "Who is there?" asked {hero}.
  {He} looked out of the window at {sky}.
- It was only a {size} {creature}.
  A star fell from the sky and landed {hiding}.
  {quickly} the moon began to speak to {him}.
? It had a {color} light.
  "I am {bad}, too," it {said}.
  {hero} could not believe it.
- "Make a wish," it {said} {softly}.
  {hero} told it all about {his} day.
  Together they flew over the hills and the sea.
? Then {he} fell asleep and had a lovely dream.
  {hero} closed {his} eyes and felt {good}.
  When {he} woke up, there was {a-thing} in {his} hand.
? {He} never told anyone.
  "Good night," said the moon.
  In the morning {he} told {friend} about it.
# cake
- {He} wanted to bake a {size} cake.
  {hero} and {his} {relative} were making {food}.
  "Let us cook something good," {said} {friend}.
- But there was no (milk|flour|sugar|honey) in the kitchen.
  Then {hero} dropped an egg, and {he} felt {bad}.
  They put in too much salt, and it tasted bad.
- {hero} {walked} to {elder} and asked for help.
  "I have some at home," {said} {friend}.
  "We can start again," {said} {his} {relative}.
? They mixed and they stirred.
  {hero} had flour on {his} nose.
  The kitchen smelled very sweet.
? The cake was {size} and {color}.
  At last it was ready, and it looked very good.
  It was a little burned, but nobody cared.
- They ate it together {in}.
  Everyone got a piece, even the {creature}.
  {hero} gave the biggest piece to {friend}.
- {hero} felt {good} and full.
  "This is so good!" {said} {friend}.
  {hero} was proud of the cake.
`;

/** Alternatives of a beat: one is told, or two short sentences together. `may`: the beat is optional. */
export type Beat = { readonly may?: boolean; readonly told: readonly string[] };

export const plots: readonly (readonly Beat[])[] = written
  .split(/^#.*\n/m)
  .slice(1)
  .map((plot) =>
    plot
      .trim()
      .split(/\n(?=[-?])/)
      .map(beatOf),
  );

function beatOf(lines: string): Beat {
  const told = lines.split('\n').map((line) => line.slice(2));
  return lines.startsWith('?') ? { may: true, told } : { told };
}

/** Optional sentences between the opening and the plot. */
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

/** Last sentences of stories. */
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
