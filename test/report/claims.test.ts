import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { agreement, type Expected, verdictOf } from '../../src/report/claims/claim.js';
import { claims } from '../../src/report/claims/claim-text.js';
import { sweepNameOf } from '../../src/report/claims/claim-text.js';
import { headlineMarkdown, claimsMarkdown, storedSections } from '../../src/report/claims/claims-page.js';
import { measured } from '../../src/report/claims/measures.js';
import { published } from '../../src/report/claims/published.js';
import { parseSweepFile } from '../../src/spec/file/parse-sweep-file.js';
import { workplace } from '../e2e/program.js';
import { ratio, runsOf } from './second-way.js';
import { type Facts, sweepIn } from './sweep-in-test.js';

const page = (path: string) => readFileSync(path, 'utf8');
const stored = (sweep: string) => {
  const path = `docs/claims/${sweep}.json`;
  return existsSync(path) ? storedSections(page(path)) : null;
};

type Stored = { name: string; group: string; parameters: Record<string, number>; evaluations: number[][] };

/** The runs of `sweeps/headline.yaml` at N = 64, right or wrong and one example an update, with their evaluations. */
const headline64 = page('test/fixtures/claims/headline-64.jsonl')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Stored)
  .map(({ evaluations, ...run }): Facts => {
    const counted = run.group === 'sft' ? 'progress/examples' : 'progress/episodes';
    const rows = evaluations.map(([step, count, updates, bits]) => ({
      ...{ step, [counted]: count, 'optim/updates': updates, 'test/bits/answer_raw': bits },
    }));
    return { ...run, rows };
  });

describe('the page of claims', () => {
  it('says what its data and the published tables say (`npm run tables` writes it)', () => {
    expect(page('docs/claims.md')).toContain(`\n${claimsMarkdown({ page, stored })}\n`);
    expect(page('README.md')).toContain(`\n${headlineMarkdown({ page, stored })}\n`);
  });

  it('changes when a published figure does', () => {
    const changed = (path: string) =>
      page(path).replace('29/30 [83–99 %]         490 [300, 1,030]', '29/30 [83–99 %]         981 [300, 1,030]');
    expect(claimsMarkdown({ page: changed, stored })).not.toBe(claimsMarkdown({ page, stored }));
  });

  it('names sweeps and tests that are there, under the names that they run by', () => {
    for (const { tried } of claims) {
      if (tried.by === 'test') expect(existsSync(tried.file)).toBe(true);
      if (tried.by === 'sweep')
        expect(parseSweepFile(page(tried.sweep), tried.sweep).name).toBe(sweepNameOf(tried.sweep));
    }
  });
});

describe('a verdict', () => {
  const about: Expected = { kind: 'about', value: 6, factor: 1.5 };
  it.each<{ expected: Expected; interval: [number, number]; is: string }>([
    { expected: about, interval: [4.5, 8], is: 'agrees' },
    { expected: about, interval: [3, 11], is: 'agrees' },
    { expected: about, interval: [2, 11], is: 'open' },
    { expected: about, interval: [22, 80], is: 'contradicts' },
    { expected: { kind: 'at most', value: 1 }, interval: [0.1, 0.9], is: 'agrees' },
    { expected: { kind: 'at most', value: 1 }, interval: [0.9, 1.1], is: 'open' },
    { expected: { kind: 'at least', value: 1 }, interval: [0.1, 0.9], is: 'contradicts' },
    { expected: { kind: 'at least', value: 1 }, interval: [2, Infinity], is: 'agrees' },
  ])('on $interval where $expected.kind $expected.value is expected: $is', ({ expected, interval, is }) => {
    expect(agreement(expected, { value: 5, interval, n: 12 })).toBe(is);
  });

  it.each([
    { values: [0.5, 0.6], verdict: 'holds here' },
    { values: [0.5, 2], verdict: 'holds in part' },
    { values: [2, 3], verdict: 'does not hold here' },
    { values: [2, null], verdict: 'does not hold here' },
    { values: [null], verdict: 'not tried' },
  ])('of $values, at most 1: $verdict', ({ values, verdict }) => {
    const expected = { kind: 'at most', value: 1 } as const;
    const figures = values.map((value) => ({
      expected,
      quantity: value === null ? null : { value, interval: null, n: 1 },
    }));
    expect(verdictOf(figures)).toBe(verdict);
  });

  it('is not decided where the interval allows both', () => {
    const quantity = { value: 1, interval: [0.5, 2], n: 9 } as const;
    expect(verdictOf([{ expected: { kind: 'at most', value: 1 }, quantity }])).toBe('not decided here');
  });
});

