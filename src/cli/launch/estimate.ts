import { addedTime, type BudgetedRun } from '../../analysis/forecast/added-time.js';
import { forecastSetting, type ForecastSetting } from '../../analysis/forecast/forecast.js';
import type { TimeRange } from '../../analysis/forecast/time-range.js';
import { endStateOf, type RunWord } from '../../base/run-words.js';
import type { Parameters } from '../../base/scalar.js';
import type { Fleet, RunSummary } from '../../client/fleet.js';
import { readRunRecord } from '../../files/run-directory/run-record-file.js';
import type { Plan, PlannedRun } from '../../spec/planned-run.js';
import { durationRange } from '../../text/duration.js';
import { counted } from '../../text/numbers.js';
import { type Change, type Difference, isKnown, isUp } from './compare.js';
import { plannedStart } from './start-time.js';

/** The slots for the runs. */
export type Room = { readonly cpuSlots: number; readonly gpus: number };

/** How long the edited sweep takes, and how many seconds of that the edit adds; null: unknown. */
export type Estimate = { readonly total: TimeRange; readonly added: number; readonly room: Room } | null;

type Fleeting = Pick<Fleet, 'runs' | 'sweeps' | 'status'>;

/** The estimated duration. `room`: of the machine, if there is no supervisor. `now`: Unix ms. */
export function estimateOf(
  difference: Difference,
  plan: Plan,
  fleet: Fleet | null,
  { room, now }: { room: Room; now: number },
): Estimate {
  if (fleet === null) return estimateAtRest(difference, plan, { room, now });
  return estimateLive(difference, plan, fleet, { room, leavesBroken: false, now });
}

/** The estimate in words: what an edit adds to a running sweep, else the total. */
export function timeOf(estimate: Estimate, difference: Difference): string | null {
  return estimateWords(estimate, isKnown(difference) && difference.changes.some(({ row }) => isUnderWay(row?.state)));
}

function isUnderWay(state: string | undefined): boolean {
  return state !== undefined && ['queued', 'starting', 'running', 'paused'].includes(state);
}

/** Estimates by a supervisor's runs. @param now Unix ms. */
export function estimateLive(
  difference: Difference,
  plan: Plan,
  fleet: Fleeting,
  { room, leavesBroken, now }: Launching,
): Estimate {
  const setting = forecastSetting(fleet, now);
  const budgetOf = budgets(difference);
  const rows = [...fleet.runs.values()].map((row) => budgeted(row, budgetOf(row)));
  return estimate(difference, rows, {
    plan,
    before: setting,
    room: room ?? { cpuSlots: setting.cpuSlots, gpus: setting.gpus },
    leavesBroken,
  });
}

/** Estimates by the attempts in the runs' directories. @param now Unix ms. */
function estimateAtRest(difference: Difference, plan: Plan, { room, now }: { room: Room; now: number }): Estimate {
  const rows = difference.changes.flatMap((change) => {
    const row = recordedRun(change);
    return row === null ? [] : [budgeted(row, change.run.budget ?? [])];
  });
  const setting: ForecastSetting = { ...room, needs: () => [], now };
  return estimate(difference, rows, { plan, before: setting, room, leavesBroken: false });
}

/** `room`: the requested slots; absent: unchanged. `leavesBroken`: interrupted and failed runs are not started again. */
type Launching = { readonly room?: Room; readonly leavesBroken: boolean; readonly now: number };

/** `~12m more, 20-35m in all (2 slots)`; null: unknown. `isLive`: the sweep is already running. */
export function estimateWords(estimate: Estimate, isLive: boolean): string | null {
  if (estimate === null) return null;
  const { total, added, room } = estimate;
  const slots = [
    ...(room.gpus === 0 ? [] : [counted(room.gpus, 'GPU')]),
    ...(room.gpus > 0 && room.cpuSlots === 0 ? [] : [counted(room.cpuSlots, room.gpus > 0 ? 'CPU slot' : 'slot')]),
  ].join(', ');
  const time = (seconds: number) => durationRange({ low: seconds, middle: seconds, high: seconds });
  if (!isLive) return `${durationRange(total)} (${slots})`;
  const all = `, ${durationRange(total)} in all`;
  if (added >= 1) return `${time(added)} more${all} (${slots})`;
  return added > -1 ? `no more than without it${all} (${slots})` : `${time(-added)} less${all} (${slots})`;
}

type Setting = {
  readonly plan: Plan;
  readonly before: ForecastSetting;
  readonly room: Room;
  readonly leavesBroken: boolean;
};

