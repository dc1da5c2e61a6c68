import { join } from 'node:path';
import { nextSteps } from '../../analysis/answer/next-steps.js';
import { answersOf, briefAnswer, type GroupAnswer } from '../../analysis/answer/sweep-answers.js';
import { errorKinds, type FailureKind } from '../../analysis/failures/failure-kinds.js';
import { busyMs, busyTimeOf } from '../../analysis/forecast/busy-time.js';
import { timeLeft } from '../../analysis/forecast/forecast.js';
import type { TimeRange } from '../../analysis/forecast/time-range.js';
import { healthText } from '../../analysis/health/finding.js';
import { groupBy } from '../../base/group-by.js';
import { gpuName } from '../../base/ids.js';
import { countStates, hasEnded, isUnhealthy, waitOf } from '../../base/run-words.js';
import type { Fleet, FleetStatus, RunSummary, SweepSummary } from '../../client/fleet.js';
import { runFiles } from '../../contract/files.js';
import { computedFromSeeds } from '../../files/sweep-folder.js';
import { lastLines } from '../../logs/log-source.js';
import { areRead } from '../../protocol/run-summary.js';
import { reportedFailure } from '../../report/report.js';
import { displayText, lineText, shortened } from '../../text/display-text.js';
import { shortDuration } from '../../text/duration.js';
import { versioned } from '../answers/answer-table.js';
import type { Answers } from '../answers/schemas.js';
import { knownSweeps, patienceOf, recalled, withFleet } from '../open-fleet.js';
import type { CommonOptions } from '../options.js';
import { countsLine, isGrowing, isOver, leftWords, progressLine, runsOf } from '../plain/watched-run.js';
import { answerJson } from '../show/answer-json.js';
import { slotLines } from '../show/slot-lines.js';
import { outputWidth, print, printAnswer } from '../terminal.js';

/**
 * `memrl-tui status [SWEEP]`: each sweep, or one, with its state, progress and groups, and the slots; `--json` prints a list with
 * a digest of each sweep.
 */
