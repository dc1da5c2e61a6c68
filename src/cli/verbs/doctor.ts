import { tmpdir } from 'node:os';
import { describeSources, hasMetrics } from '../../metrics/describe-sources.js';
import { openMetrics } from '../../metrics/run-metrics.js';
import { capabilitiesOf } from '../../tui/capabilities.js';
import { themeFor } from '../../tui/theme.js';
import type { Tone } from '../../tui/view/span.js';
import type { Checked, Place } from '../doctor/check.js';
import { checks, examine } from '../doctor/checks.js';
import { doctorLines } from '../doctor/doctor-lines.js';
import { metricsLines } from '../doctor/metrics-lines.js';
import { definedEnvironment, type LaunchOptions, runsPath } from '../options.js';
import { runDirectory } from '../sweep-directory.js';
import { isTerminal, leave, outputWidth, print, printJson, terminalSize } from '../terminal.js';

/**
 * `memrl-tui doctor`: looks at what runs depend on here, and says how to fix what is wrong. Starts and changes nothing;
 * needs no runs directory. Gives 0 when nothing is bad, else 2.
 */
export async function doctor(
  options: Pick<LaunchOptions, 'runs' | 'json' | 'ascii'> & { metrics?: string },
): Promise<number> {
  if (options.metrics !== undefined) return doctorMetrics(options.metrics, options);
  const { checks: checked, gaveUp } = await examine(checks, placeOf(options));
  const exitCode = checked.some(({ state }) => state === 'bad') ? 2 : 0;
  if (options.json === true) printJson({ ok: exitCode === 0, checks: checked });
  else printLines(checked, options.ascii ?? false);
  // What hangs on a file system that is away would keep the program from ending.
  if (gaveUp) leave(exitCode);
  return exitCode;
}

/** `--metrics RUN`: where the metrics of a run are found. Gives 0 when there are some, else 2. */
async function doctorMetrics(run: string, { runs, json }: Pick<LaunchOptions, 'runs' | 'json'>): Promise<number> {
  const directory = runDirectory(runsPath(runs), run);
  const report = describeSources(await openMetrics(directory).readToEnd(pause));
  if (json === true) printJson({ directory, ...report });
  else print(metricsLines(directory, report, outputWidth()));
  return hasMetrics(report) ? 0 : 2;
}

/** Lets Ctrl-C through. */
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
  const { colours, ascii } = capabilitiesOf(process.env, wantsAscii);
  const theme = themeFor({ colours: isTerminal() ? colours : 'none', ascii });
  const look = (tone: Tone) => (isTerminal() ? theme.sgr(tone, 'none') : '');
  const lines = doctorLines(checked, outputWidth());
  print(lines.map((line) => line.map(({ text, tone }) => ({ text: theme.glyphs(text), look: look(tone) }))));
}
