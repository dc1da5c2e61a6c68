import { tmpdir } from 'node:os';
import {
  describeSources,
  hasMetrics,
  type MetricsReport,
  type ReportLine,
  reportLines,
} from '../../metrics/describe-sources.js';
import { openMetrics } from '../../metrics/run-metrics.js';
import { wrap } from '../../text/wrap.js';
import { type Line, span, type Tone } from '../../tui/surface/span.js';
import { themeFor } from '../../tui/surface/theme.js';
import { capabilitiesOf } from '../../tui/terminal/capabilities.js';
import { exitCodes } from '../answers/exit-codes.js';
import { type Check, type Checked, type Finding, type Place, warn } from '../doctor/check.js';
import { memory, openFiles, processes, watches } from '../doctor/limits.js';
import { clock, git, gpus, mps, node, python } from '../doctor/machine.js';
import { durability, place, socketFolder, space, stateFolder, supervisor } from '../doctor/runs-directory.js';
import { nodeCheck, slurmChecks } from '../doctor/slurm.js';
import { cgroups, hostConfig, logout, secrets } from '../doctor/survival.js';
import { characters, multiplexer, preferences, terminal } from '../doctor/terminal.js';
import { topics } from '../doctor/topics.js';
import { definedEnvironment, type LaunchOptions, runsPath } from '../options.js';
import { own } from '../ports.js';
import { runDirectory } from '../sweep-directory.js';
import { isTerminal, leave, outputWidth, print, printAnswer, terminalSize } from '../terminal.js';

/**
 * `memrl-tui doctor`: checks what runs depend on here, and tells how to fix problems. Changes nothing, and starts nothing except,
 * with `--slurm`, a very short job; needs no runs directory. Returns 0 when nothing is bad, else 2.
 */
export async function doctor(
  options: Pick<LaunchOptions, 'runs' | 'json' | 'ascii'> & { metrics?: string; slurm?: boolean },
): Promise<number> {
  if (options.metrics !== undefined) return doctorMetrics(options.metrics, options);
  const { checks: checked, gaveUp } = await examine(options.slurm ? [...checks, nodeCheck] : checks, placeOf(options));
  const exitCode = checked.some(({ state }) => state === 'bad') ? exitCodes.refused : exitCodes.done;
  if (options.json === true) printAnswer('doctor', { ok: exitCode === 0, checks: checked });
  else printLines(checked, options.ascii ?? false);
  // A check that hangs on an unavailable file system would keep the program from ending.
  if (gaveUp) leave(exitCode);
  return exitCode;
}

/** `--metrics RUN`: shows where the metrics of a run are found. Returns 0 when there are some, else 2. */
async function doctorMetrics(run: string, { runs, json }: Pick<LaunchOptions, 'runs' | 'json'>): Promise<number> {
  const directory = runDirectory(runsPath(runs), run);
  const report = describeSources(await openMetrics(directory).readToEnd(pause));
  if (json === true) printAnswer('doctor-metrics', { directory, ...report });
  else print(metricsLines(directory, report, outputWidth()));
  return hasMetrics(report) ? exitCodes.done : exitCodes.refused;
}

/** Yields, so that Ctrl-C is handled. */
const pause = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function placeOf(options: Pick<LaunchOptions, 'runs'>): Place {
  return {
    runsDirectory: runsPath(options.runs),
    environment: { TMPDIR: tmpdir(), ...definedEnvironment() },
    size: terminalSize(),
    uid: process.getuid?.() ?? 0,
  };
}

function printLines(checked: readonly Checked[], wantsAscii: boolean): void {
  const { colours, ascii } = capabilitiesOf(own().env, wantsAscii);
  const theme = themeFor({ colours: isTerminal() ? colours : 'none', ascii });
  const look = (tone: Tone) => (isTerminal() ? theme.sgr(tone, 'none') : '');
  const lines = doctorLines(checked, outputWidth());
  print(lines.map((line) => line.map(({ text, tone }) => ({ text: theme.glyphs(text), look: look(tone) }))));
}

const looks: Record<Finding['state'], { glyph: string; tone: Tone }> = {
  ok: { glyph: '✓', tone: 'good' },
  warn: { glyph: '!', tone: 'warn' },
  bad: { glyph: '✗', tone: 'bad' },
};

/** Columns before the finding: margin, glyph and blank. */
const MARGIN = 4;
const GAP = 2;
/** Stands for a non-breaking blank; a private-use character that no finding contains. */
const UNBROKEN = '\uE000';
/** Longer lines are hard to read. */
const WIDEST = 100;

