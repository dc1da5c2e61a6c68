import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readStudy } from '../../../src/contract/study.js';
import { writeStudy } from '../../../src/lab/study/study.js';
import { removeFolder } from '../../remove-folder.js';
import { type Facts, sweepIn } from '../../report/sweep-in-test.js';

const root = mkdtempSync(join(tmpdir(), 'modes-'));
afterAll(() => removeFolder(root));
let sweeps = 0;

const modes = ['both', 'retain_only', 'forget_only'];
const steps = [0, 50, 100, 150, 200];
const seeds = [1, 2, 3];

/** What a mode earns at a step: more for each seed, and more with time. */
function earned(mode: string, step: number, seed: number): number {
  return 0.1 * (modes.indexOf(mode) + 1) + step / 1000 + seed / 100;
}

/** Runs of three seeds that route, and of three that do not and so have one mode. */
function routed(): Facts[] {
  const runOf = (group: string, own: readonly string[], seed: number): Facts => ({
    ...{ name: `${group}-${seed}`, group, parameters: { seed } },
    rows: steps.map((step) => ({
      ...{ step, reward: step / 200, 'rewards/retain/mean': step / 400, 'hack_freq/happy': seed / 10 },
      ...Object.fromEntries(
        own.flatMap((mode) => [
          [`routing_eval/${mode}/reward`, earned(mode, step, seed)],
          [`routing_eval/${mode}/hack_freq`, -0.2],
        ]),
      ),
    })),
  });
  return seeds.flatMap((seed) => [runOf('routing', modes, seed), runOf('filter', ['both'], seed)]);
}

/** The study of a sweep of these runs; null: there is none. */
function studyOf(runs: readonly Facts[]) {
  const path = writeStudy(sweepIn(join(root, `s${sweeps++}`), runs));
  return path === null ? null : readStudy(readFileSync(path, 'utf8'))!;
}

/** Those of one set. */
function figuresOf(study: ReturnType<typeof studyOf>, set: string) {
  return study!.figures.filter((figure) => figure.set === set);
}

const ofModes = 'Each mode over the steps';
const ofRewards = 'Rewards of the training over the steps';

