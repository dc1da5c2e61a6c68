import { hasEnded, type RunWord } from '../../base/run-words.js';
import type { Parameters } from '../../base/scalar.js';
import type { RunSummary } from '../../client/fleet.js';
import { identityOf } from '../../spec/expand/identity.js';
import { valueText } from '../../spec/expand/value-text.js';
import type { Completion, Plan, PlannedRun } from '../../spec/planned-run.js';
import { growth } from '../../spec/policy/completion.js';
import { policyOf } from '../../spec/policy/policy-words.js';
import { startDigests } from '../../spec/policy/start-digests.js';
import { MASK } from '../../text/redaction.js';

/** A run and what is left to do of it. `started`: digests of what it is started with, where the run is shown without secrets. */
export type Planned = {
  readonly run: PlannedRun;
  readonly standing: Completion;
  readonly started?: ReturnType<typeof startDigests>;
};

/** Something that the file says of a run otherwise than before; null: as usual, or not at all. */
export type Setting = { readonly key: string; readonly was: string | null; readonly now: string | null };

/**
 * What a launch does to one run: it starts a new one, lets one go on to a larger budget, starts one again that did not get to
 * its end, or nothing.
 */
export type Change = Planned & {
  readonly kind: 'new' | 'longer' | 'again' | 'same';
  /** As the supervisor knows it; null: it does not, or there is none. */
  readonly row: RunSummary | null;
  /** Null: it is not there yet, or nobody knows. */
  readonly state: RunWord | null;
  /** How its budget grew, in words; null: it did not. */
  readonly growth: string | null;
  /** Only of runs that have not ended: others are treated by the file when they start again. */
  readonly settings: readonly Setting[];
};

/**
 * A run of the sweep that the file does not name (any more), or never did, as a clone. `isNow`: the new run that has its
 * parameters under another name; null: none has.
 */
type AbsentRun = Pick<RunSummary, 'name' | 'group' | 'state'> & { readonly isNow: string | null };

/** A plan against what is there. `absent`: runs that the plan does not name, and that stay. */
export type Difference = {
  readonly sweep: string;
  readonly changes: readonly Change[];
  readonly absent: readonly AbsentRun[];
};

/** @param planned Without secrets, as rows are. @param leftOut Groups of the file that are not planned. */
export type Compared = {
  readonly plan: Plan;
  readonly planned: readonly Planned[];
  readonly leftOut: readonly string[];
};

/** @param rows All that the supervisor knows; none where it is not there. */
export function differenceOf({ plan, planned, leftOut }: Compared, rows: Iterable<RunSummary>): Difference {
  const own = new Map([...rows].filter(({ sweep }) => sweep === plan.sweep).map((row) => [row.id, row]));
  const changes = planned.map((one): Change => {
    const row = own.get(one.run.id) ?? null;
    own.delete(one.run.id);
    return { ...one, row, ...(row === null ? changeByDirectory(one) : changeByRow(one, row)) };
  });
  // No file names the runs of an open group.
  const open = plan.groups.filter((group) => group.open !== undefined).map(({ name }) => name);
  const others = new Set([...leftOut, ...open]);
  const left = [...own.values()].filter(({ group }) => !others.has(group));
  return { sweep: plan.sweep, changes, absent: left.length === 0 ? [] : absentRuns(left, changes) };
}

/** Names hold what varies: an axis that is added, or taken away, gives other names to the same runs. */
function absentRuns(rows: readonly RunSummary[], changes: readonly Change[]): AbsentRun[] {
  const fresh = changes.filter(({ kind }) => kind === 'new').map(({ run }) => run);
  const budgets = new Map(fresh.map(({ group, budget = [] }) => [group, budget]));
  const keyOf = ({ group, parameters }: Pick<RunSummary, 'group' | 'parameters'>) =>
    identityOf(group, parameters, budgets.get(group) ?? []);
  const names = new Map(fresh.map((run) => [keyOf(run), run.name]));
  return rows.map((row) => {
    const { name, group, state } = row;
    return { name, group, state, isNow: names.get(keyOf(row)) ?? null };
  });
}

/** Whether there is anything of the sweep yet. */
export function isKnown({ changes, absent }: Difference): boolean {
  return absent.length > 0 || changes.some(({ row, standing }) => row !== null || standing.state !== 'new');
}

/** Whether the file itself says something else than before, so that runs come, go on or are treated otherwise. */
export function isEdited({ changes }: Difference): boolean {
  return changes.some(({ kind, settings }) => kind === 'new' || kind === 'longer' || settings.length > 0);
}

