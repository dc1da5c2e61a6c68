/** The words of the generated stories, by their role in a sentence. */

const listed = (words: string): readonly string[] => words.split(' ');
const phrases = (texts: string): readonly string[] => texts.split(', ');

export const girls = listed('Mia Lily Anna Ruby Zoe Nora Ella Rosa Ivy Tara Luna Maya Clara Daisy Hana June Lena Kiki');
export const boys = listed('Leo Tom Max Sam Ben Finn Oscar Theo Jack Hugo Milo Noah Omar Ravi Toby Otto Luca Felix');
/** Names of animals that speak. */
export const creatures = listed('Pip Dot Hazel Bramble Nib Willow Tuck Moss Fern Pebble Button Clover');
export const kinds = listed('fox rabbit bear mouse duck frog squirrel hedgehog kitten puppy turtle goat otter');

/** Places of stories: the phrase for being there, and the phrase for going there. */
export const places: readonly (readonly [being: string, going: string])[] = [
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

export const weathers = listed('sunny rainy windy cold warm quiet bright snowy misty golden cloudy gray fine cool');
export const parts = listed('morning afternoon evening day');
export const seasons = listed('spring summer autumn winter');
/** Values of a slot such as `{color}`, drawn anew at each occurrence. */
export const lists: Readonly<Record<string, readonly string[]>> = {
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
export const things = listed(
  'ball kite shell key map lantern book drum flute blanket hat scarf boat bell stone feather box ring coin puppet doll wagon whistle umbrella bucket clock mirror button cup pencil',
);
export const relatives = listed('mother father grandmother grandfather aunt uncle sister brother');
export const elders = phrases('the teacher, the baker, the farmer, the old woman, the old man, the wise owl');

/** Feelings when things go wrong, and before something one does not dare to do. */
export const badFeelings = listed('sad scared lonely worried angry tired shy nervous upset afraid');
export const fears = listed('scared afraid nervous worried');
/** Feelings when things go well, by weight: one story in seven has "happy". */
export const goodFeelings: readonly (readonly [word: string, weight: number])[] = [
  ['happy', 3],
  ['glad', 2],
  ['proud', 2],
  ['excited', 2],
  ['cheerful', 2],
  ['grateful', 1],
];
/** Strengths that the hero has gained in the end. */
export const strengths = listed('brave calm strong safe loved warm free');
