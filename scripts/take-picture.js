/** Runs a command in a terminal, presses keys, and writes what a person would see as a PNG or SVG. */
import { writeFileSync } from 'node:fs';
import { openTerminal } from './terminal.js';
import { svgToPng, terminalSvg } from './terminal-picture.js';

const sequences = {
  up: '\u001b[A',
  down: '\u001b[B',
  right: '\u001b[C',
  left: '\u001b[D',
  home: '\u001b[H',
  end: '\u001b[F',
  pageup: '\u001b[5~',
  pagedown: '\u001b[6~',
  enter: '\r',
  escape: '\u001b',
  space: ' ',
  tab: '\t',
};

/**
 * @param {{ command: string, args?: readonly string[], size: string, wait?: string, keys?: readonly string[], after?: string,
 *           out: string, title?: string, timeoutMs?: number, cwd?: string, environment?: Record<string, string | undefined> }} scene
 *   `wait` and `after`: regular expressions that some row must match, before the keys and after them.
 *   `keys`: names (`down`, `enter`, …) or characters.
 */
export async function takePicture(scene) {
  const { command, args, size, wait = '.', keys = [], after = '.', out, title = 'memrl-tui', cwd } = scene;
  const [columns, rows] = size.split('x').map(Number);
  const look = { TERM: 'xterm-256color', LANG: 'C.UTF-8', LC_ALL: undefined, NO_COLOR: undefined };
  const environment = { ...process.env, ...look, ...scene.environment };
  const terminal = openTerminal({ command, args, columns, rows, cwd, environment });
  const seen = (pattern) => {
    const wanted = new RegExp(pattern);
    return terminal.waitFor((lines) => lines.some((line) => wanted.test(line)), scene.timeoutMs ?? 60_000);
  };
  try {
    await seen(wait);
    for (const key of keys) {
      terminal.write(sequences[key] ?? key);
      await settled(terminal);
    }
    await seen(after);
    await settled(terminal);
    const svg = terminalSvg(terminal.emulator, title);
    writeFileSync(out, out.endsWith('.svg') ? svg : svgToPng(svg));
    console.log(`${out}: ${columns} × ${rows}`);
  } finally {
    terminal.close();
  }
}

/** Until nothing has been drawn for a quarter of a second, at most two seconds: a living screen is never still. */
function settled(terminal) {
  return new Promise((resolve) => {
    const latest = setTimeout(done, 2000);
    let timer = setTimeout(done, 250);
    const unsubscribe = terminal.onDrawn(() => {
      clearTimeout(timer);
      timer = setTimeout(done, 250);
    });
    function done() {
      clearTimeout(timer);
      clearTimeout(latest);
      unsubscribe();
      resolve();
    }
  });
}
