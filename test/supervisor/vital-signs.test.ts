import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PlannedRun } from '../../src/spec/planned-run.js';
import { VitalSigns } from '../../src/supervisor/vital-signs.js';
import { plan } from './testbed.js';

let directory: string;
beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'vitals-'))));
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const add = (...rows: string[]) =>
  appendFileSync(join(directory, 'metrics.jsonl'), rows.map((row) => `${row}\n`).join(''));

function signsOf(run: Partial<PlannedRun> = {}, since = 0): VitalSigns {
  return new VitalSigns(plan('/', 's', [{ directory, ...run }]).runs[0]!, since);
}

/** Reads at this time and says what is seen. */
function at(signs: VitalSigns, now: number) {
  signs.refresh(now);
  return signs.vitals(now);
}

describe('the vital signs of a run', () => {
  it('are unknown before its first row', () => {
    const vitals = at(signsOf(), 1000);
    expect(vitals).toEqual({ metrics: {}, progress: null, etaSeconds: null, spark: [], health: 'ok' });
  });

  it('tell how far it is and how long it takes, by its pace since it took up', () => {
    const metrics = { show: [], x: 'step', progress: { key: 'step', total: 100 } };
    const signs = signsOf({ metrics }, 0);
    add('{"step": 50}');
    expect(at(signs, 10_000)).toMatchObject({ progress: 0.5, etaSeconds: 10 });
    // A resumed run came with its first half: only what was added since counts.
    add('{"step": 60}');
    expect(at(signs, 30_000)).toMatchObject({ progress: 0.6, etaSeconds: 80 });
    add('{"step": 250}');
    expect(at(signs, 40_000)).toMatchObject({ progress: 1, etaSeconds: 0 });
  });

  it('use the share that our own lab writes where the sweep file names no progress', () => {
    add('{"step": 1, "progress/done_frac": 0.25}');
    expect(at(signsOf(), 1000).progress).toBe(0.25);
  });

  it('show the first metric that is there of those wanted', () => {
    add('{"step": 1, "loss": 3}', '{"step": 2, "loss": 2}');
    const metrics = { show: ['bits', 'loss'], x: 'step', progress: null };
    expect(at(signsOf({ metrics }), 1000)).toMatchObject({ spark: [3, 2], metrics: { step: 2, loss: 2 } });
  });

  it.each([
    { row: '{"loss": NaN}', health: 'nan' },
    { row: '{"train/loss": null}', health: 'nan' },
    { row: '{"explained_variance": NaN}', health: 'ok' },
    { row: '{"loss": 1}', health: 'ok' },
  ])('are $health after $row', ({ row, health }) => {
    add(row);
    expect(at(signsOf(), 1000).health).toBe(health);
  });

  it('are stalled after a silence that is long for this run', () => {
    const signs = signsOf();
    add('{"step": 1}', '{"step": 2}');
    expect(at(signs, 2000).health).toBe('ok');
    expect(at(signs, 61_000).health).toBe('ok');
    expect(at(signs, 62_001).health).toBe('stalled');
    add('{"step": 3}');
    expect(at(signs, 63_000).health).toBe('ok');
    const slow = signsOf();
    expect(at(slow, 60_000).health).toBe('ok');
    expect(at(slow, 300_000).health).toBe('ok');
  });

  it('count the rows that meet the rule, from the first again when the file is replaced', () => {
    const signs = signsOf({ stopWhen: { when: 'loss < limit', for: 2 }, parameters: { limit: 1 } });
    add('{"loss": 0.5}');
    at(signs, 1);
    expect(signs.ruleMet).toBeNull();
    writeFileSync(join(directory, 'metrics.jsonl'), '{"loss": 0.4, "x": 1}\n');
    at(signs, 2);
    expect(signs.ruleMet).toBeNull();
    add('{"loss": 0.3}');
    at(signs, 3);
    expect(signs.ruleMet).toBe('loss < limit');
  });
});
