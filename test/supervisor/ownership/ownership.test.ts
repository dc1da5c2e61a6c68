import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { readWrittenFiles } from '../../../src/files/run-directory/supervisor-notes.js';
import { emptyState } from '../../../src/scheduler/state.js';
import type { PlannedRun } from '../../../src/spec/planned-run.js';
import { Ownership } from '../../../src/supervisor/ownership/ownership.js';
import { removeFolder } from '../../remove-folder.js';
import { plan, waitFor } from '../testbed.js';

let folder: string;
let ownership: Ownership;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ownership-'));
  mkdirSync(join(folder, 'runs'));
});
afterEach(() => {
  ownership.close();
  removeFolder(folder);
});

/** Runs that work in folders of their own. */
function following(names: string[]): PlannedRun[] {
  const { runs } = plan(
    join(folder, 'runs'),
    's',
    names.map((name) => ({ name, cwd: join(folder, name) })),
  );
  for (const { cwd } of runs) mkdirSync(cwd);
  const state = emptyState();
  state.sweeps.set('s', new Set(runs.map(({ id }) => id)));
  ownership = new Ownership({
    ...{ state, executor: { rootOf: () => null }, warnings: { set: vi.fn() }, log: vi.fn(), now: () => Date.now() },
    plannedRuns: { of: (id) => runs.find((each) => each.id === id) ?? null },
  });
  return runs;
}

const write = ({ cwd }: PlannedRun) => writeFileSync(join(cwd, 'metrics.csv'), 'step,loss\n0,2\n');
const filesOf = ({ directory }: PlannedRun) => readWrittenFiles(directory)?.files.length ?? 0;

it('looks at a run in its first seconds, though another has been up for so long that it is hardly looked at', async () => {
  const [old, young] = following(['old', 'young']) as [PlannedRun, PlannedRun];
  const longAgo = Date.now() - 3_600_000;
  ownership.started(old, 1, { since: longAgo, first: longAgo });
  write(old);
  await waitFor('the old one to be looked at', () => filesOf(old) === 1);
  ownership.started(young, 1, { since: Date.now(), first: Date.now() });
  write(young);
  await waitFor('the young one to be looked at', () => filesOf(young) === 1);
});

it('has looked at what a run wrote when its end is told, and at all that is left before it is closed', () => {
  const [first, second] = following(['first', 'second']) as [PlannedRun, PlannedRun];
  const now = Date.now();
  for (const run of [first, second]) ownership.started(run, 1, { since: now, first: now });
  write(second);
  ownership.ended(second, Date.now());
  expect(ownership.isQuiet).toBe(false);
  ownership.close();
  expect(ownership.isQuiet).toBe(true);
  expect(filesOf(second)).toBe(1);
});
