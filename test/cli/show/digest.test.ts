import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DIGEST_BYTES, digestJson, digestOf } from '../../../src/cli/verbs/status.js';
import type { RunSummary } from '../../../src/client/fleet.js';
import { runFiles } from '../../../src/contract/files.js';
import { aRun, aSweep, SimulatedFleet } from '../../tui/simulated-fleet.js';

let folder = '';
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'memrl-digest-'))));
afterEach(() => rmSync(folder, { recursive: true }));

const digested = (runs: readonly RunSummary[], groups: readonly string[]) => {
  const sweep = aSweep({
    groups: groups.map((name) => ({ name, title: `${name}: ${'what this group is for, '.repeat(9)}`, needs: [] })),
    objective: { name: 'loss', goal: 'minimize' },
  });
  const digest = digestOf(new SimulatedFleet([sweep], runs), sweep, {});
  return { digest, json: digestJson(digest) };
};

/** Runs in settings of a rate and a width; those with rate=1 fail, each in words of its own kind. */
function manyRuns(count: number, groups: number): RunSummary[] {
  return Array.from({ length: count }, (_, n): RunSummary => {
    const parameters = { lr: [0.1, 0.5, 1][n % 3]!, width: 2 ** (n % 7), data: 'a long path/'.repeat(30), seed: n };
    const run = aRun(`g${n % groups}_${n}`, { group: `group${n % groups}`, parameters, directory: folder, attempt: 1 });
    if (n % 3 === 2)
      return { ...run, state: 'failed', reason: `${'no room for this '.repeat(9)}${'abcdefg'[n % 7]!.repeat(9)}` };
    return { ...run, state: 'done', metrics: { loss: n % 3 }, warning: n % 5 === 0 ? 'w'.repeat(500) : null };
  });
}

describe('the digest of a sweep', () => {
  it.each([
    { runs: 5000, groups: 1 },
    { runs: 5000, groups: 60 },
    { runs: 40, groups: 40 },
  ])('of $runs runs in $groups groups keeps its limit, and says what it leaves out', ({ runs, groups }) => {
    writeFileSync(join(folder, runFiles.log), `${'x'.repeat(5000)}\n`.repeat(9));
    const names = Array.from({ length: groups }, (_, n) => `group${n}`);
    const { json } = digested(manyRuns(runs, groups), names);
    expect(JSON.stringify(json, null, 2).length).toBeLessThanOrEqual(DIGEST_BYTES);
    const { leftOut, groups: told } = json;
    expect(told.length + (leftOut['groups'] ?? 0)).toBe(groups);
    expect(json).toMatchObject({ state: 'ended', counts: { failed: Math.floor(runs / 3) } });
  });

  it('of a small sweep is all there is, in full', () => {
    writeFileSync(join(folder, runFiles.log), 'step 1\nTraceback\nValueError: no\n');
    const { digest, json } = digested(
      [
        ...[0, 1, 2].map((seed) =>
          aRun(`a${seed}`, { parameters: { lr: 0.1, seed }, state: 'done', metrics: { loss: 0.1 } }),
        ),
        ...[0, 1, 2].map((seed) =>
          aRun(`b${seed}`, {
            parameters: { lr: 1, seed },
            state: 'failed',
            reason: 'ValueError: no',
            directory: folder,
          }),
        ),
        aRun('c', { state: 'held', reason: 'held: 3 failed', heldBy: 'breaker' }),
      ],
      [],
    );
    expect(digest.failures).toHaveLength(1);
    expect(json).toMatchObject({
      counts: { done: 3, failed: 3, held: 1 },
      failures: [{ error: 'ValueError: no', runs: 3, example: 'b0', log: ['step 1', 'Traceback', 'ValueError: no'] }],
      waiting: [{ words: 'held: 3 failed', runs: 1, example: 'c' }],
      leftOut: {},
    });
    expect(digest.next.map(({ command }) => command)).toContain('memrl-tui release sweep:abcd status:held');
  });
});