/** Whether the next start of the run is not its first, so that it gets its `resume_args`. */
export function resumes({ kind, row, standing }: Pick<Change, 'kind' | 'row' | 'standing'>): boolean {
  if (kind === 'new' || (kind === 'same' && !isQueued(row?.state ?? null))) return false;
  return row === null ? standing.state !== 'new' : row.attempt > 0;
}

/** Whether a change of settings finds the run before it starts. */
export function isQueued(state: RunWord | null): boolean {
  return state === 'queued' || state === 'held';
}

/** Whether its processes are up, and not about to be ended. */
export function isUp(state: RunWord | null): boolean {
  return state === 'starting' || state === 'running' || state === 'paused';
}

type Facts = Omit<Change, keyof Planned | 'row'>;

/** Where no supervisor knows the run. */
function changeByDirectory({ standing: { state, reason, grown } }: Planned): Facts {
  const rest = { settings: [], growth: null } as const;
  if (grown !== undefined) return { ...rest, kind: 'longer', state: grown.wasDone ? 'done' : null, growth: reason };
  if (state === 'resume') return { ...rest, kind: 'again', state: null };
  return { ...rest, kind: state === 'new' ? 'new' : 'same', state: state === 'new' ? null : 'done' };
}

function changeByRow({ run, standing, started }: Planned, row: RunSummary): Facts {
  const { state } = row;
  if (hasEnded(state)) {
    const growth = standing.grown === undefined ? null : standing.reason;
    if (growth !== null) return { kind: 'longer', state, growth, settings: [] };
    return { kind: standing.state === 'done' ? 'same' : 'again', state, growth: null, settings: [] };
  }
  const growth = state === 'stopping' ? null : budgetGrowth(run, row);
  const isSettled = row.next !== null && row.next !== undefined;
  // What goes on by another plan already is treated by that from then on; the row tells of the present attempt alone.
  const settings = isSettled
    ? []
    : [...settingsOf(run, row, growth !== null), ...startSettings(started ?? startDigests(run), row)];
  return { kind: growth === null ? 'same' : 'longer', state, growth, settings };
}

/** By what it does now, or is to go on with already. */
function budgetGrowth({ budget = [], parameters }: PlannedRun, { parameters: now, next }: RunSummary): string | null {
  const only = (all: Parameters): Parameters =>
    Object.fromEntries(Object.entries(all).filter(([name]) => budget.includes(name)));
  return growth(only({ ...now, ...next }), only(parameters));
}

function settingsOf(run: PlannedRun, row: RunSummary, isLonger: boolean): Setting[] {
  const values = parameterSettings(run, row);
  // A command holds the parameters.
  const isOtherwise = !isLonger && values.length === 0 && JSON.stringify(run.argv) !== JSON.stringify(row.argv);
  return [
    ...policySettings(run, row),
    ...codeSettings(run, row),
    ...values,
    ...(isOtherwise ? [{ key: 'command', was: null, now: null }] : []),
  ];
}

/** A supervisor of an older build does not say how it treats a run. */
function policySettings(run: PlannedRun, { policy: before }: RunSummary): Setting[] {
  if (before === undefined) return [];
  const now = policyOf(run);
  const keys = [...new Set([...Object.keys(before), ...Object.keys(now)])];
  return keys
    .map((key) => ({ key, was: before[key] ?? null, now: now[key] ?? null }))
    .filter(({ was, now: is }) => was !== is);
}

/** Of what a run is started with it is known only that it is another. A supervisor of an older build does not say. */
function startSettings(now: ReturnType<typeof startDigests>, { started: before }: RunSummary): Setting[] {
  if (before === undefined) return [];
  const keys = [...new Set([...Object.keys(before), ...Object.keys(now)])];
  return keys.filter((key) => before[key] !== now[key]).map((key) => ({ key, was: null, now: null }));
}

/** A run keeps the copy of the code that it has; what may change is whether it has one. */
function codeSettings({ snapshot }: PlannedRun, row: RunSummary): Setting[] {
  const [was, now] = [row.snapshot, snapshot].map((each) => (each === undefined ? 'live' : 'snapshot'));
  return was === now ? [] : [{ key: 'code', was: was!, now: now! }];
}

/** Those that are not budget: of a run that waits, they may be others under the same name. */
function parameterSettings({ parameters, budget = [] }: PlannedRun, { parameters: before }: RunSummary): Setting[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(parameters)])].filter(
    (name) => !budget.includes(name),
  );
  const text = (all: Parameters, name: string) => (Object.hasOwn(all, name) ? valueText(all[name]!) : null);
  return names
    .map((key) => ({ key, was: text(before, key), now: text(parameters, key) }))
    .filter(({ was, now }) => was !== now && !`${was} ${now}`.includes(MASK));
}