function estimate(difference: Difference, before: readonly BudgetedRun[], setting: Setting): Estimate {
  const { plan, room, leavesBroken } = setting;
  const known = new Map(before.map((row) => [row.id, row]));
  const changed = new Map(
    difference.changes.map((change): [string, BudgetedRun] => {
      const row = known.get(change.run.id);
      return [change.run.id, after(change, row, { room, leavesBroken, at: setting.before.now })];
    }),
  );
  // In file order for runs of the file; other runs keep their place.
  const runs = [...changed.values(), ...before.filter(({ id }) => !changed.has(id))];
  const needs = needsOf(plan, setting.before);
  const result = addedTime({
    sweep: difference.sweep,
    before: { runs: before, setting: setting.before },
    after: { runs, setting: { ...setting.before, cpuSlots: room.cpuSlots, gpus: room.gpus, needs } },
  });
  return result === null ? null : { ...result, room };
}

function needsOf({ sweep, groups }: Plan, { needs }: ForecastSetting): ForecastSetting['needs'] {
  const own = new Map(groups.map((group) => [group.name, group.needs]));
  return (of, group) => (of === sweep ? (own.get(group) ?? needs(of, group)) : needs(of, group));
}

/** A run as it is after the launch. */
function after(change: Change, row: BudgetedRun | undefined, { room, leavesBroken, at }: Launched): BudgetedRun {
  const { run, kind } = change;
  const now = budgeted(newRun(run, room, at), run.budget ?? []);
  if (row === undefined) return kind === 'same' ? { ...now, state: 'done' } : now;
  if (kind === 'same' || (leavesBroken && isBroken(row.state))) return row;
  return isUp(row.state) ? goingOn(now, row) : startedAgain(now, row);
}

/** `at`: when it is launched, Unix ms. */
type Launched = Pick<Setting, 'room' | 'leavesBroken'> & { readonly at: number };

function isBroken(state: RunWord): boolean {
  return state === 'failed' || state === 'killed' || state === 'lost';
}

/** A live run with the rest of its budget to do after its present attempt. */
function goingOn({ units }: BudgetedRun, row: BudgetedRun): BudgetedRun {
  return units === null || row.units === null
    ? { ...row, units: null, moreUnits: 1 }
    : { ...row, moreUnits: units - row.units };
}

/** A run that starts again, from its progress relative to its present budget. */
function startedAgain(now: BudgetedRun, row: BudgetedRun): BudgetedRun {
  const share = now.units === null || row.units === null ? 1 : row.units / now.units;
  const progress = (row.state === 'done' ? 1 : (row.progress ?? 0)) * share;
  return { ...now, progress, ...(row.state === 'held' ? { state: row.state } : {}) };
}

function newRun(run: PlannedRun, { gpus }: Room, now: number): Row {
  const { id, sweep, group, parameters, priority, resources } = run;
  const wanted = resources.gpus === 'auto' ? Math.min(1, gpus) : resources.gpus;
  return {
    ...{ id, sweep, group, parameters, priority, state: 'queued', attempt: 0 },
    ...{ startedAt: null, endedAt: null, progress: null, etaSeconds: null, startsAt: plannedStart(run, now) },
    ...(wanted === 0 ? {} : { gpuCount: wanted }),
  };
}

type Row = Omit<BudgetedRun, 'units' | 'unit' | 'moreUnits'>;

/** A run by the record of its last attempt; null: it was never started. */
function recordedRun({ run, standing }: Change): Row | null {
  const record = standing.state === 'new' ? null : readRunRecord(run.directory);
  const last = record?.attempts.at(-1);
  if (record === null || last === undefined) return null;
  return {
    ...newRun(run, { cpuSlots: 0, gpus: 0 }, 0),
    startsAt: null,
    parameters: record.parameters,
    state: last.outcome === null ? 'lost' : endStateOf(last.outcome.kind),
    attempt: record.attempts.length,
    startedAt: last.startedAt,
    endedAt: last.endedAt,
    earlier: record.attempts
      .slice(0, -1)
      .flatMap(({ startedAt, endedAt }): [number, number][] =>
        startedAt === null || endedAt === null ? [] : [[startedAt, endedAt]],
      ),
  };
}

/** Returns the budget parameters of a run: as the file has them for it, or for its group. */
function budgets({ sweep, changes }: Difference): (row: RunSummary) => readonly string[] {
  const byRun = new Map(changes.map(({ run }) => [run.id, run.budget ?? []]));
  const byGroup = new Map(changes.map(({ run }) => [run.group, run.budget ?? []]));
  return (row) => (row.sweep === sweep ? (byRun.get(row.id) ?? byGroup.get(row.group) ?? []) : []);
}

/** Separates a run's budget from its parameters. With several numbers it is unknown which one determines its duration. */
function budgeted(row: Row, budget: readonly string[]): BudgetedRun {
  const names = budget.filter((name) => Object.hasOwn(row.parameters, name));
  const [unit = null] = names;
  const amount = unit === null ? 1 : row.parameters[unit];
  const units = names.length <= 1 && typeof amount === 'number' && amount > 0 ? amount : null;
  return { ...row, units, unit, parameters: without(row.parameters, budget) };
}

function without(parameters: Parameters, names: readonly string[]): Parameters {
  if (names.length === 0) return parameters;
  return Object.fromEntries(Object.entries(parameters).filter(([name]) => !names.includes(name)));
}
