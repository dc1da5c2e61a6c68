import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { pooledNoiseScale } from '../../src/analysis/noise-scale.js';
import { pageFigures } from '../../src/report/page/page.js';
import { readPageData } from '../../src/report/page/page-data.js';
import { removeFolder } from '../remove-folder.js';
import { pageOf, sweepIn } from './sweep-in-test.js';

const root = mkdtempSync(join(tmpdir(), 'entropy-figures-'));
afterAll(() => removeFolder(root));

/** A step whose entropy changes by `slope` η, and is predicted well or badly. */
function step(slope: number, { isRight = true, hasKernel = false } = {}) {
  const entries = [1e-6, 1e-5, 1e-4].map((eta) => ({
    ...{ eta, delta_h_true: slope * eta, delta_h_controlled: slope * eta, controlled_error: 0.1 * eta },
    z: { controlled: isRight ? 0.3 : 5, without_denominator: 7 },
  }));
  return {
    approx: {
      ...{ delta_h_per_lr: slope, standard_error: 0.1 },
      ...{ without_denominator: slope / 2, without_denominator_error: 0.1 },
    },
    true: { entries },
    ...(hasKernel && { fisher: { kernel: [[4, 1, 0], [1, 4, 0], [0, 0, 1]], prompts: [0, 0, 1] } }), // prettier-ignore
  };
}

function write(path: string, text: string): void {
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, text);
}

/** Of a run that trained, with measurements of its noise and evaluated checkpoints, and one whose steps were measured. */
function sweep(name: string): string {
  const rows = Array.from({ length: 40 }, (_, at) => ({
    ...{ step: at, reward: 0.5, gns_G2: 2 + (at % 2), gns_tr_sigma: 50 },
    ...{ gns_two_sizes_G2: 2.5, gns_two_sizes_tr_sigma: 50 + (at % 3) },
  }));
  const path = sweepIn(join(root, name), [
    { name: 'learn', group: 'learn', rows },
    { name: 'measure', group: 'measure', rows: [{ step: 0, 'entropy/slope': 1 }] },
  ]);
  const evaluated = [0, 16].map((at) => JSON.stringify({ step: at, 'pass@1_unbiased': 0.5 + at / 100, ent_mean: 0.1 }));
  write(join(path, 'learn/evaluation/sums/temp1_p1_r8/metrics.jsonl'), `${evaluated.join('\n')}\n`);
  write(join(path, 'measure/run_00/results.json'), JSON.stringify(step(-2, { hasKernel: true })));
  write(join(path, 'measure/run_01/results.json'), JSON.stringify(step(3, { isRight: false })));
  return path;
}

describe('figures of entropy under a step', () => {
  it('are drawn of the results that the lab wrote: slopes, prediction and truth, noise, kernel, checkpoints', async () => {
    const figures = pageFigures(await readPageData(sweep('all'), { objective: null }));
    const of = (name: string) => figures.find((figure) => figure.name.includes(name))!.svg;
    // Three rates of two steps; a cell for each pair of answers; two checkpoints.
    expect(of('against').match(/<circle/g)).toHaveLength(6);
    expect(of('fisher').match(/<rect/g)!.length).toBeGreaterThanOrEqual(9);
    expect(of('pass').match(/<circle/g)).toHaveLength(2);
    expect(of('noise-scale').match(/<circle/g)).toHaveLength(8);
    expect(of('prediction').match(/<circle/g)).toHaveLength(4);
    const page = await pageOf(sweep('page'));
    expect(page).toContain('exponents from 1.000 to 1.000');
    expect(page).toContain('Within the errors of both: 1 of 2; without the change of lengths 0.');
  });

  it('are none where a file is torn or of another program', async () => {
    const path = sweepIn(join(root, 'torn'), [{ name: 'measure', rows: [{ step: 0, loss: 1 }] }]);
    write(join(path, 'measure/run_00/results.json'), '{"approx": {"delta_h');
    write(join(path, 'measure/run_01/results.json'), '{"approx": 3}');
    const figures = pageFigures(await readPageData(path, { objective: null }));
    expect(figures.map(({ name }) => name)).toEqual(['main-loss']);
  });
});

describe('the noise scale of several measurements', () => {
  it('is the mean noise over the mean signal, with the error of the jackknife', () => {
    const pooled = pooledNoiseScale([
      { signal: 1, noise: 10 },
      { signal: 3, noise: 10 },
    ])!;
    expect(pooled.scale).toBe(5);
    // Without one of both: 10/3 and 10, half of whose squared distance is the variance.
    expect(pooled.standardError).toBeCloseTo(Math.sqrt(((10 - 10 / 3) ** 2 / 2) * 0.5), 12);
  });

  it('is not told where a mean is not above zero, or of one measurement', () => {
    expect(pooledNoiseScale([{ signal: 1, noise: 1 }])).toBeNull();
    expect(pooledNoiseScale([{ signal: 1, noise: 1 }, { signal: -2, noise: 1 }])).toBeNull(); // prettier-ignore
  });
});
