import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { MeasuredRun } from '../../../../src/analysis/parameters/parameter-importance.js';
import { seededRandom } from '../../../../src/analysis/parameters/seeded-random.js';
import {
  ImportanceProgress,
  importanceRows,
  ImportanceSection,
} from '../../../../src/tui/screens/parameters/importance-section.js';
import { plainText } from '../../../../src/tui/surface/span.js';
import { parameterImportance } from '../../../analysis/parameters/at-once.js';
import { render, textOf } from '../../render.js';
import { aSweep, faults } from './pictures.js';

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

type View = Parameters<typeof ImportanceSection>[0]['view'];
const section = (of: View, width: number, height: number) => (
  <ImportanceSection view={of} width={width} height={height} />
);
const seen = (of: View, width: number, height: number) =>
  `\n${textOf(section(of, width, height), width, height).join('\n')}\n`;

describe('what matters', () => {
  it('is told by bars, with where each leads and where it is best', () => {
    expect(seen(view, 110, 20)).toMatchSnapshot();
  });

  it('keeps the parameter under the cursor in sight', () => {
    const { parameters } = importance as Extract<typeof importance, { kind: 'measured' }>;
    const last = parameters.length - 1;
    const text = seen({ ...view, at: last }, 60, 8);
    expect(text).toContain(`▸${parameters[last]!.name}`);
  });

  it('says so where parameters explain no more than chance', () => {
    const chance = seededRandom(5);
    const noise = runs.map((run) => ({ ...run, objective: chance() }));
    const told = parameterImportance({ runs: noise, goal: null }, seededRandom(1));
    const text = seen({ ...view, importance: told }, 100, 12);
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
    expect(seen({ ...view, importance: told }, 100, 12)).toContain(words);
  });

  it('fits any room', () => {
    const room = fc.record({ width: fc.integer({ min: 40, max: 200 }), height: fc.integer({ min: 1, max: 30 }) });
    fc.assert(
      fc.property(room, fc.option(fc.nat(3)), ({ width, height }, at) => {
        const lines = render(section({ ...view, at }, width, height), width, height + 9);
        const used = lines.findLastIndex((line) => plainText(line).trim() !== '') + 1;
        expect(Math.min(used, height)).toBe(importanceRows({ ...view, at }, { width, height }));
        expect(faults(lines, width)).toEqual([]);
      }),
      { numRuns: 50 },
    );
  });

  it('says how far it is while trees grow', () => {
    const full = (done: number) =>
      (textOf(<ImportanceProgress objective="loss" done={done} width={60} />, 60, 5)[1]!.match(/━/g) ?? []).length;
    expect([full(0), full(0.5), full(1)]).toEqual([0, 20, 40]);
  });
});
