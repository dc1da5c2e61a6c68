import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { pooledNoiseScale } from '../../src/analysis/noise-scale.js';
import { pageFigures } from '../../src/report/page/page.js';
import { readPageData } from '../../src/report/page/page-data.js';
import { removeFolder } from '../remove-folder.js';
import { sweepIn } from './sweep-in-test.js';

const root = mkdtempSync(join(tmpdir(), 'entropy-figures-'));
afterAll(() => removeFolder(root));

function write(path: string, text: string): void {
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, text);
}

/** Of a run that trained, with measurements of its noise and evaluated checkpoints. */
function sweep(name: string): string {
  const rows = Array.from({ length: 40 }, (_, at) => ({
    ...{ step: at, reward: 0.5, gns_G2: 2 + (at % 2), gns_tr_sigma: 50 },
    ...{ gns_two_sizes_G2: 2.5, gns_two_sizes_tr_sigma: 50 + (at % 3) },
  }));
  const path = sweepIn(join(root, name), [{ name: 'learn', group: 'learn', rows }]);
  const evaluated = [0, 16].map((at) => JSON.stringify({ step: at, 'pass@1_unbiased': 0.5 + at / 100, ent_mean: 0.1 }));
  write(join(path, 'learn/evaluation/sums/temp1_p1_r8/metrics.jsonl'), `${evaluated.join('\n')}\n`);
  return path;
}

describe('figures of noise and of checkpoints', () => {
  it('are drawn of what the lab wrote', async () => {
    const figures = pageFigures(await readPageData(sweep('all'), { objective: null }));
    const of = (name: string) => figures.find((figure) => figure.name.includes(name))!.svg;
    // Two checkpoints; four parts of the training by two ways.
    expect(of('pass').match(/<circle/g)).toHaveLength(2);
    expect(of('noise-scale').match(/<circle/g)).toHaveLength(8);
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