/** The findings by topic, beside the names, with the fixes below. No line is wider than `width`. */
export function doctorLines(checks: readonly Checked[], width: number): Line[] {
  const names = Math.max(...checks.map(({ name }) => name.length));
  const lines = topics.flatMap((topic) => {
    const own = checks.filter((check) => check.topic === topic);
    if (own.length === 0) return [];
    return [[span(topic, 'title')], ...own.flatMap((check) => rows(check, names, Math.min(width, WIDEST))), []];
  });
  return [...lines, verdict(checks)];
}

function rows({ name, state, found, fix }: Checked, names: number, width: number): Line[] {
  const indent = MARGIN + names + GAP;
  const { glyph, tone } = looks[state];
  const [first = '', ...rest] = wrapped(found, width - indent);
  const advice = fix === undefined ? [] : wrapped(fix, width - indent - 2);
  return [
    [span('  '), span(glyph, tone), span(` ${name.padEnd(names + GAP)}`, 'strong'), span(first, 'plain')],
    ...rest.map((text): Line => [span(' '.repeat(indent)), span(text, 'plain')]),
    ...advice.map((text, index): Line => [
      span(' '.repeat(indent)),
      span(index === 0 ? '→ ' : '  ', tone),
      span(text, 'dim'),
    ]),
  ];
}

/** Wraps a text, but not within a command in backticks, which is meant to be copied. */
function wrapped(text: string, width: number): string[] {
  const whole = text.replace(/`[^`]*`/g, (command) => command.replaceAll(' ', UNBROKEN));
  return wrap(whole, width, '').map((line) => line.replaceAll(UNBROKEN, ' '));
}

function verdict(checks: readonly Checked[]): Line {
  const count = (state: Finding['state']) => checks.filter((check) => check.state === state).length;
  const bad = count('bad');
  const warned = count('warn');
  const also = warned === 0 ? '' : `, ${things(warned)} could be improved`;
  if (bad > 0) return [span(`${things(bad)} must be fixed${also}.`, 'bad')];
  if (warned > 0) return [span(`Everything works${also}.`, 'warn')];
  return [span('No problems found.', 'good')];
}

function things(count: number): string {
  return count === 1 ? '1 thing' : `${count} things`;
}

/** The description of a run's metrics as lines of text. */
export function metricsLines(directory: string, report: MetricsReport, width: number): string[] {
  const [first, ...rest] = reportLines(report);
  return [...wrap(`${directory}: ${first!.text}`, width), ...rest.flatMap((line) => linesOf(line, width))];
}

function linesOf({ kind, text }: ReportLine, width: number): string[] {
  if (kind === 'gap') return [''];
  // Not wrapped, as it is meant to be copied.
  if (kind === 'code') return [`  ${text}`];
  return kind === 'plain' ? wrap(text, width) : wrap(text, width - 2).map((line) => `  ${line}`);
}

/** All checks of `doctor`, in the order of the output. */
export const checks: readonly Check[] = [
  ...[node, python, git, gpus, mps, clock],
  ...[terminal, characters, multiplexer, preferences],
  ...[place, space, durability, socketFolder, supervisor, stateFolder],
  ...[openFiles, processes, watches, memory],
  ...[cgroups, logout, hostConfig, secrets],
  ...slurmChecks,
];

/** `gaveUp`: a check did not return, and may keep the program from ending. */
type Examination = { checks: Checked[]; gaveUp: boolean };

const PATIENCE_MS = 2000;

/** Runs all checks at once, each within its time limit. Results are in the order of the list. Never rejects. */
export async function examine(checks: readonly Check[], place: Place): Promise<Examination> {
  let gaveUp = false;
  const checked = await Promise.all(
    checks.map(async (check): Promise<Checked> => {
      const finding = await within(check.patienceMs ?? PATIENCE_MS, look(check, place));
      if (finding === null) gaveUp = true;
      return { topic: check.topic, name: check.name, ...(finding ?? noAnswer(check)) };
    }),
  );
  return { checks: checked, gaveUp };
}

async function look(check: Check, place: Place): Promise<Finding> {
  try {
    return await check.look(place);
  } catch (error) {
    const reason = (error as Error).message.split('\n', 1)[0]!;
    return warn(`could not be checked: ${reason}`, 'Fix this unless it is intended.');
  }
}

function noAnswer({ name, patienceMs = PATIENCE_MS }: Check): Finding {
  return warn(
    `no answer within ${patienceMs / 1000} s`,
    `Find out what hangs: an unreachable file system, or a broken driver (${name}).`,
  );
}

function within(ms: number, work: Promise<Finding>): Promise<Finding | null> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(null), ms);
    void work.then((finding) => {
      clearTimeout(timer);
      resolve(finding);
    });
  });
}
