/**
 * Takes a picture of a program in a terminal.
 *
 *   npm run screenshot -- --size 160x48 --wait 'all 48' --keys 'down,down,enter' --after 'step' --out picture.png -- memrl-tui attach
 *
 * --wait and --after: regular expressions that some row of the screen must match, before the keys and after them.
 * --keys: names or characters, with commas between. --title: words in the window's bar. --timeout: seconds to wait (60).
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
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
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    size: { type: 'string', default: '120x40' },
    wait: { type: 'string', default: '.' },
    keys: { type: 'string', default: '' },
    after: { type: 'string', default: '.' },
    out: { type: 'string', default: 'screenshot.png' },
    title: { type: 'string', default: 'memrl-tui' },
    timeout: { type: 'string', default: '60' },
  },
});
const [command, ...args] = positionals;
if (command === undefined) {
  console.error('Say which command to take a picture of: npm run screenshot -- --out x.png -- COMMAND ARGUMENT…');
  process.exit(2);
}
const [columns, rows] = values.size.split('x').map(Number);
const environment = { ...process.env, TERM: 'xterm-256color', LANG: 'C.UTF-8', LC_ALL: undefined, NO_COLOR: undefined };
const terminal = openTerminal({ command, args, columns, rows, environment });
try {
  await seen(values.wait);
  for (const key of values.keys.split(',').filter((name) => name !== '')) {
    terminal.write(sequences[key] ?? key);
    await settled();
  }
  await seen(values.after);
  await settled();
  const svg = terminalSvg(terminal.emulator, values.title);
  writeFileSync(values.out, values.out.endsWith('.svg') ? svg : svgToPng(svg));
  console.log(`${values.out}: ${columns} × ${rows}`);
} finally {
  terminal.close();
}

function seen(pattern) {
  const wanted = new RegExp(pattern);
  return terminal.waitFor((lines) => lines.some((line) => wanted.test(line)), Number(values.timeout) * 1000);
}

/** Until nothing has been drawn for a quarter of a second, at most two seconds: a living screen is never still. */
function settled() {
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
