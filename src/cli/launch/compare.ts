import { isAbsolute, join } from 'node:path';
import { endStateOf, hasEnded, type RunWord } from '../../base/run-words.js';
import type { Parameters } from '../../base/scalar.js';
import type { Fleet, RunSummary } from '../../client/fleet.js';
import type { RunRecord } from '../../contract/run-record.js';
import { statRegular } from '../../files/regular-file.js';
import { environmentDigest, identityOf, startDigests } from '../../spec/expand/identity.js';
import type { NameChanges } from '../../spec/expand/run-name.js';
import { valueText } from '../../spec/expand/value-text.js';
import type { Plan, PlannedRun } from '../../spec/planned-run.js';
import { growth } from '../../spec/policy/completion.js';
import { policyOf } from '../../spec/policy/policy-words.js';
import { isSecretName, MASK, type Redact, redactedParameters, redactor, redactWords } from '../../text/redaction.js';
import { definedEnvironment } from '../options.js';
import { type ExistingRun, type Planned, planOf, type ReadPlan } from './read.js';

/**
 * A run as it may be shown, and what is left to do of it. `started`, `environment`: digests of its start parameters, as those are
 * shown without secrets.
 */
type ShownRun = Planned & {
  readonly started?: ReturnType<typeof startDigests>;
  readonly environment?: string;
};

/** A setting that the file changes; null: the default, or not set. */
export type Setting = { readonly key: string; readonly was: string | null; readonly now: string | null };

/**
 * The effect of a launch on one run: it starts a new one, continues one with a larger budget, restarts one that did not finish, or
 * nothing.
 */
export type Change = ShownRun & {
  readonly kind: 'new' | 'longer' | 'again' | 'same';
  /** The supervisor's row; null: there is none. */
  readonly row: RunSummary | null;
  /** Null: it does not exist yet, or its state is unknown. */
  readonly state: RunWord | null;
  /** How its budget grew, in words; null: it did not. */
  readonly growth: string | null;
  /** Only for runs that have not ended: others get the file's settings when they start again. */
  readonly settings: readonly Setting[];
  /** Only for done runs, which do not run again: what has changed since, by key of the sweep file or by name of a program's file. */
  readonly changedSince: readonly string[];
  /** The name that the file would give it now; null: its present name. */
  readonly nameByFile: string | null;
  /** Only for a new run whose name by the file is taken: that name, and the parameters of the run that has it. */
  readonly distinctFrom: { readonly taken: string; readonly parameters: Parameters | null } | null;
};

/** A run of the sweep that the file does not (or no longer) contain, such as a clone. `state` null: unknown. */
type AbsentRun = Pick<RunSummary, 'name' | 'group' | 'parameters'> & { readonly state: RunWord | null };

/** A plan compared with the existing runs. `absent`: runs that the plan does not contain, and that stay. */
export type Difference = {
  readonly sweep: string;
  readonly changes: readonly Change[];
  readonly absent: readonly AbsentRun[];
};

/**
 * `planned`: without secrets, like rows. `leftOut`: groups of the file that are not planned. `names`, `existing`: absent for a plan
 * made without regard to existing runs.
 */
export type Compared = {
  readonly plan: Plan;
  readonly planned: readonly ShownRun[];
  readonly leftOut: readonly string[];
  readonly names?: NameChanges;
  readonly existing?: readonly ExistingRun[];
};

/** A plan, and what its launch changes. */
export type Comparison = { readonly plan: ReadPlan; readonly difference: Difference };

/** Compares a plan with the runs that exist. @param fleet The supervisor's, complete; null: none is up. */
export function compared(asRead: ReadPlan, fleet: Pick<Fleet, 'runs'> | null): Comparison {
  const plan = fleet === null ? asRead : besideRows(asRead, fleet.runs);
  const planned = withoutSecrets(plan.planned, definedEnvironment());
  return { plan, difference: differenceOf({ ...plan, planned }, fleet?.runs.values() ?? []) };
}

