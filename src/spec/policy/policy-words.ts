import { FailureClass } from '../../base/outcome.js';
import { durationText } from '../../text/duration.js';
import { counted, memoryText } from '../../text/numbers.js';
import {
  type EarlyTerminate,
  type PlannedRun,
  Resources,
  RetryRule,
  type SlurmOptions,
  type StartRule,
} from '../planned-run.js';

/**
 * The settings of a run that differ from the defaults, each in a few words: `priority 5`, `3 retries after crash or oom`, `at most
 * 2h`. Shown with the plan before the launch. Empty: all are defaults.
 */
export function policyWords(run: PlannedRun): string[] {
  return Object.values(wordsByKey(run)).flat();
}

/** The same words by keys of the sweep file; defaults are left out. */
export function policyOf(run: PlannedRun): Readonly<Record<string, string>> {
  const known = policies.get(run);
  if (known !== undefined) return known;
  const policy: Record<string, string> = {};
  for (const [key, words] of Object.entries({ ...wordsByKey(run), done: doneWords(run) }))
    if (words.length > 0) policy[key] = words.join(', ');
  policies.set(run, policy);
  return policy;
}

/** A row of a run is made each time that something of it changes; its policy never does. */
const policies = new WeakMap<PlannedRun, Readonly<Record<string, string>>>();

function wordsByKey(run: PlannedRun): Record<string, string[]> {
  return {
    priority: run.priority === 0 ? [] : [`priority ${run.priority}`],
    retry: retryWords(run.retry),
    timeout: run.timeout === null ? [] : [`at most ${durationText(run.timeout)}`],
    start: run.start === undefined ? [] : startWords(run.start),
    stdin: run.input === 'lines' ? ['reads what is typed'] : [],
    terminal: run.input === 'terminal' ? ['a terminal of its own'] : [],
    grace: run.grace === 10 ? [] : [`${durationText(run.grace)} to stop`],
    resources: resourceWords(run.resources),
    stop_when: run.stopWhen === null ? [] : [stopWords(run.stopWhen)],
    early_terminate: run.earlyTerminate === null ? [] : [`ends early by ${ruleWords(run.earlyTerminate)}`],
    metric: objectiveWords(run),
  };
}

/** `starts at 22:00`, `starts between 20:00 and 08:00 on mon, fri, and is paused outside of that`. */
function startWords({ at, after, between, days, outside }: StartRule): string[] {
  const on = days === undefined ? '' : ` on ${days.join(', ')}`;
  const window = between === undefined ? on : ` between ${between[0]} and ${between[1]}${on}`;
  const paused = outside === 'pause' ? ', and is paused outside of that' : '';
  return [
    ...(after === undefined ? [] : [`starts ${durationText(after)} after the launch`]),
    ...(at === undefined ? [] : [`starts at ${at}`]),
    ...(window === '' ? [] : [`starts${window}${paused}`]),
  ];
}

/** The done rule in words; empty: the exit code. */
function doneWords({ done }: PlannedRun): string[] {
  if ('exit' in done) return [];
  if ('output' in done) return [`prints ${done.output}`];
  if ('command' in done) return [`${done.command.join(' ')} agrees`];
  return [done.where === undefined ? `${done.file} is there` : `${done.file} has a row with ${done.where}`];
}

/** A rule in words: `asha (eta 3, min_iter 5)`. */
export function ruleWords({ type, ...numbers }: EarlyTerminate): string {
  const said = Object.entries(numbers)
    .filter(([key, value]) => value !== undefined && !(key === 'strict' && value === true))
    .map(([key, value]) => (key === 'strict' ? 'not strict' : `${key} ${String(value)}`));
  return `${type} (${said.join(', ')})`;
}

/** The defaults, computed once, as every row of a table compares with them. */
const usualRetry = RetryRule.parse({});
const usual = Resources.parse({});

function retryWords({ max, backoff, on }: RetryRule): string[] {
  if (max === 0) return [];
  const count = max === 1 ? '1 retry' : `${max} retries`;
  const isAny = FailureClass.options.every((each) => on.includes(each));
  const after = isAny ? '' : ` after ${on.join(' or ')}`;
  return [`${count}${after}${backoff === usualRetry.backoff ? '' : `, the first after ${durationText(backoff)}`}`];
}

function resourceWords({
  gpus,
  per_gpu: perGpu,
  gpu_memory: memory,
  mps,
  cpus,
  nice,
  slurm = {},
}: Resources): string[] {
  return [
    ...(gpus === usual.gpus ? [] : [gpus === 0 ? 'no GPU' : gpus === 1 ? '1 GPU' : `${gpus} GPUs`]),
    ...(perGpu === usual.per_gpu ? [] : [`${perGpu} runs on a GPU`]),
    ...(memory === null ? [] : [`${memoryText(memory)} of GPU memory`]),
    ...(mps === usual.mps ? [] : ['without MPS']),
    ...(cpus === undefined ? [] : [counted(cpus, 'core')]),
    ...(nice === undefined ? [] : [`nice ${nice}`]),
    ...slurmWords(slurm),
  ];
}

function slurmWords({ time, extra = [], mode, workers, ...options }: SlurmOptions): string[] {
  return [
    ...(mode === undefined || mode === 'auto' ? [] : [mode === 'jobs' ? 'a job each' : 'in packs']),
    ...(workers === undefined ? [] : [`at most ${counted(workers, 'worker')}`]),
    ...Object.entries(options).flatMap(([name, value]) => (value === undefined ? [] : [`${name} ${value}`])),
    ...(time === undefined ? [] : [`${durationText(time)} of Slurm's time`]),
    ...extra,
  ];
}

function stopWords({ when, for: rows }: NonNullable<PlannedRun['stopWhen']>): string {
  return `ends when ${when}${rows === 1 ? '' : `, ${rows} times in a row`}`;
}

function objectiveWords({ objective }: PlannedRun): string[] {
  if (objective === null) return [];
  const { name, goal, target } = objective;
  return [`to ${goal} ${name}${target === undefined ? '' : `; no more runs start once one reaches ${target}`}`];
}
