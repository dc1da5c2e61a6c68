import { describe, expect, it } from 'vitest';
import { Bell } from '../../../src/tui/model/attention.js';
import { aRun } from '../simulated-fleet.js';

const running = aRun('A_a', { state: 'running' });
const failed = aRun('A_a', { state: 'failed' });
const alsoFailed = aRun('A_b', { state: 'failed' });

describe('the bell', () => {
  it('rings when a run fails, once for those that fail together', () => {
    const bell = new Bell();
    expect(bell.hear([running], false, 0)).toBe(false);
    expect(bell.hear([failed], false, 1000)).toBe(true);
    expect(bell.hear([failed, alsoFailed], false, 2000)).toBe(false);
  });

  it('rings at the end of the sweep, not again while it stays so', () => {
    const bell = new Bell();
    bell.hear([running], false, 0);
    expect(bell.hear([aRun('A_a', { state: 'done' })], true, 1000)).toBe(true);
    expect(bell.hear([aRun('A_a', { state: 'done' })], true, 60_000)).toBe(false);
  });

  it('does not ring for what failed before the window was opened', () => {
    expect(new Bell().hear([failed], true, 0)).toBe(false);
  });
});