/** Adds a supervisor's knowledge to a plan: runs that had not started when it was read have a name but had no directory. */
function besideRows(asRead: ReadPlan, rows: ReadonlyMap<string, RunSummary>): ReadPlan {
  const planned = new Set<string>(asRead.plan.runs.map(({ id }) => id));
  const known = new Set(asRead.existing.map(({ name }) => name));
  const isNews = ({ id, name, sweep }: RunSummary) =>
    sweep === asRead.plan.sweep && !planned.has(id) && !known.has(name);
  if (![...rows.values()].some(isNews)) return asRead;
  const again = planOf(asRead.read, asRead.options, rows.values());
  const notes = [...new Set([...(asRead.plan.notes ?? []), ...(again.plan.notes ?? [])])];
  return notes.length === 0 ? again : { ...again, plan: { ...again.plan, notes } };
}

/**
 * The plan as it may be shown: `***` for every secret of the user's environment or of the sweep file, in commands, environments and
 * parameters. Commands with `***` in them cannot be run: the result is for display only.
 */
export function withoutSecrets(
  planned: readonly Planned[],
  environment: Readonly<Record<string, string>>,
): readonly ShownRun[] {
  const redactors = new Map<string, Redact>();
  const of = (env: PlannedRun['env']): Redact => {
    const key = JSON.stringify(env);
    const redact = redactors.get(key) ?? redactor({ ...environment, ...env });
    redactors.set(key, redact);
    return redact;
  };
  return planned.map(({ run, standing }) => {
    const redact = of(run.env);
    const shown = { run: hidden(run, redact), standing: { ...standing, reason: redact(standing.reason) } };
    return { ...shown, started: startDigests(run), environment: environmentDigest(run) };
  });
}

function hidden(run: PlannedRun, redact: Redact): PlannedRun {
  const [program = '', ...words] = redactWords(run.argv, redact);
  return {
    ...run,
    argv: [program, ...words],
    resumeArgs: redactWords(run.resumeArgs, redact),
    env: Object.fromEntries(
      Object.entries(run.env).map(([name, value]) => [name, isSecretName(name) ? MASK : redact(value)]),
    ),
    cwd: redact(run.cwd),
    subgroup: run.subgroup === null ? null : redact(run.subgroup),
    parameters: redactedParameters(run.parameters, redact),
  };
}

/** What the launch of a plan changes. @param rows All runs of the supervisor; empty if it is not up. */
export function differenceOf(compared: Compared, rows: Iterable<RunSummary>): Difference {
  const { plan, planned, leftOut, names, existing = [] } = compared;
  const own = new Map([...rows].filter(({ sweep }) => sweep === plan.sweep).map((row) => [row.name, row]));
  const records = new Map(existing.map(({ name, record }) => [name, record]));
  const modified = modificationTimes();
  const changes = planned.map((one): Change => {
    const { name } = one.run;
    const row = own.get(name) ?? null;
    const change = row === null ? changeByDirectory(one) : changeByRow(one, row);
    return {
      ...{ ...one, row, ...change },
      changedSince: outdatedBy(one, change, { record: records.get(name) ?? null, modified }),
      nameByFile: names?.kept.get(name) ?? null,
      distinctFrom: names?.distinct.get(name) ?? null,
    };
  });
  const wanted = new Set<string>(planned.map(({ run }) => run.name));
  const there = [...own.values(), ...existing.filter(({ name }) => !own.has(name)).map(absentRun)];
  // The file does not contain the runs of an open group.
  const open = plan.groups.filter((group) => group.open !== undefined).map((group) => group.name);
  const others = new Set<string>([...leftOut, ...open]);
  const absent = there.filter(({ name, group }) => !wanted.has(name) && !others.has(group));
  const facts = absent.map(({ name, group, parameters, state }) => ({ name, group, parameters, state }));
  return { sweep: plan.sweep, changes, absent: facts };
}

type Facts = Pick<Change, 'kind' | 'state' | 'growth' | 'settings'>;

/** The change of a run that no supervisor knows. */
function changeByDirectory({ standing: { state, reason, grown } }: ShownRun): Facts {
  const rest = { settings: [], growth: null } as const;
  if (grown !== undefined) return { ...rest, kind: 'longer', state: grown.wasDone ? 'done' : null, growth: reason };
  if (state === 'resume') return { ...rest, kind: 'again', state: null };
  return { ...rest, kind: state === 'new' ? 'new' : 'same', state: state === 'new' ? null : 'done' };
}

