import { tmpdir } from 'node:os';
import { capabilitiesOf } from '../../tui/terminal/capabilities.js';
import { themeFor } from '../../tui/terminal/theme.js';
import type { Tone } from '../../tui/widgets/span.js';
import type { Checked, Place } from '../doctor/check.js';
import { checks, examine } from '../doctor/checks.js';
import { doctorLines } from '../doctor/doctor-lines.js';
import { definedEnvironment, type LaunchOptions, runsPath } from '../options.js';
import { isTerminal, leave, outputWidth, print, printJson, terminalSize } from '../terminal.js';

/**
 * `memrl-tui doctor`: looks at what runs depend on here, and says how to fix what is wrong. Starts and changes nothing;
 * needs no runs directory. Gives 0 when nothing is bad, else 2.
 */
export async function doctor(options: Pick<LaunchOptions, 'runs' | 'json' | 'ascii'>): Promise<number> {
  const { checks: checked, gaveUp } = await examine(checks, placeOf(options));
  const exitCode = checked.some(({ state }) => state === 'bad') ? 2 : 0;
  if (options.json === true) printJson({ ok: exitCode === 0, checks: checked });
  else printLines(checked, options.ascii ?? false);
  // What hangs on a file system that is away would keep the program from ending.
  if (gaveUp) leave(exitCode);
  return exitCode;
}

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
