/**
 * Takes a picture of a program in a terminal.
 *
 *   npm run screenshot -- --size 160x48 --wait 'all 48' --keys 'down,down,enter' --after 'step' --out picture.png -- memrl-tui attach
 *
 * --wait and --after: regular expressions that some row of the screen must match, before the keys and after them.
 * --keys: names or characters, with commas between. --title: words in the window's bar. --timeout: seconds to wait (60).
 */
import { readArguments } from './arguments.js';
import { takePicture } from './take-picture.js';

const { values, positionals } = readArguments({
  size: { type: 'string', default: '120x40' },
  wait: { type: 'string', default: '.' },
  keys: { type: 'string', default: '' },
  after: { type: 'string', default: '.' },
  out: { type: 'string', default: 'screenshot.png' },
  title: { type: 'string', default: 'memrl-tui' },
  timeout: { type: 'string', default: '60' },
});
const [command, ...args] = positionals;
if (command === undefined) {
  console.error('Say which command to take a picture of: npm run screenshot -- --out x.png -- COMMAND ARGUMENT…');
  process.exit(2);
}
const { keys, timeout, ...scene } = values;
const pressed = keys.split(',').filter((name) => name !== '');
await takePicture({ ...scene, command, args, keys: pressed, timeoutMs: Number(timeout) * 1000 });