function changeByRow({ run, standing, started }: ShownRun, row: RunSummary): Facts {
  const { state } = row;
  if (hasEnded(state)) {
    const growth = standing.grown === undefined ? null : standing.reason;
    if (growth !== null) return { kind: 'longer', state, growth, settings: [] };
    return { kind: standing.state === 'done' ? 'same' : 'again', state, growth: null, settings: [] };
  }
  const growth = state === 'stopping' ? null : budgetGrowth(run, row);
  const isSettled = row.next !== null && row.next !== undefined;
  // A run that will continue by another plan has the settings of that one; its row only shows the present attempt.
  const settings = isSettled
    ? []
    : [...settingsOf(run, row, growth !== null), ...startSettings(started ?? startDigests(run), row)];
  return { kind: growth === null ? 'same' : 'longer', state, growth, settings };
}

/** How the budget grew, compared with the present attempt or the one that will follow it. */
function budgetGrowth({ budget = [], parameters }: PlannedRun, { parameters: now, next }: RunSummary): string | null {
  const only = (all: Parameters): Parameters =>
    Object.fromEntries(Object.entries(all).filter(([name]) => budget.includes(name)));
  return growth(only({ ...now, ...next }), only(parameters));
}

function settingsOf(run: PlannedRun, row: RunSummary, isLonger: boolean): Setting[] {
  const values = parameterSettings(run, row);
  // The command contains the parameters.
  const isOtherwise = !isLonger && values.length === 0 && JSON.stringify(run.argv) !== JSON.stringify(row.argv);
  return [
    ...policySettings(run, row),
    ...codeSettings(run, row),
    ...values,
    ...(isOtherwise ? [{ key: 'command', was: null, now: null }] : []),
  ];
}

/** Changed settings of the policy. An older supervisor does not send the present ones. */
function policySettings(run: PlannedRun, { policy: before }: RunSummary): Setting[] {
  if (before === undefined) return [];
  const now = policyOf(run);
  const keys = [...new Set([...Object.keys(before), ...Object.keys(now)])];
  return keys
    .map((key) => ({ key, was: before[key] ?? null, now: now[key] ?? null }))
    .filter(({ was, now: is }) => was !== is);
}

/** Changed start parameters, of which only digests are known. An older supervisor does not send them. */
function startSettings(now: ReturnType<typeof startDigests>, { started: before }: RunSummary): Setting[] {
  if (before === undefined) return [];
  const keys = [...new Set([...Object.keys(before), ...Object.keys(now)])];
  return keys.filter((key) => before[key] !== now[key]).map((key) => ({ key, was: null, now: null }));
}

/** Whether the run starts from a snapshot has changed; an existing snapshot is kept. */
function codeSettings({ snapshot }: PlannedRun, row: RunSummary): Setting[] {
  const [was, now] = [row.snapshot, snapshot].map((each) => (each === undefined ? 'live' : 'snapshot'));
  return was === now ? [] : [{ key: 'code', was: was!, now: now! }];
}

/** Changed parameters that are not budget, which a queued run may have under the same name. */
function parameterSettings({ parameters, budget = [] }: PlannedRun, { parameters: before }: RunSummary): Setting[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(parameters)])].filter(
    (name) => !budget.includes(name),
  );
  const text = (all: Parameters, name: string) => (Object.hasOwn(all, name) ? valueText(all[name]!) : null);
  return names
    .map((key) => ({ key, was: text(before, key), now: text(parameters, key) }))
    .filter(({ was, now }) => was !== now && !`${was} ${now}`.includes(MASK));
}

/** The record of a run that was started, and when files were last changed. */
type Past = { readonly record: RunRecord | null; readonly modified: ReturnType<typeof modificationTimes> };

function outdatedBy({ run, environment }: ShownRun, { kind, state }: Facts, { record, modified }: Past): string[] {
  if (kind !== 'same' || state !== 'done' || record === null) return [];
  const changed = changedSince(run, environment ?? environmentDigest(run), record);
  return [...changed, ...changedPrograms(run, record, modified)];
}

/**
 * The start parameters that have changed since a run's last attempt, by key of the sweep file. Empty if its budget differs, as the
 * command contains that.
 *
 * @param run Without secrets, like records.
 * @param environment Digest of its environment; the record of an older build has none.
 */
function changedSince(run: PlannedRun, environment: string, record: RunRecord): string[] {
  if (identityOf('', run.parameters, []) !== identityOf('', record.parameters, [])) return [];
  const cwd = (place: { cwd: string; snapshot?: { cwd: string } | undefined }) => place.snapshot?.cwd ?? place.cwd;
  const isSnapshot = run.snapshot !== undefined || record.snapshot !== undefined;
  return [
    ...(commandKey(run.argv) === commandKey(record.argv) ? [] : ['command']),
    // A snapshot's paths in the environment differ.
    ...(isSnapshot || (record.environmentDigest ?? environment) === environment ? [] : ['env']),
    ...(cwd(run) === cwd(record) ? [] : ['cwd']),
  ];
}

