import { troubleOf } from '../../../analysis/failures/failure-kinds.js';
import { assertNever } from '../../../base/assert-never.js';
import { gpuName, unnamedGroup } from '../../../base/ids.js';
import { parameterOf } from '../../../base/scalar.js';
import { cleanText } from '../../../text/display-text.js';
import { naturalOrder } from '../../../text/natural-order.js';
import type { GroupBy } from '../../state/list-choice.js';
import type { RunSummary, RunWord, SweepSummary } from '../../state/port.js';
import { parameterOrder, parameterText, type ParameterValue, type VaryingParameters } from '../varying-parameters.js';
import { statesByUrgency } from '../state-look.js';

/** One level of grouping: which group a run belongs to, and how groups are named and ordered. */
export type Level = {
  /** Key of the run's group. */
  readonly keyOf: (run: RunSummary) => string;
  readonly labelOf: (key: string) => string;
  readonly titleOf: (key: string) => string | null;
  readonly order: (a: string, b: string) => number;
  /** Whether larger groups come first; `order` then decides between groups of equal size. */
  readonly isBySize?: boolean;
  /** Whether the runs of a group failed in the same way. */
  readonly isFailure: (key: string) => boolean;
  /** Whether a run stays in its group while its parameters stay the same. */
  readonly isFixed: boolean;
};

/** Key for runs without a value on this level. Sorts after every text. */
const nothing = '\uffff';

/** The level for a choice of the user. `sweeps`: the shown ones in order. */
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

/** Group keys in the order of their level. Runs without a value come last, however many there are. */
export function inOrder(parts: ReadonlyMap<string, readonly unknown[]>, { order, isBySize = false }: Level): string[] {
  const sizeOf = (key: string): number => (key === nothing ? -1 : parts.get(key)!.length);
  return [...parts.keys()].sort((a, b) => (isBySize ? sizeOf(b) - sizeOf(a) : 0) || order(a, b));
}

const never = (): boolean => false;

/** Groups of the sweep file in its order, followed by groups that it does not contain (from an older sweep). */
function groupLevel(sweeps: readonly SweepSummary[]): Level {
  const named = sweeps.flatMap((sweep): [string, string | null][] =>
    sweep.groups.map(({ name, title }) => [`${sweep.name}/${name}`, title]),
  );
  // "Kill 3 runs of train?" says more than "of runs".
  const unnamed = new Map(
    sweeps
      .filter(({ groups }) => groups.length === 1 && groups[0]!.name === unnamedGroup)
      .map(({ name }) => [`${name}/${unnamedGroup}`, name]),
  );
  const titles = new Map(named);
  const ranks = new Map(named.map(([key], rank) => [key, rank]));
  const rankOf = (key: string): number => ranks.get(key) ?? named.length;
  return {
    keyOf: ({ sweep, group }) => `${sweep}/${group}`,
    labelOf: (key) => unnamed.get(key) ?? (sweeps.length > 1 ? key : key.slice(key.indexOf('/') + 1)),
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

/** Groups by the GPUs or slot that a run occupies now; a run that waits or has ended occupies none. */
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

/** Groups by kind of error, most frequent first; runs without an error last. */
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

/** Shows an empty text as `""`, which would otherwise be invisible. */
function shown(text: string): string {
  return text === '' ? '""' : text;
}

/** Something the list can be grouped by. `groups`: the resulting number of groups. */
export type GroupChoice = { readonly by: GroupBy; readonly groups: number };

/** What runs can be grouped by: group, state, slot, each parameter that varies, kind of error, or nothing. */
export function groupChoices(
  runs: readonly RunSummary[],
  sweeps: readonly SweepSummary[],
  varyingParameters: VaryingParameters,
): GroupChoice[] {
  const counted = (by: GroupBy): GroupChoice => {
    return { by, groups: new Set(runs.map(levelOf(by, sweeps).keyOf)).size };
  };
  const parameters = [...varyingParameters].map(([key, { values }]): GroupChoice => {
    return { by: { kind: 'parameter', key }, groups: values };
  });
  return [...before.map(counted), ...parameters, ...after.map(counted)];
}

const before: readonly GroupBy[] = [{ kind: 'group' }, { kind: 'state' }, { kind: 'gpu' }];
const after: readonly GroupBy[] = [{ kind: 'error' }, { kind: 'none' }];
