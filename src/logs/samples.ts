import { closeSync, type Dirent, readdirSync, readSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parseJsonLine } from '../contract/json-line.js';
import { openRegular, readRegularBytes } from '../files/regular-file.js';
import { naturalOrder } from '../text/natural-order.js';
import { counted } from '../text/numbers.js';
import { foundLog } from './log-file.js';

/**
 * A text that a model wrote in training, with what it answers. `step` null: unknown. `reward` null: unknown. `length`: in the unit of
 * its writer (tokens), else in characters.
 */
export type Sample = {
  readonly step: number | null;
  readonly prompt: string;
  readonly completion: string;
  readonly reward: number | null;
  readonly length: number;
};

/** A picture that a run has written. `path`: from its directory on. `step` null: its name has none. */
export type RunImage = { readonly path: string; readonly step: number | null };

/**
 * The samples of a run, in the order in which they were written. `files`: where they are. `isCut`: earlier ones are left out.
 * `images`: its pictures in natural order, the latest of them if there are many.
 */
export type Samples = {
  readonly all: readonly Sample[];
  readonly files: readonly string[];
  readonly isCut: boolean;
  readonly images: readonly RunImage[];
};

/** Limits of one reading: folder entries, their depth, files, pictures, bytes of a file and of all, samples, characters of a text. */
const MOST_ENTRIES = 8192;
const DEEPEST = 3;
const MOST_FILES = 64;
const MOST_IMAGES = 500;
const MOST_OF_A_FILE = 4 << 20;
const MOST_BYTES = 24 << 20;
const MOST_SAMPLES = 20_000;
/** Of a Parquet file. */
const MOST_ROWS = 500_000;
const LONGEST_TEXT = 16 << 10;

const passedOver = new Set([
  '.git',
  'node_modules',
  '__pycache__',
  '.venv',
  'venv',
  'checkpoints',
  'attempts',
  'wandb',
]);
const lines = /(rollout|completion|sample|generation|prediction)[^/]*\.(jsonl|ndjson)$|(^|\/)rollouts\/[^/]+\.jsonl$/i;
const pictures = /\.(png|jpe?g|gif|webp|svg)$/i;
const tables = /(^|\/)completions[^/]*\/?[^/]*\.parquet$/i;

/**
 * Reads the samples in the directory of a run, in whatever of these forms they are: JSON lines with a prompt, a completion and a
 * reward, the rollout summaries of the tinker-cookbook, the tables of completions of TRL, and `[Sample @ step 3] prompt ||| text`
 * lines of its log. The latest are read, a file at a time; nothing is written, and a file that cannot be read is left out.
 */
export async function readSamples(directory: string): Promise<Samples> {
  const { files: found, images } = filesIn(directory);
  const chosen = found.slice(-MOST_FILES);
  let left = MOST_BYTES;
  let isCut = chosen.length < found.length;
  const parts: Sample[][] = [];
  const files: string[] = [];
  for (const path of chosen.toReversed()) {
    const limit = Math.min(left, MOST_OF_A_FILE);
    const read = /\.parquet$/i.test(path) ? await tableSamples(path, limit) : lineSamples(path, limit);
    left -= read.bytes;
    isCut ||= read.isCut;
    if (read.samples.length > 0) {
      parts.unshift(read.samples);
      files.unshift(relative(directory, path));
    }
    await nextTurn();
  }
  const all = parts.flat();
  return { all: all.slice(-MOST_SAMPLES), files, isCut: isCut || all.length > MOST_SAMPLES, images };
}

/** Files that may have samples, and pictures, in natural order, which is that of their steps; the log comes first. */
function filesIn(directory: string): { files: string[]; images: RunImage[] } {
  const places = placesIn(directory);
  const found = places.filter((place) => lines.test(place) || tables.test(place));
  const images = places.filter((place) => pictures.test(place));
  const logs = [...new Set([foundLog(directory), join(directory, 'train.log')])];
  return {
    files: [...logs, ...found.map((place) => join(directory, place))],
    images: images.slice(-MOST_IMAGES).map((path) => ({ path, step: stepOfImage(path) })),
  };
}

