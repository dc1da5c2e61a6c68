import { type NextStep, nextSteps } from '../../analysis/answer/next-steps.js';
import { answersOf, briefAnswer, type GroupAnswer } from '../../analysis/answer/sweep-answers.js';
import { errorKinds, failureSentence } from '../../analysis/failures/failure-kinds.js';
import { busyMs, busyTimeOf } from '../../analysis/forecast/busy-time.js';
import { timeLeft } from '../../analysis/forecast/forecast.js';
import type { Fleet, RunSummary, SweepSummary } from '../../client/fleet.js';
import { computedFromSeeds } from '../../files/sweep-text.js';
import { knownSweeps, recalled, withFleet } from '../open-fleet.js';
import type { CommonOptions } from '../options.js';
import { isGrowing, runsOf } from '../plain/watched-run.js';
import { countsLine, leftWords, progressLine } from '../plain/progress-line.js';
import { reportedFailure } from '../../report/failures-of.js';
import { answerJson } from '../show/answer-json.js';
import { runStatus } from '../show/run-table.js';
import { slotLines, slotsStatus } from '../show/slot-lines.js';
import { shortDuration } from '../../text/duration.js';
import { displayText } from '../../text/display-text.js';
import { outputWidth, print, printJson } from '../terminal.js';

/**
 * `memrl-tui status [SWEEP]`: each sweep, or one, with its state, progress and groups, and the slots; `--json` prints a list with
 * an element for each sweep, and adds the runs.
 */
export async function status([sweep]: readonly string[], options: CommonOptions): Promise<number> {
  return withFleet(options, async (fleet) => {
    const sweeps = knownSweeps(fleet, sweep).map((name) => fleet.sweeps.get(name)!);
    await recalled(fleet);
    if (options.json === true) {
      const told = sweeps.map((summary) => sweepStatus(fleet, summary, options));
      printJson(told);
      return 0;
    }
    if (fleet.status.problem !== null) print([fleet.status.problem, '']);
    print(sweeps.flatMap((summary) => sweepLines(fleet, summary, options)));
    print(['', ...slotLines({ ...fleet.status, problem: null }, outputWidth())]);
    return 0;
  });
}

/** The lines of a sweep: `abcd: running · 12 of 48 done, …`, and below it one for each group. */
function sweepLines(fleet: Fleet, summary: SweepSummary, options: CommonOptions): string[] {
  const { name, groups } = summary;
  const runs = runsOf(fleet, name);
  const answers = answersIn(runs, summary);
  const widest = Math.max(0, ...groups.map((group) => group.name.length));
  return [
    [`${name}: ${stateOf(fleet, name, runs)}`, progressLine(runs), ...timeWords(fleet, runs)].join(' · '),
    ...groups.flatMap((group) => {
      const own = runs.filter((run) => run.group === group.name);
      const cap = capOf(fleet, name, group.name);
      const further = cap === undefined ? '' : `, further ones until there are ${cap}`;
      const answer = answers.find(({ group: answered }) => answered === null || answered === group.name);
      const best = answer === undefined ? null : briefAnswer(answer.answer);
      return [
        `  ${group.name.padEnd(widest)}  ${countsLine(own)}${further}${group.title === null ? '' : `  ${displayText(group.title)}`}`,
        ...(best === null ? [] : [`  ${' '.repeat(widest)}  best ${displayText(best)}`]),
      ];
    }),
    ...failureLines(runs),
    ...nextLines(nextSteps(name, runs, answers, runsWords(options))),
  ];
}

function runsWords({ runs }: CommonOptions): string[] {
  return runs === undefined ? [] : ['--runs', runs];
}

/** `  next    memrl-tui logs abcd/A_s0   how one of those that failed ended`: a line for each. */
function nextLines(steps: readonly NextStep[]): string[] {
  const widest = Math.max(0, ...steps.map(({ command }) => command.length));
  return steps.map(({ command, why }) => `  next    ${command.padEnd(widest)}   ${why}`);
}

/** Limit on the kinds of failure that are told. */
const MOST_KINDS = 3;

/** `  failed  6 × ValueError: …, with lr=1 (6 of 6 runs, else 0 of 12; p < 1e-3)`: a line for each kind. */
function failureLines(runs: readonly RunSummary[]): string[] {
  const kinds = errorKinds(runs);
  const rest = kinds.length - MOST_KINDS;
  return [
    ...kinds.slice(0, MOST_KINDS).map((kind) => `  failed  ${failureSentence(kind)}`),
    ...(rest > 0 ? [`          and ${rest} other kinds`] : []),
  ];
}

function answersIn(runs: readonly RunSummary[], sweep: SweepSummary): readonly GroupAnswer[] {
  return answersOf(runs, sweep, { fromSeeds: computedFromSeeds(sweep.directory) }).answers;
}

/** `3m12s, 2-4m left`: the time in which a run was up, and the estimate of the time left. */
function timeWords(fleet: Fleet, runs: readonly RunSummary[]): string[] {
  const now = Date.now();
  const busy = busyTimeOf(runs);
  const words = [
    ...(busy === null ? [] : [shortDuration(busyMs(busy, now))]),
    ...leftWords(timeLeft(fleet, runs, now)),
  ];
  return words.length === 0 ? [] : [words.join(', ')];
}

/** A sweep for scripts; the format is stable. Times are ISO 8601. */
function sweepStatus(fleet: Fleet, summary: SweepSummary, options: CommonOptions): object {
  const { name, groups } = summary;
  const runs = runsOf(fleet, name);
  const left = timeLeft(fleet, runs, Date.now());
  const answers = answersIn(runs, summary);
  return {
    sweep: name,
    state: stateOf(fleet, name, runs),
    etaSeconds: left === null ? null : Math.round(left.middle),
    etaRange: left === null ? null : [Math.floor(left.low), Math.ceil(left.high)],
    problem: fleet.status.problem,
    read: fleet.status.recalled,
    slots: slotsStatus(fleet.status),
    groups: groups.map((group) => ({
      name: group.name,
      title: group.title,
      counts: countsOf(runs.filter((run) => run.group === group.name)),
      growsTo: capOf(fleet, name, group.name) ?? null,
    })),
    answers: answers.map(answerJson),
    failures: errorKinds(runs).map(reportedFailure),
    next: nextSteps(name, runs, answers, runsWords(options)),
    runs: runs.map(runStatus),
  };
}

/** `held`: nothing starts until a user releases it. `ended`: all have ended, but not all are done. */
function stateOf(fleet: Fleet, sweep: string, runs: readonly RunSummary[]): 'running' | 'held' | 'done' | 'ended' {
  if (isGrowing(fleet, sweep)) return 'running';
  const has = (...states: RunSummary['state'][]) => runs.some(({ state }) => states.includes(state));
  if (has('queued', 'starting', 'running', 'paused', 'stopping')) return 'running';
  if (has('held')) return 'held';
  return has('failed', 'killed', 'lost') ? 'ended' : 'done';
}

/** The final number of runs in a group that grows. */
function capOf({ status }: Fleet, sweep: string, group: string): number | undefined {
  return status.growing?.find((growing) => growing.sweep === sweep && growing.group === group)?.cap;
}

function countsOf(runs: readonly RunSummary[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { state } of runs) counts[state] = (counts[state] ?? 0) + 1;
  return counts;
}
