import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BestAgainstBaseline, type Contest } from '../../../../src/tui/screens/parameters/best-against-baseline.js';
import { plainText } from '../../../../src/tui/surface/span.js';
import { render } from '../../render.js';
import { faults, seen } from './pictures.js';

const contest: Contest = {
  best: {
    word: 'best',
    name: 'A_lr1e-4_s0',
    parameters: { same: 3, lr: 1e-4, optimizer: 'adam', batch: 64, layers: [1, 2], flag: true, also: 'x' },
    metrics: { 'eval/loss': 0.059, acc: 0.91 },
    overSeeds: [0.059, 0.071, 0.062],
  },
  baseline: {
    word: 'baseline',
    name: 'A_base_s0',
    parameters: { same: 3, lr: 1e-3, optimizer: 'sgd', batch: 64, layers: [1, 3], flag: 'true', also: 'x', warmup: 10 },
    metrics: { 'eval/loss': 0.12, acc: null },
    overSeeds: [0.12],
  },
  metrics: [
    { key: 'eval/loss', direction: 'minimize' },
    { key: 'acc', direction: null },
  ],
};

function drawn(shown: Contest, width: number, height: number) {
  const room = { width, height, top: 0, notes: [], isScrolled: false };
  return render(<BestAgainstBaseline contest={shown} {...room} />, width, height);
}

describe('the best run against the baseline', () => {
  it('says what it gained, then what differs, then the rest', () => {
    expect(seen(drawn(contest, 90, 13))).toMatchSnapshot();
  });

  it('tells a text from the value it looks like, and what is not passed', () => {
    const lines = drawn(contest, 90, 20).map(plainText);
    const at = (name: string) => lines.findIndex((line) => line.startsWith(` ${name} `));
    for (const name of ['lr', 'optimizer', 'layers', 'flag', 'warmup']) expect(at(name)).toBeLessThan(at('same'));
    expect(lines[at('warmup')]).toMatch(/– +10/);
  });

  it('colours a gain only where somebody says which way is better', () => {
    const tones = (key: string, direction: 'minimize' | 'maximize' | null) => {
      const only = { ...contest, metrics: [{ key, direction }] };
      return drawn(only, 90, 20)[2]!.map(({ tone }) => tone);
    };
    expect(tones('eval/loss', 'minimize')).toContain('good');
    expect(tones('eval/loss', 'maximize')).toContain('bad');
    expect(tones('eval/loss', null)).not.toContain('good');
  });

  it('fits any room, and says how much it hides', () => {
    const room = fc.record({ width: fc.integer({ min: 40, max: 200 }), height: fc.integer({ min: 1, max: 20 }) });
    fc.assert(
      fc.property(room, ({ width, height }) => {
        expect(faults(drawn(contest, width, height), width)).toEqual([]);
      }),
      { numRuns: 50 },
    );
    expect(plainText(drawn(contest, 60, 8).at(-1)!)).toContain('6 more ↓');
  });
});
