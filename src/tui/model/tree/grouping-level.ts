import { assertNever } from '../../../base/assert-never.js';
import { gpuName } from '../../../base/ids.js';
import { parameterOf } from '../../../base/scalar.js';
import { cleanText } from '../../../text/display-text.js';
import { naturalOrder } from '../../../text/natural-order.js';
import type { GroupBy } from '../../state/grouping.js';
import type { RunSummary, RunWord, SweepSummary } from '../../state/port.js';
import { parameterOrder, parameterText, type ParameterValue } from '../parameter-text.js';
import { statesByUrgency } from '../state-look.js';
import { troubleOf } from '../trouble.js';

/** One level of the list: which group a run belongs to, and how the groups are called and ordered. */
export type Level = {
  /** Key of the group; the same text for all runs of one group. */
  readonly keyOf: (run: RunSummary) => string;
  readonly labelOf: (key: string) => string;
  readonly titleOf: (key: string) => string | null;
  readonly order: (a: string, b: string) => number;
  /** Where the group with the most runs comes first; `order` then decides between equal ones. */
  readonly isBySize?: boolean;
  /** Whether the runs of a group are those that failed in one way. */
  readonly isFailure: (key: string) => boolean;
  /** Whether a run stays in its group as long as its parameters are the same. */
  readonly isFixed: boolean;
};

/** A run without a value on this level. Sorts after every text. */
const nothing = '\uffff';

/** The level a person asked for. `sweeps`: those shown, in their order. */
export function levelOf(by: GroupBy, sweeps: readonly SweepSummary[]): Level {
  switch (by.kind) {
    case 'group':
      return groupLevel(sweeps);
    case 'state':
      return stateLevel;
    case 'gpu':
      return slotLevel;
    case 'error':
      return errorLevel;
    case 'none':
      return wholeLevel;
    case 'parameter':
      return parameterLevel(by.key);
    default:
      return assertNever(by);
  }
}

/** The keys of groups in the order of their level. What belongs to no group comes last, however much it is. */
export function inOrder(parts: ReadonlyMap<string, readonly unknown[]>, { order, isBySize = false }: Level): string[] {
  const sizeOf = (key: string): number => (key === nothing ? -1 : parts.get(key)!.length);
  return [...parts.keys()].sort((a, b) => (isBySize ? sizeOf(b) - sizeOf(a) : 0) || order(a, b));
}

const never = (): boolean => false;

/** Groups of the sweep file in its order; those it does not know (of an older sweep) after them. */
function groupLevel(sweeps: readonly SweepSummary[]): Level {
  const named = sweeps.flatMap((sweep): [string, string | null][] =>
    sweep.groups.map(({ name, title }) => [`${sweep.name}/${name}`, title]),
  );
  const titles = new Map(named);
  const ranks = new Map(named.map(([key], rank) => [key, rank]));
  const rankOf = (key: string): number => ranks.get(key) ?? named.length;
  return {
    keyOf: ({ sweep, group }) => `${sweep}/${group}`,
    labelOf: (key) => (sweeps.length > 1 ? key : key.slice(key.indexOf('/') + 1)),
    titleOf: (key) => {
      const title = titles.get(key) ?? null;
      return title === null ? null : cleanText(title);
    },
    order: (a, b) => rankOf(a) - rankOf(b),
    isFailure: never,
    isFixed: true,
  };
}

const stateLevel: Level = {
  keyOf: ({ state }) => state,
  labelOf: (key) => key,
  titleOf: () => null,
  order: (a, b) => statesByUrgency.indexOf(a as RunWord) - statesByUrgency.indexOf(b as RunWord),
  isFailure: never,
  isFixed: false,
};

/** By what a run holds now: a run that waits or has ended holds nothing. */
const slotLevel: Level = {
  keyOf: ({ gpus, slot }) => (gpus.length > 0 ? `gpu ${gpus.map(gpuName).join(' + ')}` : (slot ?? nothing)),
  labelOf: (key) => (key === nothing ? 'no slot' : key),
  titleOf: (key) => (key === nothing ? 'waiting or ended' : null),
  order: (a, b) => (a === nothing || b === nothing ? Number(a === nothing) - Number(b === nothing) : gpusFirst(a, b)),
  isFailure: never,
  isFixed: false,
};

function gpusFirst(a: string, b: string): number {
  return Number(b.startsWith('gpu')) - Number(a.startsWith('gpu')) || naturalOrder(a, b);
}

/** What is wrong with runs, the commonest first; after it what is well. */
const errorLevel: Level = {
  keyOf: (run) => troubleOf(run) ?? nothing,
  labelOf: (key) => (key === nothing ? 'no error' : cleanText(key)),
  titleOf: () => null,
  order: (a, b) => naturalOrder(a, b),
  isBySize: true,
  isFailure: (key) => key !== nothing,
  isFixed: false,
};

/** All runs as one group. */
const wholeLevel: Level = {
  keyOf: () => '',
  labelOf: () => 'the list',
  titleOf: () => null,
  order: () => 0,
  isFailure: never,
  isFixed: true,
};

function parameterLevel(name: string): Level {
  const values = new Map<string, ParameterValue>();
  return {
    keyOf: ({ parameters }) => {
      const value = parameterOf(parameters, name);
      const key = value === undefined ? nothing : typeof value === 'string' ? `"${value}` : parameterText(value);
      if (!values.has(key)) values.set(key, value);
      return key;
    },
    labelOf: (key) =>
      key === nothing ? `no ${cleanText(name)}` : `${cleanText(name)}=${shown(parameterText(values.get(key)))}`,
    titleOf: () => null,
    order: (a, b) => parameterOrder(values.get(a), values.get(b)),
    isFailure: never,
    isFixed: true,
  };
}

/** An empty text is a value that would not be seen. */
function shown(text: string): string {
  return text === '' ? '""' : text;
}
