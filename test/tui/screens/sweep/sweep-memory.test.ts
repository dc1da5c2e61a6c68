import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { summarise } from '../../../../src/analysis/memory-summary.js';
import { judge } from '../../../../src/analysis/verdict.js';
import type { RunSummary } from '../../../../src/tui/state/port.js';
import { memoryFacts, memoryRows } from '../../../../src/tui/screens/sweep/sweep-memory.js';
import { aRun } from '../../simulated-fleet.js';

const theory = { 'theory/signal_bits': 10, 'theory/channel_bits_per_episode': 3 };
const columns = { 'test/bits/answer_raw': 9.9, 'progress/episodes': 400 };

describe('a run of a memory sweep', () => {
  it.each<{ when: string; run: Partial<RunSummary>; facts: object | null }>([
    { when: 'says its theory', run: { metrics: { ...columns, ...theory } }, facts: { secretBits: 10, ceiling: 3 } },
    {
      when: 'is credited with less than its channel carries',
      run: { metrics: { ...columns, ...theory, 'theory/credit_bits_per_episode': 2 } },
      facts: { secretBits: 10, ceiling: 2 },
    },
    {
      when: 'learns from examples, each of which says the whole secret',
      run: { metrics: { 'test/bits/answer_raw': 1, 'progress/examples': 8 }, parameters: { N: 64 } },
      facts: { secretBits: 6, ceiling: 6 },
    },
    {
      when: 'is paid by the distance, and its ceiling is that of the report',
      run: { metrics: columns, parameters: { N: 16, env_type: 'single_step', reward_type: 'log_distance' } },
      facts: { secretBits: 4, ceiling: 3.5625 },
    },
    {
      when: 'is paid bit by bit and credited with the sum, whatever its channel carries',
      run: {
        metrics: { ...columns, 'theory/signal_bits': 4, 'theory/channel_bits_per_episode': 4 },
        parameters: { N: 16, env_type: 'multi_step', advantages: 'trajectory' },
      },
      facts: { secretBits: 4, ceiling: Math.log2(5) },
    },
    { when: 'does not say what it could know', run: { metrics: columns }, facts: null },
    { when: 'is some other run', run: { metrics: { 'optim/loss': 1 }, parameters: { N: 64 } }, facts: null },
  ])('$when', ({ run, facts }) => {
    expect(memoryFacts(aRun('A_x', run))).toEqual(facts);
  });
});

describe('bits per episode', () => {
  const state = fc.constantFrom<RunSummary['state']>('done', 'done', 'failed', 'running', 'queued');
  const bits = fc.constantFrom(-4, 0, 5, 9.4, 9.5, 9.9, 10);
  const seeds = fc.array(fc.record({ state, y: fc.array(bits, { maxLength: 8 }) }), { minLength: 1, maxLength: 5 });

  it('are those of the summary table', () => {
    fc.assert(
      fc.property(seeds, (drawn) => {
        const runs = drawn.map(({ state: now }, seed) =>
          aRun(`A_x_s${seed}`, { subgroup: 'x', state: now, metrics: { ...columns, ...theory } }),
        );
        const curves = new Map(
          drawn.map(({ y }, seed) => {
            const x = Float64Array.from(y, (_, index) => (index + 1) * 100);
            return [runs[seed]!.id, { x, y: Float64Array.from(y) }] as const;
          }),
        );
        const [row] = memoryRows(runs, ({ id }) => curves.get(id)!);
        const verdicts = drawn.map(({ state: now, y }) => {
          const evaluations = y.map((known, index) => ({ step: index, episodes: (index + 1) * 100, bits: known }));
          const judged = {
            secretBits: 10,
            secret: null,
            state: now === 'done' || now === 'failed' || now === 'queued' ? now : 'running',
          } as const;
          return judge({ evaluations, greedy: null }, judged);
        });
        const task = { condition: { kind: 'binned', bins: 8 }, N: 1024, secret: null, perStep: 4 } as const;
        const wanted = summarise({ group: 'A', task, extra: {}, verdicts });
        expect(row).toMatchObject({
          runs: runs.length,
          memorised: wanted.counts.memorised,
          episodes: wanted.medianOfAll,
        });
        expect(row!.bits).toEqual(wanted.bitsPerEpisode);
        expect(row!.ceiling).toBe(wanted.ceiling.bits);
      }),
    );
  });

  it('are not known before the curves have been read', () => {
    const run = aRun('A_x', { state: 'done', metrics: { ...columns, ...theory } });
    expect(memoryRows([run], () => undefined)).toMatchObject([{ bits: null, isRead: false, known: 9.9 }]);
    expect(memoryRows([run], () => null)).toMatchObject([{ bits: null, isRead: true, memorised: 0 }]);
    expect(memoryRows([{ ...run, state: 'running' }], () => undefined)).toMatchObject([{ isRead: true }]);
  });
});