/** Paths of the files below a directory, from there on, in natural order. */
function placesIn(directory: string): string[] {
  const found: string[] = [];
  const queue = [{ path: directory, depth: 0 }];
  let entries = 0;
  for (const { path, depth } of queue) {
    for (const entry of entriesOf(path)) {
      if ((entries += 1) > MOST_ENTRIES) break;
      const own = join(path, entry.name);
      if (entry.isFile()) found.push(relative(directory, own));
      else if (entry.isDirectory() && depth < DEEPEST && !passedOver.has(entry.name))
        queue.push({ path: own, depth: depth + 1 });
    }
  }
  return found.sort(naturalOrder);
}

function entriesOf(path: string): Dirent[] {
  try {
    return readdirSync(path, { withFileTypes: true });
  } catch {
    return [];
  }
}

type Read = { samples: Sample[]; bytes: number; isCut: boolean };
const nothing: Read = { samples: [], bytes: 0, isCut: false };

/** The samples in the last bytes of a file of lines. */
function lineSamples(path: string, limit: number): Read {
  const opened = openRegular(path);
  if (opened.kind !== 'file') return nothing;
  const { descriptor, stat } = opened;
  try {
    const from = Math.max(0, stat.size - limit);
    const bytes = Buffer.alloc(Math.min(limit, stat.size));
    const text = bytes.toString('utf8', 0, readSync(descriptor, bytes, 0, bytes.length, from));
    const whole = from === 0 ? text : text.slice(text.indexOf('\n') + 1);
    const fileStep = stepIn(path);
    const samples = whole.split('\n').flatMap((line) => loggedSample(line) ?? rowSample(parsed(line), fileStep) ?? []);
    return { samples, bytes: bytes.length, isCut: from > 0 && samples.length > 0 };
  } catch {
    return nothing;
  } finally {
    closeSync(descriptor);
  }
}

function parsed(line: string): Row | null {
  return line.startsWith('{') ? parseJsonLine(line) : null;
}

/** The samples of a Parquet file, which has to be read as a whole. */
async function tableSamples(path: string, limit: number): Promise<Read> {
  const read = readRegularBytes(path, limit);
  if (read.kind !== 'bytes') return { ...nothing, isCut: read.kind === 'unreadable' };
  try {
    const { parquetMetadata, parquetReadObjects } = await import('hyparquet');
    const { buffer, byteOffset, byteLength } = read.bytes;
    const file = buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer;
    const metadata = parquetMetadata(file);
    // A few KB of equal rows may hold millions, all of which would be unpacked for the first ones.
    if (metadata.num_rows > MOST_ROWS) return { ...nothing, isCut: true };
    const rows = await parquetReadObjects({ file, metadata, rowEnd: MOST_SAMPLES });
    const samples = rows.flatMap((row) => rowSample(withReward(row), stepIn(path)) ?? []);
    return { samples, bytes: byteLength, isCut: false };
  } catch {
    // The file is still being written, or in a form that the reader does not know.
    return nothing;
  }
}

type Row = Readonly<Record<string, unknown>>;

/** TRL has a column for each reward function: the reward is their sum. */
function withReward(row: Row): Row {
  if (names.reward.some((name) => name in row)) return row;
  const others = Object.entries(row).filter(([key]) => !/^(step|advantages?|entropy|.*length|.*tokens)$/.test(key));
  const rewards = others.flatMap(([, value]) => (typeof value === 'number' && !Number.isNaN(value) ? [value] : []));
  return rewards.length === 0 ? row : { ...row, reward: rewards.reduce((sum, value) => sum + value, 0) };
}

const logged = /^.{0,80}?\[Sample @ (?:step )?(\d+)\]\s?(.*?) \|\|\| ?(.*)$/;

function loggedSample(line: string): Sample | null {
  const match = line.includes('[Sample @') ? logged.exec(line.slice(0, 2 * LONGEST_TEXT)) : null;
  if (match === null) return null;
  const completion = match[3]!;
  return { step: Number(match[1]), prompt: match[2]!, completion, reward: null, length: completion.length };
}

/** Names that programs use, the first that is there counts. */
const names = {
  step: ['step', 'global_step', 'iteration', 'batch', 'sampling_client_step'],
  prompt: ['prompt', 'question', 'query', 'problem', 'input', 'observation'],
  completion: ['completion', 'response', 'output', 'answer', 'generation', 'text', 'action'],
  reward: ['reward', 'total_reward', 'score', 'rewards'],
  length: ['completion_tokens', 'completion_length', 'num_tokens', 'n_tokens', 'length'],
};

