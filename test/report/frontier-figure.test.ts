import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { frontierFigure } from '../../src/report/page/frontier-figure.js';
import { pageFigures } from '../../src/report/page/page.js';
import { curveColours } from '../../src/report/page/curve-colours.js';
import type { PageGroup } from '../../src/report/page/page-data.js';
import { readPageData } from '../../src/report/page/page-data.js';
import { removeFolder } from '../remove-folder.js';
import { sweepIn } from './sweep-in-test.js';

const root = mkdtempSync(join(tmpdir(), 'frontier-'));
afterAll(() => removeFolder(root));

/** A curve of a hundred steps. */
const curve = (run: number, setting: string, at: (step: number) => number) => ({
  ...{ run, setting, isOver: true },
  x: Float64Array.from({ length: 100 }, (_, step) => step),
  y: Float64Array.from({ length: 100 }, (_, step) => at(step)),
});

function groupOf(figures: PageGroup['figures']): PageGroup {
  return {
    name: 'main',
    xKey: 'step',
    settings: ['weak', 'strong'],
    colours: curveColours(['weak', 'strong'], [], []),
    figures,
    entropy: { noise: [], evaluated: [] },
  };
}

const both = groupOf([
  { metric: 'reward', curves: [curve(0, 'weak', (step) => step / 100), curve(1, 'strong', (step) => step / 200)] },
  { metric: 'kl', curves: [curve(0, 'weak', (step) => step / 25), curve(1, 'strong', (step) => step / 400)] },
]);

/** Where the points are, from the left and from above. */
function pointsIn(svg: string): { x: number; y: number }[] {
  return [...svg.matchAll(/<circle[^>]*>/g)].map(([circle]) => {
    const at = (name: string) => Number(new RegExp(` ${name}="([\\d.]+)"`).exec(circle)![1]);
    return { x: at('cx'), y: at('cy') };
  });
}

describe('the frontier of reward against KL', () => {
  it('has a point for each run: what earns more is higher, what has moved further is more to the right', () => {
    const [figure] = frontierFigure(both);
    const [weak, strong] = pointsIn(figure!.svg);
    expect(weak!.x).toBeGreaterThan(strong!.x);
    expect(weak!.y).toBeLessThan(strong!.y);
    expect(figure!.legend.map(({ text }) => text)).toEqual(['weak', 'strong']);
  });

  it('has an axis of roots: four times the distance is twice as far from the left', () => {
    const [far, near, none] = [4, 1, 0].map((kl, run) => ({
      reward: curve(run, 'weak', () => 0.5),
      kl: curve(run, 'weak', () => kl),
    }));
    const runs = [far!, near!, none!];
    const [figure] = frontierFigure(
      groupOf([
        { metric: 'reward', curves: runs.map(({ reward }) => reward) },
        { metric: 'kl', curves: runs.map(({ kl }) => kl) },
      ]),
    );
    const [four, one, zero] = pointsIn(figure!.svg).map(({ x }) => x);
    expect((four! - zero!) / (one! - zero!)).toBeCloseTo(2, 1);
  });

  it.each(['reward', 'kl'])('is not drawn of a group that does not show %s', (missing) => {
    expect(frontierFigure(groupOf(both.figures.filter(({ metric }) => metric !== missing)))).toEqual([]);
  });

  it('leaves out a run that measured only one of them', () => {
    const [reward, kl] = both.figures;
    const [figure] = frontierFigure(groupOf([reward!, { ...kl!, curves: kl!.curves.slice(1) }]));
    expect(pointsIn(figure!.svg)).toHaveLength(1);
  });

  it('is among the figures of a sweep that logs both', async () => {
    const rows = Array.from({ length: 20 }, (_, step) => ({ step, reward: step / 20, kl: step / 40 }));
    const sweep = sweepIn(join(root, 'sweep'), [{ name: 'a', parameters: { beta: 0.1 }, rows }, { name: 'b', parameters: { beta: 0.2 }, rows }]); // prettier-ignore
    const names = pageFigures(await readPageData(sweep, { objective: null })).map(({ name }) => name);
    expect(names).toContain('main-reward-against-kl');
  });
});
