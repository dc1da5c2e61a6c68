import { FailureClass } from '../../base/outcome.js';
import { durationText } from '../../text/duration.js';
import { memoryText } from '../../text/numbers.js';
import { type EarlyTerminate, type PlannedRun, Resources, RetryRule } from '../planned-run.js';

/**
 * How a run is treated where that is not the usual way, each in a few words: `priority 5`, `3 retries after crash or oom`,
 * `at most 2h`. For the plan that a person looks at before the launch. Empty: all as usual.
 */
export function policyWords(run: PlannedRun): string[] {
  return [
    ...(run.priority === 0 ? [] : [`priority ${run.priority}`]),
    ...retryWords(run.retry),
    ...(run.timeout === null ? [] : [`at most ${durationText(run.timeout)}`]),
    ...(run.grace === 10 ? [] : [`${durationText(run.grace)} to stop`]),
    ...resourceWords(run.resources),
    ...(run.stopWhen === null ? [] : [stopWords(run.stopWhen)]),
    ...(run.earlyTerminate === null ? [] : [`ends early by ${ruleWords(run.earlyTerminate)}`]),
    ...objectiveWords(run),
  ];
}

/** `asha (eta 3, min_iter 5)`. */
export function ruleWords({ type, ...numbers }: EarlyTerminate): string {
  const said = Object.entries(numbers)
    .filter(([key, value]) => value !== undefined && !(key === 'strict' && value === true))
    .map(([key, value]) => (key === 'strict' ? 'not strict' : `${key} ${String(value)}`));
  return `${type} (${said.join(', ')})`;
}

function retryWords({ max, backoff, on }: RetryRule): string[] {
  if (max === 0) return [];
  const count = max === 1 ? '1 retry' : `${max} retries`;
  const isAny = FailureClass.options.every((each) => on.includes(each));
  const after = isAny ? '' : ` after ${on.join(' or ')}`;
  const usual = RetryRule.parse({}).backoff;
  return [`${count}${after}${backoff === usual ? '' : `, the first after ${durationText(backoff)}`}`];
}

function resourceWords({ gpus, per_gpu: perGpu, gpu_memory: memory, mps, cpus }: Resources): string[] {
  const usual = Resources.parse({});
  return [
    ...(gpus === usual.gpus ? [] : [gpus === 0 ? 'no GPU' : gpus === 1 ? '1 GPU' : `${gpus} GPUs`]),
    ...(perGpu === usual.per_gpu ? [] : [`${perGpu} runs on a GPU`]),
    ...(memory === null ? [] : [`${memoryText(memory)} of GPU memory`]),
    ...(mps === usual.mps ? [] : ['without MPS']),
    ...(cpus === usual.cpus ? [] : [`${cpus} cores`]),
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
