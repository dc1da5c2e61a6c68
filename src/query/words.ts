import type { Annotation } from '../base/annotation.js';
import { gpuName } from '../base/ids.js';
import {
  errorOf,
  exitClasses,
  formerHealths,
  type RunHealth,
  runHealths,
  runStates,
  type RunWord,
} from '../base/run-words.js';
import type { Parameters } from '../base/scalar.js';

/** The properties of a run that a query may test. Times: Unix ms. */
export type QueriedRun = {
  readonly sweep: string;
  readonly group: string;
  readonly subgroup: string | null;
  readonly name: string;
  readonly parameters: Parameters;
  /** Parameters that only its program has declared; absent: none. */
  readonly declared?: Parameters | undefined;
  /** The name that its program has given it; absent: its own. */
  readonly displayName?: string | undefined;
  readonly state: RunWord;
  /** Why the run is in its state; for a failed run, its error. */
  readonly reason: string | null;
  readonly attempt: number;
  readonly exit: { readonly class: (typeof exitClasses)[number] } | null;
  readonly slot: string | null;
  readonly gpus: readonly number[];
  readonly startedAt: number | null;
  readonly priority: number;
  readonly progress: number | null;
  readonly metrics: Readonly<Record<string, number | null>>;
  readonly health: RunHealth;
  /** The user's annotation; absent or null: none. */
  readonly annotation?: Annotation | null | undefined;
};

/** A word that may be before a colon in a query. */
export type Field = keyof typeof fields;

type FieldMeaning = {
  /** The values of a run in this field; a query matches if it matches any of them. */
  readonly read: (run: QueriedRun) => readonly string[];
  /** All possible values, if they are a closed list: then the beginning of a word is enough, and any other word is refused. */
  readonly words: readonly string[] | null;
  /** Words of older versions and their present equivalents: saved views may still contain them. */
  readonly former?: Readonly<Record<string, string>>;
  /** Whether a query matches any part of the value, as nobody types a whole sentence. */
  readonly isProse?: boolean;
  /** The part of a value that completion offers; absent: all of it. */
  readonly offered?: (text: string) => string;
  readonly example: string;
};

const meanings = {
  status: { read: ({ state }) => [state], words: runStates, example: 'failed' },
  group: { read: ({ group }) => [group], words: null, example: 'A' },
  subgroup: { read: ({ subgroup }) => [subgroup ?? ''], words: null, example: 'binary' },
  sweep: { read: ({ sweep }) => [sweep], words: null, example: 'abcd' },
  name: { read: namesOf, words: null, example: 'A_*_s0' },
  slot: { read: ({ slot }) => [slot ?? ''], words: null, example: '"cpu 0"' },
  gpu: { read: ({ gpus }) => gpus.map(gpuName), words: null, example: '0' },
  class: { read: ({ exit }) => (exit === null ? [] : [exit.class]), words: exitClasses, example: 'oom' },
  health: { read: ({ health }) => [health], words: runHealths, former: formerHealths, example: 'silent' },
  tag: { read: ({ annotation }) => annotation?.tags ?? [], words: null, example: 'good' },
  note: { read: notesOf, words: null, isProse: true, offered: commonStart, example: '"lr too high"' },
  is: {
    read: ({ annotation }) => (annotation?.starred === true ? ['starred'] : []),
    words: ['starred'],
    example: 'starred',
  },
  error: { read: errorsOf, words: null, isProse: true, offered: commonStart, example: '"shape mismatch"' },
} as const satisfies Record<string, FieldMeaning>;

/** The name of a run, and the one that its program has given it. */
export function namesOf({ name, displayName }: QueriedRun): string[] {
  return displayName === undefined ? [name] : [name, displayName];
}

/** The note of a run, if it has one. */
function notesOf({ annotation }: QueriedRun): string[] {
  const note = annotation?.note ?? null;
  return note === null ? [] : [note];
}

/** The error of a failed run. */
export function errorsOf(run: QueriedRun): string[] {
  const error = errorOf(run);
  return error === null ? [] : [error];
}

/** The text up to the first number or path: the part that runs with the same error probably share. */
function commonStart(error: string): string {
  const [start] = /^[^\d\n/\\"]*/.exec(error)!;
  const text = start.length < LEAST_START ? error : start;
  return text.slice(0, MOST_OFFERED).trim();
}

/** Least length of an offered text, in characters, as shorter ones tell nothing, and the greatest, which still fits a row. */
const LEAST_START = 8;
const MOST_OFFERED = 60;

export const fields: { readonly [Name in keyof typeof meanings]: FieldMeaning } = meanings;

export const fieldNames = Object.keys(fields) as Field[];

/** The word that selects every run. It must be written, as an empty text may be an unset variable. */
export const everyRun = 'all';

/** Numbers that every run has, beside its own parameters and metrics. */
export const factNames = ['attempt', 'age', 'priority', 'progress'] as const;
export type Fact = (typeof factNames)[number];

/** The value of a fact; null while it has none. `now`: Unix ms. Age is in seconds. */
export function factOf(run: QueriedRun, fact: Fact, now: number): number | null {
  if (fact === 'age') return run.startedAt === null ? null : (now - run.startedAt) / 1000;
  return run[fact];
}

export function isField(word: string): word is Field {
  return Object.hasOwn(fields, word);
}

export function isFact(word: string): word is Fact {
  return (factNames as readonly string[]).includes(word);
}
