/**
 * A corpus of children's stories without a file: a grammar writes story after story, each decided by seed, split and
 * index.
 *
 * For checks of language models where nothing can be downloaded: some 550 words, one feeling that goes wrong and one
 * that comes right, sentences of 2 to 17 tokens. None of it is from other texts.
 */
import { rng, type Rng } from '../../rng.js';
import { asides, type Beat, endings, plots } from './plots.js';

/** Stories for training, and stories for evaluation; their random streams differ. */
export type Split = 'train' | 'test';

/** Maximum number of sentences, counted by their ends. Some beats have two, and speech ends within a sentence. */
const mostSentences = 10;

/** Endless stories of a split, in order. */
export function* stories(seed: number, split: Split): Generator<string> {
  for (let index = 0; ; index++) yield story(seed, split, index);
}

/**
 * The story of this index. The test split shares no stream with the training split; the same story may still occur in
 * both by chance.
 */
export function story(seed: number, split: Split, index: number): string {
  const random = rng(seed, `story/${split}/${index}`);
  const cast = castOf(random);
  const beats = [
    { told: openings },
    { told: asides, may: true },
    ...plots[random.below(plots.length)]!,
    { told: endings, may: true },
  ];
  const told = beats.map((beat) => ({ beat, text: expand(pick(beat.told, random), cast, random) }));
  // Draws one number per beat, whether or not the beat is told.
  const wanted = told.filter(({ beat }) => random.next() < 0.55 || beat.may !== true);
  return dropOptionalBeats(wanted).join(' ');
}

/** Every template of the grammar. */
export function templates(): readonly string[] {
  return [...openings, ...asides, ...endings, ...plots.flat().flatMap(({ told }) => told)];
}

/** Drops the last optional beats while there are too many sentences. */
function dropOptionalBeats(told: readonly { readonly beat: Beat; readonly text: string }[]): string[] {
  const kept = [...told];
  while (kept.reduce((sum, { text }) => sum + text.match(/[.?!]/g)!.length, 0) > mostSentences) {
    const last = kept.findLastIndex(({ beat }) => beat.may === true);
    if (last < 0) break;
    kept.splice(last, 1);
  }
  return kept.map(({ text }) => text);
}

/** Characters and things of a story: the slots that keep their value throughout it. */
type Cast = Readonly<Record<string, string>>;

function castOf(random: Rng): Cast {
  const hero = personOf(random, '');
  const friend = personOf(random, hero.name);
  const [being, going] = pick(places, random);
  const thing = pick(things, random);
  const hue = pick([...lists['look']!, ...lists['color']!], random);
  return {
    ...{ hero: hero.name, kid: hero.kind, ...(hero.female ? female : male) },
    ...{ friend: friend.name, in: being, to: going, thing },
    ...{ weather: pick(weathers, random), part: pick(parts, random), season: pick(seasons, random) },
    ...{ hue, 'a-thing': `a ${hue} ${thing}` },
    'a-treat': `a ${pick(lists['treat']!, random)}`,
    ...{ relative: pick(relatives, random), elder: pick(elders, random) },
    ...{ bad: pick(badFeelings, random), afraid: pick(fears, random) },
    ...{ good: drawWeighted(goodFeelings, random), strong: pick(strengths, random) },
  };
}

const female = { he: 'she', him: 'her', his: 'her' };
const male = { he: 'he', him: 'him', his: 'his' };

type Character = { readonly name: string; readonly kind: string; readonly female: boolean };

/** @param taken A name that is already in use. */
function personOf(random: Rng, taken: string): Character {
  const female = random.next() < 0.5;
  const animal = random.next() < 0.3;
  const names = animal ? creatures : female ? girls : boys;
  const name = pick(
    names.filter((each) => each !== taken),
    random,
  );
  return { name, kind: animal ? pick(kinds, random) : female ? 'girl' : 'boy', female };
}

/** Makes the template's choices, fills its slots, and capitalizes the result. */
function expand(template: string, cast: Cast, random: Rng): string {
  const chosen = template.replace(/\(([^)]*)\)/g, (_, choices: string) => pick(choices.split('|'), random));
  const filled = chosen.replace(/\{([\w-]+)\}/g, (_, slot: string) => {
    const name = slot.toLowerCase();
    const word = cast[name] ?? pick(lists[name] ?? unknownSlot(slot), random);
    return name === slot ? word : capital(word);
  });
  return capital(filled.replace(/\b([Aa]) (?=[aeiou])/g, '$1n '));
}

