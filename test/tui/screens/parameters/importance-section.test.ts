import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { MeasuredRun } from '../../../../src/analysis/parameters/parameter-importance.js';
import { seededRandom } from '../../../../src/analysis/parameters/seeded-random.js';
import { importanceProgress, importanceSection } from '../../../../src/tui/screens/parameters/importance-section.js';
import { lineWidth, plainText } from '../../../../src/tui/surface/span.js';
import { parameterImportance } from '../../../analysis/parameters/at-once.js';
import { aSweep, faults, seen } from './pictures.js';

const { lr, optimizer, batch, loss } = aSweep(150);
const runs = loss.values.map((objective, run): MeasuredRun => {
  const parameters: Record<string, string | number> = {
    lr: lr.values[run] as number,
    optimizer: optimizer.values[run] as string,
    batch_size: batch.values[run] as number,
    tokens: Number(batch.values[run]) * 128,
    seed: run % 3,
    output: `runs/${run}`,
  };
  return { parameters, objective: objective as number };
});
const importance = parameterImportance({ runs, goal: 'minimize' }, seededRandom(1));
const view = { importance, objective: 'eval/loss', at: 0, isChosen: false };

describe('what matters', () => {
  it('is told by bars, with where each leads and where it is best', () => {
    expect(seen(importanceSection(view, { width: 110, height: 20 }))).toMatchSnapshot();
  });

  it('keeps the parameter under the cursor in sight', () => {
    const { parameters } = importance as Extract<typeof importance, { kind: 'measured' }>;
    const last = parameters.length - 1;
    const text = seen(importanceSection({ ...view, at: last }, { width: 60, height: 8 }));
    expect(text).toContain(`▸${parameters[last]!.name}`);
  });

  it('says so where parameters explain no more than chance', () => {
    const chance = seededRandom(5);
    const noise = runs.map((run) => ({ ...run, objective: chance() }));
    const told = parameterImportance({ runs: noise, goal: null }, seededRandom(1));
    const text = seen(importanceSection({ ...view, importance: told }, { width: 100, height: 12 }));
    expect(text).toContain('No parameter explains more than chance would');
    expect(text).toContain('not explained 100 %');
    expect(text).not.toContain('best');
  });

  it.each([
    { what: 'few runs', some: runs.slice(0, 5), words: '8 are needed' },
    {
      what: 'equal runs',
      some: runs.map((run) => ({ ...run, objective: 1 })),
      words: 'All runs came to the same value',
    },
    { what: 'no parameters', some: runs.map((run) => ({ ...run, parameters: {} })), words: 'No parameter varies' },
  ])('says why it says nothing of $what', ({ some, words }) => {
    const told = parameterImportance({ runs: some, goal: null }, seededRandom(1));
    expect(seen(importanceSection({ ...view, importance: told }, { width: 100, height: 12 }))).toContain(words);
  });

  it('fits any room', () => {
    const room = fc.record({ width: fc.integer({ min: 40, max: 200 }), height: fc.integer({ min: 1, max: 30 }) });
    fc.assert(
      fc.property(room, fc.option(fc.nat(3)), (size, at) => {
        const lines = importanceSection({ ...view, at }, size);
        expect(lines.length).toBeLessThanOrEqual(size.height);
        expect(faults(lines, size.width)).toEqual([]);
        for (const line of lines) expect(lineWidth(line)).toBe(size.width);
      }),
    );
  });

  it('says how far it is while trees grow', () => {
    const full = (done: number) =>
      (plainText(importanceProgress('loss', done, { width: 60, height: 5 })[1]!).match(/━/g) ?? []).length;
    expect([full(0), full(0.5), full(1)]).toEqual([0, 20, 40]);
  });
});
