import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readStudy } from '../../../src/contract/study.js';
import { pooledNoiseScale } from '../../../src/lab/study/noise-scale.js';
import { writeStudy } from '../../../src/lab/study/study.js';
import { pageFigures } from '../../../src/report/page/page.js';
import { readPageData } from '../../../src/report/page/page-data.js';
import { removeFolder } from '../../remove-folder.js';
import { type Facts, sweepIn } from '../../report/sweep-in-test.js';

const root = mkdtempSync(join(tmpdir(), 'training-figures-'));
afterAll(() => removeFolder(root));
let sweeps = 0;

function sweepOf(runs: readonly Facts[]): string {
  return sweepIn(join(root, `s${sweeps++}`), runs);
}

/** The figures of its study by title; none: nothing was written. */
function figuresOf(sweep: string) {
  const path = writeStudy(sweep);
  const { figures } = path === null ? { figures: [] } : readStudy(readFileSync(path, 'utf8'))!;
  return new Map(figures.map((figure) => [figure.title, figure]));
}

/** A run of a hundred steps that earns so much and moves so far. */
function run(name: string, strength: string, rowOf: (step: number) => object): Facts {
  return { name, parameters: { strength }, rows: Array.from({ length: 100 }, (_, step) => ({ step, ...rowOf(step) })) };
}

describe('the frontier of reward against KL', () => {
  const frontier = 'Reward against KL, main';
  const weak = run('weak', 'weak', (step) => ({ reward: step / 100, kl: step / 25 }));
  const strong = run('strong', 'strong', (step) => ({ reward: step / 200, kl: step / 400 }));

  it('has a line of tenths for each run, over the root of the KL, and a point at its end', () => {
    const { series } = figuresOf(sweepOf([weak, strong])).get(frontier)!;
    expect(series.map(({ name, kind }) => [name, kind])).toEqual([
      ...[
        ['strength=strong', 'line'],
        ['strength=strong', 'points'],
      ],
      ...[
        ['strength=weak', 'line'],
        ['strength=weak', 'points'],
      ],
    ]);
    const [, end] = series.filter(({ name }) => name === 'strength=weak');
    // The last tenth is of the steps 90 to 99: its mean step is 94.5.
    expect(end!.y[0]).toBeCloseTo(0.945, 12);
    expect(end!.x[0]).toBeCloseTo(Math.sqrt(94.5 / 25), 12);
    const line = series.find(({ name, kind }) => name === 'strength=weak' && kind === 'line')!;
    expect(line.x).toHaveLength(11);
    expect(line.x.at(-1)).toBeNull();
  });

  it('counts a KL estimate below zero as zero', () => {
    const { series } = figuresOf(sweepOf([run('a', 'x', () => ({ reward: 1, kl: -1 }))])).get(frontier)!;
    expect(series[1]!.x).toEqual([0]);
  });

  it.each(['reward', 'kl'])('is not drawn for a group that does not log %s', (missing) => {
    const rows = [weak, strong].map(({ rows: all, ...facts }) => {
      return { ...facts, rows: all!.map((row) => ({ ...(row as object), [missing]: undefined })) };
    });
    expect(figuresOf(sweepOf(rows)).size).toBe(0);
  });

  it('is drawn on the page of the report', async () => {
    const sweep = sweepOf([weak, strong]);
    writeStudy(sweep);
    const names = pageFigures(await readPageData(sweep, { objective: null })).map(({ name }) => name);
    expect(names).toContain('study-reward-against-kl-main');
  });
});

/** A sweep of a run that trained, with measurements of its noise and evaluated checkpoints. */
function measuredSweep(): string {
  const sweep = sweepOf([
    {
      name: 'learn',
      rows: Array.from({ length: 40 }, (_, at) => ({
        ...{ step: at, gns_G2: 2 + (at % 2), gns_tr_sigma: 50 },
        ...{ gns_two_sizes_G2: 2.5, gns_two_sizes_tr_sigma: 50 + (at % 3) },
      })),
    },
  ]);
  const place = join(sweep, 'learn/evaluation/sums/temp1_p1_r8');
  const rows = [0, 16].map((at) => JSON.stringify({ step: at, 'pass@1_unbiased': 0.5 + at / 100, ent_mean: 0.1 }));
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, 'metrics.jsonl'), `${rows.join('\n')}\n`);
  return sweep;
}

describe('figures of noise and of checkpoints', () => {
  it('have a point for each quarter of the training by both estimators, with its interval', () => {
    const { series } = figuresOf(measuredSweep()).get('Gradient noise scale, main')!;
    expect(series.map(({ name, y }) => [name, y.length])).toEqual([
      ['microbatches of the step', 4],
      ['two batch sizes, other prompts', 4],
    ]);
    // Ten measurements, half of them of a signal of 2 and half of 3.
    expect(series[0]!.y[0]).toBeCloseTo(50 / 2.5, 12);
    expect(series[0]!.lo![0]).toBeLessThan(20);
    expect(series[0]!.hi![0]).toBeGreaterThan(20);
  });

  it('have the pass rate and the entropy of each evaluated checkpoint', () => {
    const figures = figuresOf(measuredSweep());
    expect(figures.get('pass@1 over the steps, main')!.series).toMatchObject([
      { name: 'learn', x: [0, 16], y: [0.5, 0.66] },
    ]);
    expect(figures.get('Entropy over the steps, main')!.series).toMatchObject([{ y: [0.1, 0.1] }]);
  });

  it('include an evaluation made after the run has ended', () => {
    const sweep = measuredSweep();
    writeStudy(sweep);
    const more = JSON.stringify({ step: 32, 'pass@1_unbiased': 1, ent_mean: 0.2 });
    writeFileSync(
      join(sweep, 'learn/evaluation/sums/temp1_p1_r8/metrics.jsonl'),
      `${more}\n${more.replace('32', '48')}\n`,
    );
    expect(figuresOf(sweep).get('pass@1 over the steps, main')!.series[0]!.x).toEqual([32, 48]);
  });
});

describe('the noise scale of several measurements', () => {
  it('is mean noise divided by mean signal, with the error of the jackknife', () => {
    const pooled = pooledNoiseScale([
      { signal: 1, noise: 10 },
      { signal: 3, noise: 10 },
    ])!;
    expect(pooled.scale).toBe(5);
    // Without one of both: 10/3 and 10, half of whose squared distance is the variance.
    expect(pooled.standardError).toBeCloseTo(Math.sqrt(((10 - 10 / 3) ** 2 / 2) * 0.5), 12);
  });

  it('is unknown when a mean is not above zero, or for a single measurement', () => {
    expect(pooledNoiseScale([{ signal: 1, noise: 1 }])).toBeNull();
    expect(pooledNoiseScale([{ signal: 1, noise: 1 }, { signal: -2, noise: 1 }])).toBeNull(); // prettier-ignore
  });
});