export async function status([sweep]: readonly string[], options: CommonOptions): Promise<number> {
  return withFleet(options, async (fleet) => {
    const sweeps = knownSweeps(fleet, sweep).map((name) => fleet.sweeps.get(name)!);
    await recalled(fleet, patienceOf(options));
    if (options.json === true) {
      printAnswer(
        'status',
        sweeps.map((summary) => digestJson(digestOf(fleet, summary, options))),
      );
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
  const digest = digestOf(fleet, summary, options);
  const runs = runsOf(fleet, summary.name);
  const widest = Math.max(0, ...digest.groups.map(({ name }) => name.length));
  return [
    [`${digest.sweep}: ${digest.state}`, progressLine(runs), ...timeWords(runs, digest)].join(' · '),
    ...digest.groups.flatMap(({ name, title, growsTo }) => {
      const own = runs.filter(({ group }) => group === name);
      const further = growsTo === null ? '' : `, further ones until there are ${growsTo}`;
      return [
        `  ${name.padEnd(widest)}  ${countsLine(own)}${further}${title === null ? '' : `  ${displayText(title)}`}`,
        ...bestOf(digest.answers, name).map((best) => `  ${' '.repeat(widest)}  best ${displayText(best)}`),
      ];
    }),
    ...failureLines(digest),
    ...digest.warnings.slice(0, MOST_KINDS).map(({ words, runs }) => `  warning ${runs} × ${displayText(words)}`),
    ...nextLines(digest),
  ];
}

function bestOf(answers: readonly GroupAnswer[], group: string): string[] {
  const answer = answers.find(({ group: answered }) => answered === null || answered === group);
  const best = answer === undefined ? null : briefAnswer(answer.answer);
  return best === null ? [] : [best];
}

/** `  next    memrl-tui logs abcd/A_s0   how one of those that failed ended`: a line for each. */
function nextLines({ next }: Digest): string[] {
  const widest = Math.max(0, ...next.map(({ command }) => command.length));
  return next.map(({ command, why }) => `  next    ${command.padEnd(widest)}   ${why}`);
}

/** Limit on the kinds of failure, and of warnings, that are told. */
const MOST_KINDS = 3;

/**
 * `  failed  6 × ValueError: …, with lr=1 (6 of 6 runs, else 0 of 12; p < 1e-3)`: a line for each kind, and the end of what one run
 * of the first has written.
 */
function failureLines({ failures }: Digest): string[] {
  const rest = failures.length - MOST_KINDS;
  return [
    ...failures
      .slice(0, MOST_KINDS)
      .flatMap(({ sentence, example, log = [] }) => [
        `  failed  ${sentence}`,
        ...log.map((line) => `          ${example} | ${line}`),
      ]),
    ...(rest > 0 ? [`          and ${rest} other kinds`] : []),
  ];
}

/** `3m12s, 2-4m left`: the time in which a run was up, and the estimate of the time left. */
function timeWords(runs: readonly RunSummary[], { left }: Digest): string[] {
  const busy = busyTimeOf(runs);
  const words = [...(busy === null ? [] : [shortDuration(busyMs(busy, Date.now()))]), ...leftWords(left)];
  return words.length === 0 ? [] : [words.join(', ')];
}

/** A sweep in `status --json`. */
type StatusAnswer = Answers['status'][number];
type Shared = StatusAnswer['waiting'][number];
type DigestedFailure = StatusAnswer['failures'][number];

/** All that a person or a program needs to know of a sweep at once: what `status --json` prints, before it is cut. */
type Digest = Omit<StatusAnswer, 'answers' | 'etaSeconds' | 'etaRange' | 'leftOut'> & {
  /** Null: nobody knows. */
  readonly left: TimeRange | null;
  readonly answers: readonly GroupAnswer[];
};

/** Lines of a log that are told. */
const LOG_LINES = 5;

/** The part of a fleet that a digest is made of. */
type DigestedFleet = Pick<Fleet, 'sweeps' | 'runs' | 'status' | 'connection'>;

export function digestOf(fleet: DigestedFleet, summary: SweepSummary, { runs: directory }: CommonOptions): Digest {
  const { name, groups } = summary;
  const runs = runsOf(fleet, name);
  const { answers } = answersOf(runs, summary, { fromSeeds: computedFromSeeds(summary.directory) });
  return {
    sweep: name,
    state: stateOf(fleet, name, runs),
    counts: countStates(runs),
    left: timeLeft(fleet, runs, Date.now()),
    problem: fleet.status.problem,
    read: areRead(runs, fleet.status.recalled),
    slots: slotsDigest(fleet.status),
    groups: groups.map((group) => ({
      name: group.name,
      title: group.title,
      counts: countStates(runs.filter((run) => run.group === group.name)),
      growsTo: capOf(fleet, name, group.name) ?? null,
    })),
    answers,
    failures: errorKinds(runs).map(digestedFailure),
    waiting: shared(runs, (run) => (run.state === 'held' ? run.reason : waitOf(run))),
    warnings: shared(runs, (run) => run.warning ?? (isUnhealthy(run) ? healthText(run) : null)),
    next: nextSteps(name, runs, answers, directory === undefined ? [] : ['--runs', directory]),
  };
}

function stateOf(fleet: DigestedFleet, sweep: string, runs: readonly RunSummary[]): StatusAnswer['state'] {
  const has = (...states: RunSummary['state'][]) => runs.some(({ state }) => states.includes(state));
  if (isGrowing(fleet, sweep)) return 'running';
  if (runs.every(({ state }) => hasEnded(state))) return has('failed', 'killed', 'lost') ? 'ended' : 'done';
  if (!isOver(fleet, runs)) return 'running';
  return has('held') ? 'held' : 'blocked';
}

/** The final number of runs in a group that grows. */
function capOf({ status }: DigestedFleet, sweep: string, group: string): number | undefined {
  return status.growing?.find((growing) => growing.sweep === sweep && growing.group === group)?.cap;
}

/** `up`: number of runs on a GPU; `slots --json` has all that is known of it. */
function slotsDigest({ cpu, gpus }: FleetStatus): StatusAnswer['slots'] {
  return { cpu, gpus: gpus.map(({ index, runs, drained }) => ({ gpu: gpuName(index), up: runs.length, drained })) };
}

function digestedFailure(kind: FailureKind<RunSummary>, place: number): DigestedFailure {
  const reported = reportedFailure(kind);
  if (place > 0) return reported;
  return { ...reported, log: lastLines(join(kind.runs[0]!.directory, runFiles.log), LOG_LINES) };
}

/** The runs by what is true of them; null: nothing. The most frequent first. */
function shared(runs: readonly RunSummary[], wordsOf: (run: RunSummary) => string | null): Shared[] {
  const told = runs.filter((run) => (wordsOf(run) ?? '') !== '');
  return [...groupBy(told, (run) => lineText(wordsOf(run)!))]
    .map(([words, own]) => ({ words, runs: own.length, example: own[0]!.name }))
    .sort((a, b) => b.runs - a.runs);
}

/** How much of a digest is told: numbers of entries of its lists, and of characters of a text. */
type Room = {
  readonly groups: number;
  readonly answers: number;
  readonly kinds: number;
  readonly lines: number;
  readonly gpus: number;
  readonly characters: number;
};

/** From much to little; the first that fits is taken. */
const rooms: readonly Room[] = [
  { groups: 12, answers: 4, kinds: 3, lines: LOG_LINES, gpus: 16, characters: 240 },
  { groups: 8, answers: 3, kinds: 3, lines: 3, gpus: 8, characters: 120 },
  { groups: 4, answers: 2, kinds: 2, lines: 2, gpus: 8, characters: 80 },
  { groups: 2, answers: 1, kinds: 1, lines: 1, gpus: 2, characters: 60 },
  { groups: 0, answers: 0, kinds: 1, lines: 0, gpus: 0, characters: 40 },
];

/** Limit on a digest as it is printed, in bytes. */
export const DIGEST_BYTES = 4000;

/** A digest for programs, however many runs there are. */
export function digestJson(digest: Digest): StatusAnswer {
  const told = rooms.map((room) => () => digestIn(digest, room));
  const isShort = (answer: StatusAnswer) =>
    Buffer.byteLength(JSON.stringify(versioned('status', answer), null, 2)) <= DIGEST_BYTES;
  const fitting = told.find((digested) => isShort(digested()));
  return (fitting ?? told.at(-1)!)();
}

function digestIn(digest: Digest, { groups, answers, kinds, lines, gpus, characters }: Room): StatusAnswer {
  const leftOut: Record<string, number> = {};
  const first = <Entry>(list: string, all: readonly Entry[], most: number): readonly Entry[] => {
    if (all.length > most) leftOut[list] = all.length - most;
    return all.slice(0, most);
  };
  const { slots, failures, left, ...rest } = digest;
  const told = {
    ...{ ...rest, ...etaOf(left) },
    slots: { ...slots, gpus: first('gpus', slots.gpus, gpus) },
    groups: first('groups', digest.groups, groups),
    answers: first('answers', digest.answers, answers).map(briefly),
    failures: first('failures', failures, kinds).map(({ log, ...kind }) =>
      log === undefined ? kind : { ...kind, log: lines === 0 ? [] : log.slice(-lines) },
    ),
    waiting: first('waiting', digest.waiting, kinds),
    warnings: first('warnings', digest.warnings, kinds),
  };
  const { next, sweep, ...shortened } = { ...told, leftOut };
  return { sweep, ...withShortTexts(shortened, characters), next };
}

function etaOf(left: TimeRange | null): { etaSeconds: number | null; etaRange: [number, number] | null } {
  if (left === null) return { etaSeconds: null, etaRange: null };
  return { etaSeconds: Math.round(left.middle), etaRange: [Math.floor(left.low), Math.ceil(left.high)] };
}

/** An answer without the list of all settings, which `best --json` has. */
function briefly(answer: GroupAnswer): StatusAnswer['answers'][number] {
  const { best, runnerUp, candidates, broken, sentences, ...brief } = answerJson(answer);
  return {
    ...brief,
    ...{
      settings: candidates.length + broken.length,
      tied: candidates.slice(1).filter(({ tied }) => tied === true).length,
    },
    ...{ best: withoutNames(best), runnerUp: withoutNames(runnerUp) },
    sentence: briefAnswer(answer.answer) ?? sentences[0] ?? null,
  };
}

function withoutNames(setting: ReturnType<typeof answerJson>['best']): StatusAnswer['answers'][number]['best'] {
  if (setting === null) return null;
  const { parameters, median, interval, runs, broken } = setting;
  return { parameters, median, interval, n: runs.length, broken };
}

/** The same value with its texts cut. */
function withShortTexts<Value>(value: Value, most: number): Value {
  const shortIn = (each: unknown): unknown => {
    if (typeof each === 'string') return shortened(each, most);
    if (Array.isArray(each)) return each.map(shortIn);
    if (typeof each !== 'object' || each === null) return each;
    return Object.fromEntries(Object.entries(each).map(([key, part]) => [key, shortIn(part)]));
  };
  return shortIn(value) as Value;
}
