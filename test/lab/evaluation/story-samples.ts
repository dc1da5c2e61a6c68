import { rng, shuffle } from '../../../src/lab/rng.js';

/** Texts as models write them after a prompt: varied ones, and such as collapse looks like. */

/** Stories that have nothing in common but their kind. */
export const varied: readonly string[] = [
  'by the river with her grandmother. They looked for smooth stones. "This one is a heart," said Lena. Her grandmother smiled and put it into her pocket. On the way home it began to rain, but neither of them ran.',
  'to fix the old clock in the tower. Every morning he climbed two hundred steps. The wheels were full of dust and dead flies. When it rang at last, the whole village stopped to listen. Nobody knew who had done it.',
  'a fox who could not sleep. He counted stars until there were none left to count. "Try counting sheep!" called the owl. So he walked to the meadow, where the sheep were counting foxes. All of them were tired the next day.',
  'the kite was gone. Tom searched under the bed, behind the shed and in the tall grass. His sister found it in a tree. Together they shook the branches. Down came the kite, three apples and a very angry squirrel.',
  'and the robot opened its eyes. What was this place? It saw tables, lamps, a cat asleep on a book. "Good morning," it said. The cat did not answer. Years later they were still the best of friends.',
  'soup, always soup. Mira was tired of it. One evening she cooked alone: bread, cheese, an onion from the garden. Her father ate in silence. Then he asked for more, and she felt as tall as a house.',
  'under the sea lived a whale that was afraid of the dark. Lantern fish came to help. They swam in circles around her head. Slowly she learned that the dark was only water without light.',
  'because winter would be long. The ants carried seeds all day. A cricket laughed at them from a leaf. Do you think he was still laughing in December? No. But they shared their bread with him, and he played for them.',
  'letters with no stamp. Mister Okoro read them one by one. Each was from a child who wanted to be an astronaut. He answered all forty. Some of these children have seen the moon from very close.',
  'so loud that the windows shook! Everybody in the street came out. It was only Pip, learning to play the trumpet. The baker asked him to stop. Instead he moved to the hill, and the goats liked it.',
  'in a painting. Colors dripped from the sky onto her shoes. A man with no face offered her a boat. She rowed along the blue until it turned into green. Then somebody closed the museum, and she woke.',
  'of the two brothers the younger was faster. Still he waited at every corner. "Why do you wait?" people asked. He said that a race is dull without someone to laugh with. They finished hand in hand.',
];

const nouns = (
  'cat dog bird fish tree boat star cloud stone lamp door wheel ship cake bell drum rose leaf king nurse ' +
  'apple baker crown duck eagle farm ghost hat island jar kite lemon mouse nest owl piano queen rabbit snake tiger'
).split(' ');
const places =
  'home school sea town work night dawn church lunch rest noon camp play war peace last hand stake odds ease'.split(
    ' ',
  );

const random = rng(1, 'stories of a test');
const oneOf = (things: readonly string[]) => things[random.below(things.length)]!;
const repeated = (count: number, text: () => string) => Array.from({ length: count }, text);

/** As the collapsed runs of five-token sentences: questions of few words, with other nouns in each. */
export const questions: readonly string[] = repeated(12, () =>
  repeated(4, () => `is it a ${oneOf(nouns)} at ${oneOf(places)} ?`).join(' '),
);

/** A template whose beginning differs, with nothing in common but its frame. */
export const nameFirst: readonly string[] = repeated(12, () =>
  repeated(3, () => `${oneOf(nouns)} was so happy to see the ${oneOf(nouns)} .`).join(' '),
);

/** Ten questions, a few of them in every sample, in another order. */
const pool = [
  'what do i do ?',
  'what do you need ?',
  'who is at home ?',
  'can we go now ?',
  'where did she go ?',
  'why is he sad ?',
  'how can they help ?',
  'when will it end ?',
  'did the dog bark ?',
  'are you my friend ?',
];
export const poolOfTen: readonly string[] = repeated(12, () =>
  shuffle([...pool], random)
    .slice(0, 5)
    .join(' '),
);

/** Varied stories that say each sentence of theirs four times. */
export const stuttering: readonly string[] = varied.map((story) => {
  const sentences = story.match(/[^.!?]+[.!?]"?/g)!;
  return sentences
    .slice(0, 2)
    .flatMap((sentence) => [sentence, sentence, sentence, sentence])
    .join(' ');
});

/** One word again and again, which no full stop ends. */
export const looping: readonly string[] = nouns.slice(0, 12).map((noun, at) => {
  return `${varied[at]!.split('.')[0]!}. ${`the ${noun} was happy `.repeat(12)}`;
});

/** Fragments strung together by commas to make sentences as long as they should be. */
export const stuffed: readonly string[] = varied.map((story) => story.replaceAll(/(\w+) (\w+) /g, '$1, $2, '));
