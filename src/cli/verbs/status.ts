import { type GroupAnswer, briefAnswer } from '../../analysis/answer/sweep-answers.js';
import { busyMs, busyTimeOf } from '../../analysis/forecast/busy-time.js';
import type { Fleet, RunSummary, SweepSummary } from '../../client/fleet.js';
import { displayText } from '../../text/display-text.js';
import { shortDuration } from '../../text/duration.js';
import { knownSweeps, patienceOf, recalled, withFleet } from '../open-fleet.js';
import type { CommonOptions } from '../options.js';
import { countsLine, leftWords, progressLine } from '../plain/progress-line.js';
import { runsOf } from '../plain/watched-run.js';
import { type Digest, digestJson, digestOf } from '../show/digest.js';
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
