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

/** What a query asks of a run. Times: Unix ms. */
export type QueriedRun = {
  readonly sweep: string;
  readonly group: string;
  readonly subgroup: string | null;
  readonly name: string;
  readonly parameters: Parameters;
  readonly state: RunWord;
  /** Why it is in its state; of a failed run, what it said. */
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
  /** What a person has noted of it; absent or null: nothing. */
  readonly annotation?: Annotation | null | undefined;
};

/** What stands before a colon in a query. */
export type Field = keyof typeof fields;

type FieldMeaning = {
  /** What the query says of a run; any of it may match. */
  readonly read: (run: QueriedRun) => readonly string[];
  /** All there can be, where that is a closed list: then the beginning of a word will do, and another word is refused. */
  readonly words: readonly string[] | null;
  /** Words of older versions, and what they are read as: views that were saved may still have them. */
  readonly former?: Readonly<Record<string, string>>;
  /** Whether any part of it may match: of a text that nobody writes out. */
  readonly isProse?: boolean;
  /** What completion offers of it, where that is not the whole. */
  readonly offered?: (text: string) => string;
  readonly example: string;
};

const meanings = {
  status: { read: ({ state }) => [state], words: runStates, example: 'failed' },
  group: { read: ({ group }) => [group], words: null, example: 'A' },
  subgroup: { read: ({ subgroup }) => [subgroup ?? ''], words: null, example: 'binary' },
  sweep: { read: ({ sweep }) => [sweep], words: null, example: 'abcd' },
  name: { read: ({ name }) => [name], words: null, example: 'A_*_s0' },
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

/** None, or the one that was written on it. */
function notesOf({ annotation }: QueriedRun): string[] {
  const note = annotation?.note ?? null;
  return note === null ? [] : [note];
}

/** None, or the one it failed with. */
export function errorsOf(run: QueriedRun): string[] {
  const error = errorOf(run);
  return error === null ? [] : [error];
}

/** Up to the first number or path: what runs that fail alike are likely to share. */
function commonStart(error: string): string {
  const [start] = /^[^\d\n/\\"]*/.exec(error)!;
  const text = start.length < LEAST_START ? error : start;
  return text.slice(0, MOST_OFFERED).trim();
}

/** Characters: fewer say nothing, more do not fit a row. */
const LEAST_START = 8;
const MOST_OFFERED = 60;

export const fields: { readonly [Name in keyof typeof meanings]: FieldMeaning } = meanings;

export const fieldNames = Object.keys(fields) as Field[];

/** The word that chooses every run. Who means them all says so: nothing at all may be a variable that was never set. */
export const everyRun = 'all';

/** Numbers that every run has, beside its own parameters and metrics. */
export const factNames = ['attempt', 'age', 'priority', 'progress'] as const;
export type Fact = (typeof factNames)[number];

/** The number; null while there is none. `now`: Unix ms. Age in seconds. */
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
