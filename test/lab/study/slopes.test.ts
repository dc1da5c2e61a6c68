import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readStudy } from '../../../src/contract/study.js';
import { memrl } from '../program.js';
import { tempDirectory } from '../temp-directory.js';

type Measured = { readonly updates: number; readonly odds: number; readonly slope: number };

function writeRun(sweep: string, name: string, rate: number, rows: readonly Measured[]): void {
  const directory = join(sweep, name);
  mkdirSync(directory, { recursive: true });
  const record = { name, group: 'rate', subgroup: null, parameters: { learning_rate: rate, seed: name } };
  const attempts = [{ number: 1, outcome: { kind: 'done' } }];
  writeFileSync(join(directory, 'run.json'), JSON.stringify({ ...record, attempts }));
  const config = { learning_rate: rate, load_checkpoint_path: 'warmup' };
  writeFileSync(join(directory, 'config.json'), JSON.stringify(config));
  const lines = rows.map(({ updates, odds, slope }, step) =>
    JSON.stringify({ step, 'optim/updates': updates, 'test/log_odds': odds, 'test/slope': slope }),
  );
  writeFileSync(join(directory, 'metrics.jsonl'), `${lines.join('\n')}\n`);
}

async function tablesOf(sweep: string) {
  await memrl(['study', sweep]);
  return readStudy(readFileSync(join(sweep, 'study.json'), 'utf8'))!;
}

describe('a study of runs that measured their slope', () => {
  it('compares the updates predicted from the slope with those that were needed, also for runs that never knew the answer', async () => {
    const sweep = join(tempDirectory(), 'law');
    const known = [
      { updates: 0, odds: -4, slope: 400 },
      { updates: 10, odds: -1, slope: 300 },
      { updates: 20, odds: 1, slope: 200 },
    ];
    for (const name of ['a', 'b']) writeRun(sweep, name, 1e-3, known);
    writeRun(sweep, 'c', 2e-3, known.slice(0, 2));
    const { tables, figures } = await tablesOf(sweep);
    const rows = tables[0]!.rows.map(({ cells }) =>
      cells.map((cell) => (typeof cell === 'object' ? (cell?.text ?? '') : String(cell))),
    );
    // −4 nats at 400 a unit of a rate of 0.001 are 10 updates; odds are even half-way between 10 and 20.
    expect(rows).toEqual([
      [
        'rate',
        'learning_rate=0.001',
        '2',
        '2',
        '400 [400, 400]',
        '15 [15, 15]',
        '10 [10, 10]',
        '0.667 [0.667, 0.667]',
        '0.0150 [0.0150, 0.0150]',
      ],
      ['rate', 'learning_rate=0.002', '1', '0', '400 [400, 400]', '∞ [∞, ∞]', '5 [5, 5]', '0 [0, 0]', '∞ [∞, ∞]'],
    ]);
    expect(figures[0]!.series[0]).toMatchObject({ name: 'rate', x: [10], y: [15] });
  });

  it('draws log-odds over rate × updates when settings differ only in the learning rate', async () => {
    const sweep = join(tempDirectory(), 'law');
    for (const [rate, every] of [
      [1e-3, 40],
      [2e-3, 20],
      [4e-3, 10],
    ] as const) {
      const rows = [0, 1, 2, 3].map((at) => ({ updates: at * every, odds: 2 * at - 4, slope: 400 }));
      for (const name of ['a', 'b']) writeRun(sweep, `${name}${rate}`, rate, rows);
    }
    const { figures } = await tablesOf(sweep);
    expect(figures.map(({ title }) => title)).toContain('The answer over rate × updates: rate');
    const { series } = figures.find(({ title }) => title.startsWith('The answer'))!;
    expect(series.map(({ name }) => name)).toEqual([
      'learning_rate=0.001',
      'learning_rate=0.002',
      'learning_rate=0.004',
    ]);
    // One curve: log-odds −4 at nothing, 2 nats more for each .04.
    for (const { x, y } of series) {
      expect(x.at(-1)).toBeCloseTo(0.12);
      x.forEach((each, at) => expect(y[at]).toBeCloseTo(-4 + (2 * each!) / 0.04));
    }
  });
});