describe('a published figure', () => {
  const text = `before
condition   N  B                episodes           ratio  share
───────────────────────────────────────────────────────────────
binary     64          490 [300, 1,030]  ×1.5 [1, 2] n=9   9/10
binned     64  8  not determined [2, ∞]              ×3    1/2

| who | what | e |
| --- | --- | --- |
| one | **.5** [.4, .6] | −2 ± 1 |
| | .1 .2 .3 | 8 of 8 |
`;
  const read = (row: Record<string, string>, column: string) =>
    published({ page: 'p', after: 'before', row, column }, () => text);

  it('is read from its cell, whatever its form, beside empty cells too', () => {
    expect(read({ condition: 'binary', B: '' }, 'episodes')).toEqual({ value: 490, interval: [300, 1030], n: null });
    expect(read({ condition: 'binary' }, 'ratio')).toEqual({ value: 1.5, interval: [1, 2], n: 9 });
    expect(read({ condition: 'binned', B: '8' }, 'episodes')).toMatchObject({ value: null, interval: [2, Infinity] });
    expect(read({ condition: 'binary' }, 'share')).toMatchObject({ value: 0.9, n: 10 });
    expect(read({ who: 'one' }, 'what')).toMatchObject({ value: 0.5, interval: [0.4, 0.6] });
    expect(read({ who: 'one' }, 'e')).toMatchObject({ value: -2, interval: [-3, -1] });
    expect(read({ what: '.1 .2 .3' }, 'what')).toMatchObject({ value: expect.closeTo(0.2, 9) as number, n: 3 });
  });

  it('that is not there is an error with its place', () => {
    expect(() => read({ condition: 'dense' }, 'episodes')).toThrow(/p has no table after “before” with/);
  });
});

describe('`report SWEEP --claims`', () => {
  const { at, run } = workplace();

  it('prints the claims that the sweep tries, with what its runs say of them', async () => {
    mkdirSync(at('runs'));
    sweepIn(at('runs/headline'), headline64);
    const { out, code } = await run('report', 'headline', '--claims');
    expect(code).toBe(0);
    expect(out).toContain('does not hold here: Reinforcement learning with one reward takes log2 N times');
    expect(out).toMatch(/episodes over examples, N = 64 +40 \[\d[\d.]*, \d[\d.]*\] +times +12 +about 6 +contradicts\n/);
    expect(out).toMatch(/not tried: A reward for each bit matches/);
    type Told = { claim: string; figures: { figure: string; value: number }[] }[];
    const told = JSON.parse((await run('report', 'headline', '--claims', '--json')).out) as Told;
    const figures = told.flatMap((each) => each.figures);
    expect(figures.find(({ figure }) => figure === 'episodes over examples, N = 64')!.value).toBeCloseTo(40, 6);
  });

  it('names the sweeps that try a claim where this one does not', async () => {
    mkdirSync(at('runs'));
    sweepIn(at('runs/mine'), headline64.slice(0, 1));
    const { err, code } = await run('report', 'mine', '--claims');
    expect(code).toBe(2);
    expect(err).toMatch(/No claim .* called mine\.\n\n→ Name one of these: headline, answer,/);
  });

  it('gives what another computation of the same files gives, as the page does', () => {
    sweepIn(at('headline'), headline64);
    const other = ratio(runsOf(at('headline')), 'single', 'sft');
    const row = { condition: 'binary', N: 64 };
    const over = { condition: 'SFT', N: 64, extra: { batch_size: 1 } };
    const onPage = measured({ kind: 'episodes over examples', of: row, over }, stored('headline')!)!;
    expect(onPage).toMatchObject({ value: expect.closeTo(other.value, 9) as number, n: other.n });
    // The ends of 2,000 or 4,000 resamples of twelve ratios in four clusters.
    for (const [end, found] of [other.low, other.high].entries())
      expect(Math.abs(Math.log(onPage.interval![end]! / found))).toBeLessThan(0.15);
    expect(page('docs/claims.md')).toMatch(/episodes over examples, N = 64 \| 40 \[/);
  });
});

describe('a difference of two settings', () => {
  const { at, run } = workplace();

  it('is that of the runs of the same seeds, with its interval', async () => {
    mkdirSync(at('runs'));
    const rewards = { 0: [0.1, 0.5, 0.9, 0.3], 1: [0.2, 0.6, 1, 0.4, 7] };
    const facts = Object.entries(rewards).flatMap(([k, values]) =>
      values.map((reward, seed): Facts => {
        return { name: `k${k}-s${seed}`, parameters: { k: Number(k), seed }, rows: [{ step: 1, reward }] };
      }),
    );
    sweepIn(at('runs/pairs'), facts, 'metrics: { show: [reward] }\ncommand: ["true"]\n');
    const sections = storedSections((await run('report', 'pairs', '--json')).out);
    const told = (of: string, less: string) =>
      measured({ kind: 'difference', group: 'main', metric: 'reward', of, less }, sections);
    const tenth = expect.closeTo(0.1, 9) as number;
    expect(told('k=1', 'k=0')).toEqual({ value: tenth, interval: [tenth, tenth], n: 4 });
    expect(told('k=2', 'k=0')).toBeNull();
  });
});