/**
 * A key that is equal for commands that differ only in the notation of numbers and the order of options, which may change with the
 * file's keys.
 */
function commandKey(argv: readonly string[]): string {
  const words = argv.map(plainly);
  const isOption = (word: string) => /^-|=/.test(word);
  return JSON.stringify([words.filter((word) => !isOption(word)), words.filter(isOption).sort()]);
}

/** A word with its number in one notation: `--lr=1e-3` as `--lr=0.001`. */
function plainly(word: string): string {
  return word.replace(/(?<=^|=)[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i, (number) => String(Number(number)));
}

/** What decides what a program does; data and results of others may change without that. */
const code = /\.(py|[cm]?[jt]s|sh|R|jl|rb|pl|lua|ya?ml|toml)$/;

/**
 * The programs and settings files of a run's command that were changed after its last start, as the command names them. Modules
 * that a program imports are not looked at.
 *
 * @param modified When a file was changed, Unix ms; null: there is no such file.
 */
export function changedPrograms(
  { argv, cwd, directory, snapshot }: Pick<PlannedRun, 'argv' | 'cwd' | 'directory' | 'snapshot'>,
  record: Pick<RunRecord, 'attempts' | 'snapshot'>,
  modified: (path: string) => number | null,
): string[] {
  const startedAt = record.attempts.at(-1)?.startedAt;
  if (startedAt === undefined || snapshot !== undefined || record.snapshot !== undefined) return [];
  return programsIn(argv).filter((name) => {
    const path = isAbsolute(name) ? name : join(cwd, name);
    return !path.startsWith(`${directory}/`) && (modified(path) ?? 0) > startedAt;
  });
}

function programsIn(argv: readonly string[]): string[] {
  const words = argv.map((word, at) => {
    // `python -m package.train`
    if (argv[at - 1] === '-m' && /^[\w.]+$/.test(word)) return `${word.replaceAll('.', '/')}.py`;
    return word.slice(word.indexOf('=') + 1);
  });
  return [...new Set(words.filter((word, at) => code.test(word) || (at === 0 && word.includes('/'))))];
}

/** Returns a function that looks at each file once, as thousands of runs have one program. */
function modificationTimes(): (path: string) => number | null {
  const known = new Map<string, number | null>();
  return (path) => {
    if (!known.has(path)) {
      const found = statRegular(path);
      known.set(path, found.kind === 'file' ? found.stat.mtimeMs : null);
    }
    return known.get(path)!;
  };
}

function absentRun({ name, group, parameters, attempts }: ExistingRun): AbsentRun {
  const outcome = attempts.at(-1)?.outcome ?? null;
  return { name, group, parameters, state: outcome === null ? null : endStateOf(outcome.kind) };
}

/** Whether the sweep has any runs yet. */
export function isKnown({ changes, absent }: Difference): boolean {
  return absent.length > 0 || changes.some(({ row, standing }) => row !== null || standing.state !== 'new');
}

/** Whether the file would run some done runs differently. */
export function isOutdated({ changes }: Difference): boolean {
  return changes.some(({ changedSince }) => changedSince.length > 0);
}

/** Whether the file itself has changed, so that runs are added, continue or get other settings. */
export function isEdited({ changes }: Difference): boolean {
  return changes.some(({ kind, settings }) => kind === 'new' || kind === 'longer' || settings.length > 0);
}

/** Whether the next start of the run is not its first, so that it gets its `resume_args`. */
export function resumes({ kind, row, standing }: Pick<Change, 'kind' | 'row' | 'standing'>): boolean {
  if (kind === 'new' || (kind === 'same' && !isQueued(row?.state ?? null))) return false;
  return row === null ? standing.state !== 'new' : row.attempt > 0;
}

/** Whether changed settings apply to the run before it starts. */
export function isQueued(state: RunWord | null): boolean {
  return state === 'queued' || state === 'held';
}

/** Whether its processes are up, and not about to be ended. */
export function isUp(state: RunWord | null): boolean {
  return state === 'starting' || state === 'running' || state === 'paused';
}
