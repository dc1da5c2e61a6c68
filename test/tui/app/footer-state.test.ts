import { afterEach, describe, expect, it } from 'vitest';
import { keysLine } from '../../../src/tui/app/mount-app.js';
import type { WindowStore } from '../../../src/tui/app/window-store.js';
import type { RunSummary } from '../../../src/tui/state/port.js';
import { plainText } from '../../../src/tui/surface/span.js';
import { aWindow, frameOf } from '../frames.js';
import { aRun, aSweep, memorySweep, SimulatedFleet } from '../simulated-fleet.js';

let open: WindowStore[] = [];
afterEach(() => {
  open.forEach((store) => store.close());
  open = [];
});

const failed = aRun('A_f', { state: 'failed', attempt: 1, reason: 'OSError: full', endedAt: 5 });
const done = aRun('A_d', { state: 'done', attempt: 1, endedAt: 5 });
const running = aRun('A_r', { state: 'running', attempt: 1, startedAt: 0, metrics: { loss: 1 } });
const queued = aRun('A_q');
const held = aRun('A_h', { state: 'held', heldBy: 'person', reason: 'held' });

/** The keys in the footer after some keys, of a list of these runs in their order. */
function hints(runs: readonly RunSummary[], ...keys: string[]): string {
  const groups = [{ name: 'A', title: null, needs: [] }];
  return hintsOf(new SimulatedFleet([aSweep({ groups })], runs), ...keys);
}

function hintsOf(fleet: SimulatedFleet, ...keys: string[]): string {
  const store = aWindow({ fleet, files: memorySweep().files, now: 1_000_000 });
  open.push(store);
  store.resize(240, 40);
  frameOf(store);
  keys.forEach((key) => store.press(key));
  return plainText(keysLine(store.model(), 240));
}

describe('the footer', () => {
  it('offers nothing that acts on runs where one only looks', () => {
    const fleet = new SimulatedFleet([aSweep({ groups: [{ name: 'A', title: null, needs: [] }] })], [running, failed]);
    expect(hintsOf(fleet, 'down')).toMatch(/kill/);
    fleet.status = { ...fleet.status, readOnly: 'This window only looks.' };
    expect(hintsOf(fleet, 'down')).toMatch(/Enter open.*m metric/);
    expect(hintsOf(fleet, 'down')).not.toMatch(/kill|hold|resume|pause/);
  });

  it.each<{ of: string; runs: RunSummary[]; keys?: string[]; has: RegExp; lacks: RegExp }>([
    { of: 'a finished run', runs: [done], keys: ['down'], has: /Enter open/, lacks: /kill|resume|hold|pause/ },
    { of: 'a failed run', runs: [failed], keys: ['down'], has: /r resume .*F failures/, lacks: /kill|hold|pause/ },
    {
      of: 'a running run',
      runs: [running],
      keys: ['down'],
      has: /k kill .*p pause .*m metric/,
      lacks: /resume|hold|F /,
    },
    { of: 'a queued run', runs: [queued], keys: ['down'], has: /k kill .*h hold/, lacks: /resume|pause/ },
    { of: 'a held run', runs: [held], keys: ['down'], has: /h release/, lacks: /hold/ },
    { of: 'a group that is done', runs: [done], has: /Enter open/, lacks: /kill|resume|hold|pause/ },
    { of: 'a group', runs: [done, failed, running], has: /K kill group {2}R resume group/, lacks: /k kill|H / },
    { of: 'one marked run', runs: [done, running], keys: ['down', 'space'], has: /Enter open/, lacks: /compare|kill/ },
    {
      of: 'two marked runs',
      runs: [done, running],
      keys: ['down', 'space', 'down', 'space'],
      has: /k kill .*c compare/,
      lacks: /kill group/,
    },
    { of: 'the failures', runs: [failed], keys: ['F'], has: /F all runs/, lacks: /F failures/ },
  ])('offers what makes sense for $of', ({ runs, keys = [], has, lacks }) => {
    const text = hints(runs, ...keys);
    expect(text).toMatch(has);
    expect(text).not.toMatch(lacks);
  });
});