/** A row as a sample; null: it is none. @param fileStep Step in the name of its file or folder. */
function rowSample(row: Row | null, fileStep: number | null): Sample | null {
  if (row === null) return null;
  const first = (of: readonly string[]): unknown => of.map((name) => row[name]).find((value) => value !== undefined);
  const [reward, step] = [numberOf(first(names.reward)), numberOf(first(names.step)) ?? fileStep];
  const [prompt, completion] = [textOf(first(names.prompt)), textOf(first(names.completion))];
  if (completion !== null && (prompt !== null || reward !== null)) {
    const length = numberOf(first(names.length)) ?? completion.length;
    return { step, prompt: prompt ?? '', completion, reward, length };
  }
  return summarySample(row, { step, reward });
}

/** A summary of the tinker-cookbook, which has lengths in tokens and no texts. */
function summarySample(row: Row, known: Pick<Sample, 'step' | 'reward'>): Sample | null {
  const { group_idx: group, traj_idx: rollout, steps } = row;
  if (typeof group !== 'number' || !Array.isArray(steps)) return null;
  const length = sumOf(steps.map((turn) => numberOf((turn as Row | null)?.['ac_len']) ?? 0));
  const completion = `rollout ${String(rollout)}: ${counted(steps.length, 'turn')}, ${length} tokens`;
  return { ...known, prompt: `group ${group}`, completion, length };
}

/** A number; of a list of rewards, their sum. */
function numberOf(value: unknown): number | null {
  if (typeof value === 'bigint') return Number(value);
  if (Array.isArray(value)) return value.every((each) => typeof each === 'number') ? sumOf(value) : null;
  return typeof value === 'number' ? value : null;
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

/** A text; of a conversation, the contents of its messages. */
function textOf(value: unknown): string | null {
  if (typeof value === 'string') return value.slice(0, LONGEST_TEXT);
  if (!Array.isArray(value) || value.length === 0) return null;
  const parts = value.map((message: unknown) =>
    typeof message === 'string' ? message : textOf((message as Row | null)?.['content']),
  );
  return parts.every((part) => part !== null) ? parts.join('\n').slice(0, LONGEST_TEXT) : null;
}

/** `rollouts/step_12.jsonl`, `iteration_000012/…`, `completions_00012.parquet` → 12. */
function stepIn(path: string): number | null {
  const place = `${basename(join(path, '..'))}/${basename(path)}`;
  const match = /(?:step|iteration|iter|batch|epoch|completions)[_-]?(\d+)/i.exec(place);
  return match === null ? null : Number(match[1]);
}

/** W&B writes `media/images/plot_12_0a1b….png`; others name pictures like files of samples, or by a number at their end. */
function stepOfImage(path: string): number | null {
  const match = /_(\d+)_[0-9a-f]{8,}\.\w+$/.exec(path) ?? /[_-](\d+)\.\w+$/.exec(path);
  return stepIn(path) ?? (match === null ? null : Number(match[1]));
}

/** The steps of samples, ascending; null: samples without a step. */
export function stepsOf({ all }: Samples): readonly (number | null)[] {
  return [...new Set(all.map(({ step }) => step))].sort((a, b) => (a ?? -Infinity) - (b ?? -Infinity));
}

export const sampleOrders = ['best first', 'worst first', 'longest first', 'as written'] as const;
export type SampleOrder = (typeof sampleOrders)[number];

/** The samples of a step in an order. Samples without a reward come last. */
export function samplesAt(samples: Samples, { step, order }: { step: number | null; order: SampleOrder }): Sample[] {
  const chosen = samples.all.filter((sample) => sample.step === step);
  const sign = order === 'worst first' ? 1 : -1;
  const byReward = (sample: Sample) => (sample.reward === null ? Infinity : sign * sample.reward);
  if (order === 'as written') return chosen;
  return chosen.sort((a, b) => (order === 'longest first' ? b.length - a.length : compare(byReward(a), byReward(b))));
}

function compare(a: number, b: number): number {
  return a === b ? 0 : a - b;
}
