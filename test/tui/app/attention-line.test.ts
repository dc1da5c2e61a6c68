import { afterEach, describe, expect, it } from 'vitest';
import type { RunSummary } from '../../../src/tui/state/port.js';
import type { WindowStore } from '../../../src/tui/app/window-store.js';
import { attentionLine } from '../../../src/tui/app/frame.js';
import { plainText } from '../../../src/tui/surface/span.js';
import { aWindow, frameOf, screenText } from '../frames.js';
import { aRun, aSweep, memorySweep, SimulatedFleet } from '../simulated-fleet.js';

let open: WindowStore[] = [];
afterEach(() => {
  open.forEach((store) => store.close());
  open = [];
});

const groups = ['warmup', 'lr', 'late'].map((name) => ({ name, title: null, needs: [] }));
const held = 'held: 3 runs in a row failed within 10 s of starting; `release` them once the cause is fixed';
const oom = (seed: number) => `RuntimeError: CUDA out of memory. Tried to allocate 2.${seed}0 GiB`;

const inLr = (name: string, lr: number, over: Partial<RunSummary>) =>
  aRun(`lr_${name}`, { group: 'lr', parameters: { lr, seed: name.length, steps: 60 }, ...over });
const ended = { attempt: 1, startedAt: 0, endedAt: 9000 };
const doneRuns = ['a', 'bb', 'ccc'].map((name) => inLr(name, 0.1, { ...ended, state: 'done' }));
const failedRuns = ['d', 'ee', 'fff'].map((name, seed) =>
  inLr(name, 1, { ...ended, state: 'failed', reason: oom(seed) }),
);
const heldRuns = ['g', 'hh'].map((name) => inLr(name, 1, { state: 'held', heldBy: 'breaker', reason: held }));
const queued = aRun('warmup_x', { group: 'warmup', reason: 'waiting for a slot (2 of 2 busy)' });
const tripped = [queued, ...doneRuns, ...failedRuns, ...heldRuns];

function windowOf(runs: readonly RunSummary[], fleet = new SimulatedFleet([aSweep({ groups })], runs)): WindowStore {
  const store = aWindow({ fleet, files: memorySweep().files, now: 1_000_000 });
  open.push(store);
  store.resize(120, 40);
  frameOf(store);
  return store;
}

/** What the third row of the window says in so many columns. */
const said = (store: WindowStore, width = 120): string => plainText(attentionLine(store.model(), width)).trimEnd();

