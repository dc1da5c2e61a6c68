/**
 * Sources of stories: the grammar, or a user's file, of which no more is read than needed.
 *
 * A `.jsonl` file has an object with `story` or `text` in each line. In a `.txt` file stories lie one a line, in
 * blocks between blank lines, or between lines of `<|endoftext|>`: its first 64 KiB tell which. A folder has one file
 * for each split, `train.txt` and `test.txt`; of a single file a hash sends one story in twenty to the test split.
 */
import { existsSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';
import * as z from 'zod';
import { errorText, UserError } from '../../../base/user-error.js';
import { chunksOf, withFile } from '../../hugging-face/regular-file.js';
import { rng } from '../../rng.js';
import { stories, type Split } from './corpus.js';

const chunkBytes = 2 ** 20;
const sampledBytes = 2 ** 16;
/** Some hundred thousand words: a longer text is no story, but a file of another kind. */
const longestStory = 2 ** 20;
const testShare = 0.05;
const divider = '<|endoftext|>';

/** Layout of stories in a file. */
type Layout = 'lines' | 'blocks' | 'divided' | 'objects';
const layoutWords: Readonly<Record<Layout, string>> = {
  lines: 'one story a line',
  blocks: 'stories between blank lines',
  divided: `stories between lines that say ${divider}`,
  objects: 'one object a line',
};

/**
 * The stories of a split in the order of the file, cleaned; endless for the grammar.
 *
 * @param path null for the grammar.
 * @param seed Seed of the grammar's stories.
 * @throws UserError during the iteration: when the file is of another kind or, at its end, has no story of this split.
 */
export function* storiesFrom(path: string | null, split: Split, seed: number): Generator<string> {
  if (path === null) {
    yield* stories(seed, split);
    return;
  }
  const place = placeOf(path, split);
  let count = 0;
  for (const text of textsOf(place.file)) {
    const story = cleanText(text);
    if (story === '' || (!place.ownSplit && isTest(story) !== (split === 'test'))) continue;
    count++;
    yield story;
  }
  if (count > 0) return;
  throw new UserError(
    `${place.file} holds no story of the ${split} split.`,
    place.ownSplit ? 'Write stories into it.' : 'Give more stories: one in twenty is for the test split.',
  );
}

/** Describes in words where the stories are from, and how a file is read. @throws UserError as `storiesFrom`. */
export function sourceText(path: string | null): string {
  if (path === null) return 'stories from the grammar';
  const { file, ownSplit } = placeOf(path, 'train');
  const rule = ownSplit ? 'the test split in a file of its own' : 'one in twenty for the test split';
  return `${file}: ${layoutWords[layoutOf(file)]}, ${rule}`;
}

/** The lengths of the files of both splits, to detect a change; empty for the grammar. */
export function sourceBytes(path: string | null): number[] {
  if (path === null) return [];
  const files = new Set((['train', 'test'] as const).map((split) => placeOf(path, split).file));
  return [...files].map((file) => withFile(file, ({ bytes }) => bytes));
}

/**
 * Cleans a text as the corpus of SimpleStories was cleaned: plain quotation marks, hyphens and dots, letters without
 * accents, nothing that is not ASCII, single spaces.
 */
export function cleanText(text: string): string {
  return text
    .replace(/[“”„«»]/g, '"')
    .replace(/[‘’‚]/g, "'")
    .replace(/[—–‒−]/g, '-')
    .normalize('NFKD')
    .replace(/[^\x20-\x7e\s]/g, '')
    .replace(/\s+/g, ' ')
    .trim();
}

/** Depends on the story alone, so that no story changes sides with the seed or the order. */
function isTest(story: string): boolean {
  return rng(0, `split/${story}`).next() < testShare;
}

type StoryFile = { readonly file: string; readonly ownSplit: boolean };

function placeOf(path: string, split: Split): StoryFile {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return { file: path, ownSplit: false };
  const names = ['.jsonl', '.txt'].map((extension) => split + extension);
  const found = names.find((name) => existsSync(join(path, name)));
  if (found !== undefined) return { file: join(path, found), ownSplit: true };
  throw new UserError(
    `There is no ${names.join(' and no ')} in ${path}.`,
    'Give a file, or a folder with both splits.',
  );
}

function* textsOf(file: string): Generator<string> {
  const layout = layoutOf(file);
  let [number, block] = [0, ''];
  for (const line of linesOf(file)) {
    number++;
    const isBlank = line.trim() === '';
    if (layout === 'lines') yield line;
    else if (layout === 'objects') {
      if (!isBlank) yield storyIn(line, `${file}:${number}`);
    } else if (layout === 'blocks' ? isBlank : line.trim() === divider) {
      yield block;
      block = '';
    } else {
      block += `${line}\n`;
      if (block.length > longestStory) throw notStories(file, `the story that ends at line ${number} is too long`);
    }
  }
  yield block;
}

/** @throws UserError when the layout cannot be told from the name, or the beginning is not text. */
function layoutOf(file: string): Layout {
  const extension = extname(file).toLowerCase();
  if (extension === '.jsonl') return 'objects';
  if (extension !== '.txt') throw notStories(file, 'its name ends neither in .txt nor in .jsonl');
  for (const bytes of chunksOf(file, sampledBytes)) {
    const start = new TextDecoder().decode(bytes);
    if (start.split('\n').some((line) => line.trim() === divider)) return 'divided';
    return /\S[^\S\n]*\r?\n[^\S\n]*\r?\n\s*\S/.test(start) ? 'blocks' : 'lines';
  }
  throw notStories(file, 'it is empty');
}

/** Lines without their ends. @throws UserError at bytes that are not text, and at overlong lines. */
function* linesOf(file: string): Generator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let rest = '';
  for (const bytes of chunksOf(file, chunkBytes)) {
    const lines = (rest + textOf(bytes, decoder, file)).split('\n');
    rest = lines.pop()!;
    const longest = lines.reduce((most, { length }) => Math.max(most, length), rest.length);
    if (longest > longestStory) throw notStories(file, `a line has more than ${longestStory} characters`);
    yield* lines;
  }
  rest += textOf(new Uint8Array(), decoder, file);
  if (rest !== '') yield rest;
}

/** Empty `bytes` mark the end, where an incomplete character is an error. */
function textOf(bytes: Uint8Array, decoder: InstanceType<typeof TextDecoder>, file: string): string {
  if (bytes.includes(0)) throw notStories(file, 'it holds bytes that are no text');
  try {
    return decoder.decode(bytes, { stream: bytes.length > 0 });
  } catch (cause) {
    throw notStories(file, `it is not UTF-8 (${errorText(cause)})`);
  }
}

const Row = z.union([
  z.looseObject({ story: z.string() }).transform(({ story }) => story),
  z.looseObject({ text: z.string() }).transform(({ text }) => text),
]);

function storyIn(line: string, where: string): string {
  const row = Row.safeParse(parseJson(line));
  if (row.success) return row.data;
  throw notStories(where, 'the line is not an object with `story` or `text`');
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function notStories(where: string, why: string): UserError {
  return new UserError(
    `${where} cannot be read as stories: ${why}.`,
    'Give a .txt file with one story a line or with blank lines between them, or a .jsonl file of objects with `story`.',
  );
}