describe('modes in the study of a sweep', () => {
  it('have a bar for each setting and step: mean, standard deviation and range over the seeds', () => {
    const study = studyOf(routed());
    expect(study!.warnings).toEqual([]);
    const [reward, hacks] = figuresOf(study, ofModes);
    expect([reward, hacks].map((figure) => figure!.title)).toEqual(['reward', 'hack_freq']);
    const { bars } = reward!;
    expect(bars.map(({ name, x }) => [name, [...new Set(x)]])).toEqual([
      ['both', ['filter', 'routing']],
      ['retain_only', ['routing']],
      ['forget_only', ['routing']],
    ]);
    const [both] = bars;
    expect(both!.at).toEqual([...steps, ...steps]);
    expect(both!.n).toEqual(Array(10).fill(3));
    steps.forEach((step, at) => {
      const [least, middle, most] = seeds.map((seed) => earned('both', step, seed));
      expect(both!.y[at]).toBeCloseTo(middle!, 9);
      expect(both!.hi![at]! - both!.y[at]!).toBeCloseTo(0.01, 9);
      expect([both!.min![at], both!.max![at]]).toEqual([expect.closeTo(least!, 9), expect.closeTo(most!, 9)]);
    });
    expect(new Set(hacks!.bars.flatMap(({ y }) => y))).toEqual(new Set([expect.closeTo(-0.2, 9)]));
  });

  it('have a table of the last step', () => {
    const { tables } = studyOf(routed())!;
    expect(tables.map(({ title }) => title)).toEqual(['Each mode at step 200']);
    const texts = tables[0]!.rows.map(({ cells }) =>
      cells.map((cell) => (typeof cell === 'object' ? cell!.text : cell)),
    );
    expect(texts).toEqual([
      ['filter', 'both', '3', '0.320 ± 0.010', '-0.200 ± 0'],
      ['routing', 'both', '3', '0.320 ± 0.010', '-0.200 ± 0'],
      ['routing', 'retain_only', '3', '0.420 ± 0.010', '-0.200 ± 0'],
      ['routing', 'forget_only', '3', '0.520 ± 0.010', '-0.200 ± 0'],
    ]);
  });

  it('come below lines of training rewards: combined, retain and hacks, one line for each setting', () => {
    const figures = figuresOf(studyOf(routed()), ofRewards);
    expect(figures.map(({ title }) => title)).toEqual(['combined', 'retain', 'hack_freq, happy']);
    const [combined, , hacks] = figures;
    expect(combined!.series.map(({ name }) => name)).toEqual(['filter', 'routing']);
    // Where there are rows, and nowhere between.
    expect(combined!.series[0]).toMatchObject({ x: steps, y: steps.map((step) => step / 200) });
    const { y, hi, min, max } = hacks!.series[0]!;
    expect(y.at(-1)).toBeCloseTo(0.2, 12);
    expect(hi!.at(-1)! - y.at(-1)!).toBeCloseTo(0.1, 12);
    expect([min!.at(-1), max!.at(-1)]).toEqual([0.1, 0.3]);
  });

  it('show the components of a reward side by side', () => {
    const rows = steps.map((step) => ({ step, 'rewards/sl10/mean': 1, 'rewards/afraid/mean': 2 }));
    const [mean] = figuresOf(studyOf([{ name: 'r', rows }]), 'Each reward over the steps');
    expect(mean!.bars.map(({ name, y, lo }) => [name, y.at(-1), lo])).toEqual([
      ['sl10', 1, null],
      ['afraid', 2, null],
    ]);
  });

  it('name settings by their parameters, and by their group only when there are several', () => {
    const [routing, filter] = routed();
    const cases = [routing!, filter!].map((run, index) => ({
      ...{ ...run, group: 'main', parameters: { seed: 1, baseline: ['none', 'filter'][index]! } },
    }));
    const namesOf = (runs: readonly Facts[]) => [...new Set(figuresOf(studyOf(runs), ofModes)[0]!.bars[0]!.x)];
    expect(namesOf(cases)).toEqual(['baseline=filter', 'baseline=none']);
    expect(namesOf([...cases, { ...filter!, name: 'z', group: 'other' }])).toEqual([
      'main baseline=filter',
      'main baseline=none',
      'other',
    ]);
  });

  it('are left out without modes, or with only one step', () => {
    const plain = routed().map((run) => ({ ...run, rows: steps.map((step) => ({ step, loss: 1, reward: 2 })) }));
    expect(studyOf(plain)).toBeNull();
    expect(studyOf(routed().map((run) => ({ ...run, rows: run.rows!.slice(0, 1) })))).toBeNull();
  });

  it('fit into the size of a study with 20 settings, three modes and 200 evaluations, with a note on what is left out', () => {
    const measures = modes.flatMap((mode) => Array.from({ length: 8 }, (_, at) => `routing_eval/${mode}/m${at}`));
    const rows = Array.from({ length: 200 }, (_, step) => ({
      step,
      ...Object.fromEntries(measures.map((name, at) => [name, Math.sin(step + at)])),
    }));
    const runs = Array.from({ length: 20 }, (_, lr): Facts => ({ name: `r${lr}`, parameters: { lr }, rows }));
    const study = studyOf(runs);
    expect(study!.warnings).toEqual([]);
    expect(study!.notes).toEqual(['Over the steps, 8 more settings are left out.']);
    const [first] = figuresOf(study, ofModes);
    const places = [...new Set(first!.bars[0]!.at)];
    expect(places.length).toBeGreaterThan(20);
    expect([places[0], places.at(-1)]).toEqual([0, 199]);
  });
});