function unknownSlot(slot: string): never {
  throw new Error(`no word list for {${slot}}`);
}

/** Capitalizes the first letter of a text, also after a quotation mark. */
function capital(text: string): string {
  return text.replace(/^"?[a-z]/, (start) => start.toUpperCase());
}

function pick<T>(items: readonly T[], random: Rng): T {
  return items[random.below(items.length)]!;
}

function drawWeighted(items: readonly (readonly [string, number])[], random: Rng): string {
  const total = items.reduce((sum, [, weight]) => sum + weight, 0);
  let left = random.next() * total;
  return (items.find(([, weight]) => (left -= weight) < 0) ?? items.at(-1)!)[0];
}

/**
 * First sentences of the generated stories, before the plot.
 *
 * Models are prompted with their first eight tokens, so they differ early: in the time, the name, the kind of hero and
 * the phrasing.
 */
const openings: readonly string[] = [
  'One {weather} {part}, {hero} {walked} {to} with {a-thing}.',
  'One {weather} {part}, {hero} {walked} {to}.',
  'One {weather} {part}, a {nature} {kid} named {hero} {walked} {to}.',
  'One {weather} {part} in {season}, {hero} was playing {in}.',
  'It was a {weather} {part}, and {hero} sat {in}.',
  'It was a {weather} {season} {part} when {hero} {walked} {to}.',
  'Once upon a time, there was a {nature} {kid} named {hero}.',
  'Once upon a time, a {nature} {kid} named {hero} lived {in}.',
  'Once there was a {nature} {kid} called {hero}, who loved {his} {thing}.',
  'There once lived a {nature} {kid} {in}, and {his} name was {hero}.',
  'Long ago, {in}, there lived a {nature} {kid} named {hero}.',
  '{hero} was a {nature} {kid} who lived {in}.',
  '{hero} was a {nature} {kid} with a {hue} {thing}.',
  '{hero} and {friend} {walked} {to} on a {weather} {part}.',
  '{hero} and {friend} were best friends.',
  '{hero} woke up early on a {weather} {part}.',
  '{hero} loved to play {in} with {friend}.',
  '{hero} had a {hue} {thing} that {he} loved very much.',
  '{hero} had never been {in} before.',
  'Every {weather} {part}, {hero} and {friend} met {in}.',
  'Every {season}, {hero} {walked} {to} with {his} {relative}.',
  'Last {season}, {hero} stayed with {his} {relative} {in}.',
  'Early one {weather} {part}, {hero} heard a {sound} {in}.',
  'In a {color} house {in} lived a {nature} {kid} named {hero}.',
  'In a {size} {color} house lived {hero} and {his} {relative}.',
  'On a {weather} {part} in {season}, {hero} {walked} {to}.',
  'On the first day of {season}, {hero} {walked} {to}.',
  'The {season} was {weather}, and {hero} played {in} all day.',
  'The {weather} {part} began with a {sound}, and {hero} jumped up.',
  'A {nature} {kid} named {hero} lived {in} with {his} {relative}.',
  'A {nature} {kid} named {hero} was walking {to}.',
  'A {color} {creature} sat {in}, and {hero} watched it.',
  '"Look at the {color} {creature}!" {cried} {hero} {in}.',
  '"What a {weather} {part}!" {said} {hero} to {friend}.',
  '"Where is my {hue} {thing}?" asked {hero} one {weather} {part}.',
  '"Come with me {to}," {said} {hero} to {friend}.',
  'When the {part} was {weather}, {hero} liked to sit {in}.',
  'When {hero} was small, {he} lived {in} with {his} {relative}.',
  'Deep in the woods lived a {nature} {kid} named {hero}.',
  'At the end of {season}, {hero} and {friend} {walked} {to}.',
  'Nobody {in} was as {nature} as {hero}.',
  '{friend} gave {hero} {a-thing} on a {weather} {part}.',
];

// The words of the generated stories, by their role in a sentence.

const listed = (words: string): readonly string[] => words.split(' ');
const phrases = (texts: string): readonly string[] => texts.split(', ');

const girls = listed('Mia Lily Anna Ruby Zoe Nora Ella Rosa Ivy Tara Luna Maya Clara Daisy Hana June Lena Kiki');
const boys = listed('Leo Tom Max Sam Ben Finn Oscar Theo Jack Hugo Milo Noah Omar Ravi Toby Otto Luca Felix');
/** Names of animals that speak. */
const creatures = listed('Pip Dot Hazel Bramble Nib Willow Tuck Moss Fern Pebble Button Clover');
const kinds = listed('fox rabbit bear mouse duck frog squirrel hedgehog kitten puppy turtle goat otter');

/** Places of stories: the phrase for being there, and the phrase for going there. */
const places: readonly (readonly [being: string, going: string])[] = [
  ['in the garden', 'to the garden'],
  ['in the park', 'to the park'],
  ['in the forest', 'into the forest'],
  ['in the meadow', 'across the meadow'],
  ['in the village', 'through the village'],
  ['in the barn', 'to the barn'],
  ['by the river', 'down to the river'],
  ['by the lake', 'around the lake'],
  ['by the sea', 'to the sea'],
  ['by the old bridge', 'over the old bridge'],
  ['under the oak tree', 'to the oak tree'],
  ['on the hill', 'up the hill'],
  ['on the farm', 'to the farm'],
  ['on the beach', 'along the beach'],
  ['at the market', 'to the market'],
  ['at school', 'to school'],
  ['near the mill', 'past the mill'],
  ['near the cave', 'to the cave'],
];

const weathers = listed('sunny rainy windy cold warm quiet bright snowy misty golden cloudy gray fine cool');
const parts = listed('morning afternoon evening day');
const seasons = listed('spring summer autumn winter');
/** Values of a slot such as `{color}`, drawn anew at each occurrence. */
const lists: Readonly<Record<string, readonly string[]>> = {
  nature: listed('kind clever quiet curious little young small gentle cheerful shy funny lively'),
  size: listed('small big tiny little huge'),
  look: listed('old strange shiny pretty soft round wooden bright lovely dusty broken simple'),
  color: listed('red blue green yellow white brown purple silver golden orange'),
  walked: listed('walked ran went hurried skipped wandered'),
  said: listed('said said said whispered called'),
  cried: listed('cried shouted called'),
  softly: listed('softly quietly slowly gently kindly'),
  quickly: listed('quickly suddenly finally soon'),
  looked: phrases('looked, searched, peeked'),
  treat: listed('apple cookie pear sandwich berry carrot plum'),
  food: phrases('warm soup, sweet berries, fresh bread, honey cake, hot milk, apple pie'),
  game: phrases('a game of tag, a game of hide and seek, catch, pirates, in the sand, with the ball'),
  sky: phrases('the sun, the moon, a star, a cloud, a rainbow'),
  hiding: phrases(
    'under the bed, behind the door, in the tall grass, under a bush, behind a rock, in the basket, inside a hollow log, between the roots',
  ),
  creature: listed('bird butterfly snail bee ladybug cat dog cow horse hen'),
  sound: listed('splash crack bang whistle song laugh rustle'),
  plant: listed('flower rose bean pumpkin sunflower tulip'),
  virtue: phrases('being kind, telling the truth, helping a friend, sharing, never giving up, trying again'),
};

/** Things in stories; each has a look or a color in front of it. */
const things = listed(
  'ball kite shell key map lantern book drum flute blanket hat scarf boat bell stone feather box ring coin puppet doll wagon whistle umbrella bucket clock mirror button cup pencil',
);
const relatives = listed('mother father grandmother grandfather aunt uncle sister brother');
const elders = phrases('the teacher, the baker, the farmer, the old woman, the old man, the wise owl');

/** Feelings when things go wrong, and before something one does not dare to do. */
const badFeelings = listed('sad scared lonely worried angry tired shy nervous upset afraid');
const fears = listed('scared afraid nervous worried');
/** Feelings when things go well, by weight: one story in seven has "happy". */
const goodFeelings: readonly (readonly [word: string, weight: number])[] = [
  ['happy', 3],
  ['glad', 2],
  ['proud', 2],
  ['excited', 2],
  ['cheerful', 2],
  ['grateful', 1],
];
/** Strengths that the hero has gained in the end. */
const strengths = listed('brave calm strong safe loved warm free');
