import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readStudy, studyText } from '../../../../src/contract/study.js';
import { entropyStudy } from '../../../../src/lab/evaluation/entropy/entropy-study.js';
import { pageFigures } from '../../../../src/report/page/page.js';
import { readPageData } from '../../../../src/report/page/page-data.js';
import { removeFolder } from '../../../remove-folder.js';
import { pageOf, sweepIn } from '../../../report/sweep-in-test.js';

type Results = Parameters<typeof entropyStudy>[0];

/** A step whose entropy changes by `slope` η, and is predicted well or badly. */
function step(slope: number, { isRight = true, hasKernel = false, etas = [1e-6, 1e-5, 1e-4] } = {}) {
  const entries = etas.map((eta) => ({
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

const steps = [step(-2, { hasKernel: true }), step(3, { isRight: false })] as unknown as Results;

describe('the study of memrl entropy', () => {
  const root = mkdtempSync(join(tmpdir(), 'entropy-study-'));
  afterAll(() => removeFolder(root));

  it('reads back as written', () => {
    const study = entropyStudy(steps)!;
    expect(readStudy(studyText(study))).toEqual({
      ...study,
      lines: [],
      notes: [],
      tables: [],
      verdicts: [],
      warnings: [],
    });
  });

  it('has figures of slopes, of prediction against truth, and of the kernel on the page', async () => {
    const sweep = sweepIn(join(root, 'sweep'), [{ name: 'measure', rows: [{ step: 0, 'entropy/slope': 1 }] }]);
    writeFileSync(join(sweep, 'measure/study.json'), studyText(entropyStudy(steps)!));
    const figures = pageFigures(await readPageData(sweep, { objective: null }));
    const of = (name: string) => figures.find((figure) => figure.name.includes(name))!.svg;
    // Three rates of two steps, a law through each and a line of slope 1; bars on both sides of both predictions; nine cells.
    expect(of('against').match(/<circle/g)).toHaveLength(6);
    expect(of('against').match(/<path d="M[^"]*L[^"]*"[^>]*fill="none"|stroke-dasharray/g)!.length).toBeGreaterThan(0);
    expect(of('prediction').match(/<circle/g)).toHaveLength(4);
    expect(of('prediction').match(/<line stroke="#/g)).toHaveLength(8);
    expect(of('kernel').match(/<rect/g)!.length).toBeGreaterThanOrEqual(9);
    const page = await pageOf(sweep);
    expect(page).toContain('<h2>measure · entropy under a step</h2>');
    expect(page).toContain('exponents from 1.000 to 1.000');
    expect(page).toContain('Within the errors of both: 1 of 2; without the change of lengths 0.');
  });

  it('is empty when nothing can be drawn', () => {
    const alone = step(1, { etas: [1e-4] });
    const bare = { ...alone, true: { entries: alone.true.entries.map((entry) => ({ ...entry, z: undefined })) } };
    expect(entropyStudy([bare] as unknown as Results)).toBeNull();
  });
});
