import { afterAll, beforeAll, describe, it } from 'vitest';
import type { KeyPreset } from '../../../src/tui/state/preferences-port.js';
import { bundledFile } from '../../bundled.js';
import { OneWindow } from '../keys/one-window.js';

let program: string;
beforeAll(async () => void (program = await bundledFile('test/tui/keys/program.ts')));

const firstRun = ['down', 'down'];
const running = ['3', 'down', 'down', 'down', 'down'];

/** From the list or from another screen: the keys that lead there, as in the default preset, then the one that is refused. */
type Refusal = readonly [from: readonly string[], key: string, why: string];

const inBoth: readonly Refusal[] = [
  [[], 'up', 'This is the first row.'],
  [['end'], 'down', 'This is the last row.'],
  [['left'], 'left', 'This group is folded already; → unfolds it.'],
  [firstRun, 'right', 'A run has nothing to unfold; Enter opens it.'],
  [[], 'escape', 'There is nothing to go back to; q detaches.'],
  [[], 'tab', 'Open a run first: Enter.'],
  [firstRun, 'r', 'A_bsweep_single_N1024_binary_s0 is done; there is nothing to resume.'],
  [['4'], 'R', 'No run of D has failed, been killed or lost.'],
  [running, 'r', 'C_dense_multi_N16_s2 is running.'],
  [[], 'E', 'Select a run to clone; this is a group.'],
  [[], 'y', 'Select a run to copy; this is a group.'],
  [[], 'D', 'Choose a GPU on the GPU screen first: d.'],
  [['d', 'end'], 'D', 'The CPU cannot be drained: - removes one of its slots, + adds one.'],
  [['d'], 'R', 'Go to a run first: Enter goes to the first one here.'],
  [['d'], 'enter', 'No run of this list is on GPU 0.'],
  [['d'], 'd', 'These are the GPUs; Esc goes back.'],
  [['S'], 'S', 'This is the sweep; Esc goes back.'],
  [['S'], 'y', 'y acts on the list of runs; Esc goes back to it.'],
  [['enter'], 'enter', 'It is open; Esc goes back.'],
  [['a'], 'Z', 'All of it is shown; z zooms in.'],
  [['end', 'a'], 'z', 'There is no chart to zoom into; select a run that has started.'],
  [[], 'n', 'Open a run and search its log first: Enter, then /.'],
  [[], '!', 'Select a run: a group has no log.'],
  [[], 'Q', 'Q does nothing here; ? shows the keys.'],
  [['m'], 'left', 'Choose with ↑ ↓ and Enter, or type part of the name; Esc keeps the metric.'],
];

const refusals: Record<KeyPreset, readonly Refusal[]> = {
  default: [
    ...inBoth,
    [[], 'k', 'k is for one run or for marked ones; K is for the group.'],
    [firstRun, 'k', 'A_bsweep_single_N1024_binary_s0 has ended already (done).'],
    [running, 'h', 'C_dense_multi_N16_s2 is running; p pauses it.'],
    [['end'], 'p', 'J_waits is not running; h holds it.'],
    [['c'], 'K', 'K acts on the list of runs; Esc goes back to it.'],
  ],
  vim: [
    ...inBoth,
    [[], 'x', 'x is for one run or for marked ones; X is for the group.'],
    [running, 'f', 'C_dense_multi_N16_s2 is running; p pauses it.'],
    [['end'], 'p', 'J_waits is not running; f holds it.'],
    [['c'], 'X', 'X acts on the list of runs; Esc goes back to it.'],
  ],
};

describe.each(['default', 'vim'] as const)('a key that does nothing says why: %s', (preset) => {
  const window = new OneWindow(preset);
  const back = ['escape', 'escape', '1', 'right', 'home'];
  afterAll(() => window.close());

  it.each(refusals[preset])('after %j: %s: %s', (from, key, why) =>
    window.use(program, key, [{ from, sees: [(screen) => screen.includes(why)], back }]),
  );
});
