/**
 * A corpus of children's stories without a file: a grammar writes story after story, each decided by seed, split and
 * index.
 *
 * For checks of language models where nothing can be downloaded: some 550 words, one feeling that goes wrong and one
 * that comes right, sentences of 2 to 17 tokens. None of it is from other texts.
 */
import { rng, type Rng } from '../../rng.js';
import { openings } from './openings.js';
import { asides, endings, plots, type Beat } from './plots.js';
import {
  badFeelings,
  boys,
  creatures,
  elders,
  fears,
  girls,
  goodFeelings,
  kinds,
  lists,
  parts,
  places,
  relatives,
  seasons,
  strengths,
  things,
  weathers,
} from './words.js';

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
  return shortened(wanted).join(' ');
}

/** Every template of the grammar. */
export function templates(): readonly string[] {
  return [...openings, ...asides, ...endings, ...plots.flat().flatMap(({ told }) => told)];
}

/** Drops the last optional beats while there are too many sentences. */
function shortened(told: readonly { readonly beat: Beat; readonly text: string }[]): string[] {
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
    ...{ good: weighted(goodFeelings, random), strong: pick(strengths, random) },
  };
}

const female = { he: 'she', him: 'her', his: 'her' };
const male = { he: 'he', him: 'him', his: 'his' };

type Person = { readonly name: string; readonly kind: string; readonly female: boolean };

/** @param taken A name that is already in use. */
function personOf(random: Rng, taken: string): Person {
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
    const word = cast[name] ?? pick(lists[name] ?? unknown(slot), random);
    return name === slot ? word : capital(word);
  });
  return capital(filled.replace(/\b([Aa]) (?=[aeiou])/g, '$1n '));
}

function unknown(slot: string): never {
  throw new Error(`no word list for {${slot}}`);
}

/** Capitalizes the first letter of a text, also after a quotation mark. */
function capital(text: string): string {
  return text.replace(/^"?[a-z]/, (start) => start.toUpperCase());
}

function pick<T>(items: readonly T[], random: Rng): T {
  return items[random.below(items.length)]!;
}

function weighted(items: readonly (readonly [string, number])[], random: Rng): string {
  const total = items.reduce((sum, [, weight]) => sum + weight, 0);
  let left = random.next() * total;
  return (items.find(([, weight]) => (left -= weight) < 0) ?? items.at(-1)!)[0];
}
