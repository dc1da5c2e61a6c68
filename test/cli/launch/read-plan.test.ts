import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readPlan } from '../../../src/cli/launch/read.js';
import { removeFolder } from '../../remove-folder.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'memrl-read-plan-'));
});
afterEach(() => removeFolder(folder));

const row = `${JSON.stringify({ name: 'step', batch: 7, padding: 'x'.repeat(1000) })}\n`;
const ROWS = 8000;

/** A sweep of one run that was started, with these rows in the file of its done rule. */
function sweepWith(checkpoints: string): string {
  const path = join(folder, 'sweep.yaml');
  writeFileSync(
    path,
    `command: ['true']
parameters: { n_batches: 8 }
done: { file: checkpoints.jsonl, where: 'name == "final" && batch >= n_batches' }
`,
  );
  const { directory } = readPlan(path, { runs: folder }).plan.runs[0]!;
  mkdirSync(join(directory, 'attempts', '1'), { recursive: true });
  writeFileSync(join(directory, 'checkpoints.jsonl'), checkpoints);
  return path;
}

const standingIn = (path: string) => readPlan(path, { runs: folder }).planned[0]!.standing;

/** Bytes that this thread has read from files; null where the system does not count them. */
function bytesRead(): number | null {
  const counts = '/proc/thread-self/io';
  return existsSync(counts) ? Number(/^rchar: (\d+)$/m.exec(readFileSync(counts, 'utf8'))![1]) : null;
}

describe('what is left to do of a run whose checkpoints are a long file', () => {
  it.each<{ what: string; checkpoints: string; state: string }>([
    { what: 'its last row', checkpoints: `${row.repeat(ROWS)}{"name": "final", "batch": 8}\n`, state: 'done' },
    { what: 'its first row', checkpoints: `{"name": "final", "batch": 8}\n${row.repeat(ROWS)}`, state: 'done' },
    { what: 'no row', checkpoints: `{"name": "final", "batch": 7}\n${row.repeat(ROWS)}`, state: 'resume' },
  ])('is told by $what', ({ checkpoints, state }) => {
    expect(standingIn(sweepWith(checkpoints))).toMatchObject({ state });
  });

  it.runIf(bytesRead() !== null)('is told without reading it all, where its end says that it is done', () => {
    const checkpoints = `${row.repeat(ROWS)}{"name": "final", "batch": 8}\n`;
    const path = sweepWith(checkpoints);
    const before = bytesRead()!;
    expect(standingIn(path)).toMatchObject({ state: 'done' });
    expect(bytesRead()! - before).toBeLessThan(checkpoints.length / 2);
  });
});

describe('what is left to do of a run whose checkpoints are damaged', () => {
  it('is said with the line, and is all of it', () => {
    const path = sweepWith('garbage\n{"name": "final", "batch": 8}\n');
    expect(standingIn(path)).toEqual({
      state: 'resume',
      reason: 'line 1 of checkpoints.jsonl is not a row of JSON: correct or remove it',
    });
  });
});