describe('the line of what needs a person', () => {
  it.each<{ of: string; runs: readonly RunSummary[]; line: string }>([
    {
      of: 'runs that wait for a line',
      runs: [aRun('lr_1', { state: 'running', input: 'lines', reason: 'waits for input' }), queued],
      line: ' ◫ 1 waits for input',
    },
    { of: 'nothing', runs: [queued, ...doneRuns], line: '' },
    {
      of: 'one failure, in its own words',
      runs: [...doneRuns, failedRuns[1]!],
      line: ` ✗ 1 failed: ${oom(1)}   F shows them`,
    },
    {
      of: 'failures of several kinds, the commonest of them',
      runs: [...failedRuns, inLr('z', 1, { state: 'failed', reason: 'ValueError: bad shape' })],
      line: ' ✗ 4 failed, 3 of them: RuntimeError: CUDA out of memory. Tried to allocate # GiB   F shows them',
    },
    {
      of: 'runs with which something is wrong, the worst first',
      runs: [
        aRun('lr_1', { state: 'running', health: 'silent' }),
        aRun('lr_2', { state: 'done', health: 'diverged' }),
        aRun('lr_3', { state: 'running', health: 'diverging' }),
        aRun('lr_4', { state: 'done', health: 'limit' }),
      ],
      line: ' ! 1 diverging, 1 diverged, 1 over limit, 1 silent   F shows them',
    },
    {
      of: 'what cannot start',
      runs: [aRun('late_1', { reason: 'needs warmup, which failed' })],
      line: ' ○ 1 cannot start: needs warmup, which failed',
    },
    {
      of: 'what waits for nodes that are drained',
      runs: [
        aRun('late_1', {
          state: 'starting',
          reason: 'Slurm job 3_0 waits (nodes take no jobs: n1 since 02:23: cables)',
        }),
      ],
      line: ' ○ 1 cannot start: nodes take no jobs: n1 since 02:23: cables',
    },
    {
      of: 'what somebody holds, once nothing else is left',
      runs: [...doneRuns, inLr('x', 2, { state: 'held', heldBy: 'person', reason: 'held' })],
      line: ' ‖ 1 held, the rest has ended   H continues',
    },
    {
      of: 'what somebody holds while others run',
      runs: [queued, inLr('x', 2, { state: 'held', heldBy: 'person', reason: 'held' })],
      line: '',
    },
  ])('says $of', ({ runs, line }) => {
    expect(said(windowOf(runs))).toBe(line);
  });

  it('says what is held and why, what the failures share, and the keys, as far as there is room', () => {
    const store = windowOf([...tripped, aRun('late_1', { state: 'done', health: 'diverged' })]);
    const lines = [160, 120, 80, 60, 40].map((width) => said(store, width));
    expect(lines.join('\n')).toMatchInlineSnapshot(`
      " ‖ 2 held in lr: 3 runs in a row failed, all with lr=1: RuntimeError: CUDA out of memory. Tried…   ! 1 diverged   F shows them  2 H continues
       ‖ 2 held in lr: 3 runs in a row failed, all with lr=1   ! 1 diverged   F shows them  2 H continues
       ‖ 2 held in lr, all with lr=1   ! 1 diverged   F shows them  2 H continues
       ‖ 2 held in lr (lr=1)   F shows them  2 H continues
       ‖ 2 held   F shows them  2 H continues"
    `);
  });

  it('does not say of failures what runs that are done have as well', () => {
    const alike = tripped.map((run) => ({
      ...run,
      parameters: { ...run.parameters, lr: run.name.length > 4 ? 1 : 2 },
    }));
    expect(said(windowOf(alike))).not.toContain('all with');
    // The runs that were tried first are alike in what the file varies last.
    expect(said(windowOf(tripped.filter(({ state }) => state !== 'done')))).not.toContain('all with');
  });

  it('names the keys that continue from where the selection is', () => {
    const store = windowOf(tripped);
    expect(said(store)).toMatch(/2 H continues$/);
    store.press('2');
    expect(said(store)).toMatch(/ H continues$/);
    store.press('F');
    expect(said(store)).toMatch(/F back {2}H continues$/);
    ['F', 'g', ...'state', 'enter', 'end'].forEach((key) => store.press(key));
    store.press('home');
    expect(said(store)).toMatch(/F shows them {2}(H continues|: release group:lr)$/);
  });

  it.each<{ from: string; keys: string[]; asked: string }>([
    { from: 'a group that waits for a slot', keys: ['1', 'H'], asked: 'hold abcd/warmup_x' },
    { from: 'the held group', keys: ['2', 'H'], asked: 'release abcd/lr_g abcd/lr_hh' },
    { from: 'one run of it', keys: ['2', 'down', 'H'], asked: 'release abcd/lr_g abcd/lr_hh' },
    { from: 'the failures', keys: ['F', 'H'], asked: 'release abcd/lr_g abcd/lr_hh' },
  ])('means what it says: H from $from', ({ keys, asked }) => {
    const fleet = new SimulatedFleet([aSweep({ groups })], tripped);
    const store = windowOf(tripped, fleet);
    keys.forEach((key) => store.press(key));
    expect(fleet.asked).toEqual([asked]);
  });

  it('says nothing of keys where they do nothing', () => {
    const store = windowOf(tripped);
    store.press('d');
    expect(said(store)).toMatch(/^ ‖ 2 held in lr: 3 runs in a row failed, all with lr=1: RuntimeError: CUDA.*…$/);
  });

  it('stands in the window, unless the supervisor is kept from its work', () => {
    const store = windowOf(tripped);
    expect(screenText(store)[2]).toContain('2 held in lr: 3 runs in a row failed');
    store.resize(60, 20);
    expect(screenText(store)[0]).toMatch(/‖2 ✓3 ✗3 +F shows them {2}2 H continues +\d+%$/);
  });
});
