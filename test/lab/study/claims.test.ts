import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { agreement, type Expected, verdictOf } from '../../../src/lab/study/claims/claim.js';
import { claims } from '../../../src/lab/study/claims/claim-text.js';
import { sweepNameOf } from '../../../src/lab/study/claims/claim-text.js';
import { headlineMarkdown, claimsMarkdown, storedSections } from '../../../src/lab/study/claims/claims-page.js';
import { computeMeasure } from '../../../src/lab/study/claims/measures.js';
import { readPublished } from '../../../src/lab/study/claims/published-cell.js';
import { readStudy } from '../../../src/contract/study.js';
import { memrl } from '../program.js';
import { parseSweepFile } from '../../../src/spec/file/parse-sweep-file.js';
import { workplace } from '../../e2e/program.js';
import { ratio, runsOf } from '../../report/second-way.js';
import { type Facts, sweepIn } from '../../report/sweep-in-test.js';

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
  it('is up to date with its data and the published tables (`npm run tables` writes it)', () => {
    expect(page('docs/claims.md')).toContain(`\n${claimsMarkdown({ page, stored })}\n`);
    expect(page('README.md')).toContain(`\n${headlineMarkdown({ page, stored })}\n`);
  });

  it('changes when a published figure does', () => {
    const changed = (path: string) => page(path).replace('2,730       0.00366', '2,730       0.00936');
    expect(claimsMarkdown({ page: changed, stored })).not.toBe(claimsMarkdown({ page, stored }));
  });

  it('names existing sweeps and tests', () => {
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

  it('is undecided when the interval allows both', () => {
    const quantity = { value: 1, interval: [0.5, 2], n: 9 } as const;
    expect(verdictOf([{ expected: { kind: 'at most', value: 1 }, quantity }])).toBe('not decided here');
  });
});

describe('a published figure', () => {
  const text = `before
condition   N  B                episodes           ratio  share
───────────────────────────────────────────────────────────────
binary     64          490 [300, 1,030]  ×1.5 [1, 2] n=9   9/10
binned     64  8      ∞ [2, ∞] wide n=4              ×3    1/2

| who | what | e |
| --- | --- | --- |
| one | **.5** [.4, .6] | −2 ± 1 |
| | .1 .2 .3 | 8 of 8 |
`;
  const read = (row: Record<string, string>, column: string) =>
    readPublished({ page: 'p', after: 'before', row, column }, () => text);

  it('is read from its cell in any notation, also beside empty cells', () => {
    expect(read({ condition: 'binary', B: '' }, 'episodes')).toEqual({ value: 490, interval: [300, 1030], n: null });
    expect(read({ condition: 'binary' }, 'ratio')).toEqual({ value: 1.5, interval: [1, 2], n: 9 });
    expect(read({ condition: 'binned', B: '8' }, 'episodes')).toEqual({
      ...{ value: Infinity, interval: [2, Infinity], n: 4 },
    });
    expect(read({ condition: 'binary' }, 'share')).toMatchObject({ value: 0.9, n: 10 });
    expect(read({ who: 'one' }, 'what')).toMatchObject({ value: 0.5, interval: [0.4, 0.6] });
    expect(read({ who: 'one' }, 'e')).toMatchObject({ value: -2, interval: [-3, -1] });
    expect(read({ what: '.1 .2 .3' }, 'what')).toMatchObject({ value: expect.closeTo(0.2, 9) as number, n: 3 });
  });

  it('that is missing is an error with its page and table', () => {
    expect(() => read({ condition: 'dense' }, 'episodes')).toThrow(/p has no table after “before” with/);
  });
});

describe('the study of a sweep that tries claims', () => {
  const { at } = workplace();

  it('has a verdict on each claim, with the figures of its runs', async () => {
    sweepIn(at('headline'), headline64);
    await memrl(['study', at('headline')]);
    const { verdicts } = readStudy(readFileSync(at('headline/study.json'), 'utf8'))!;
    const about = (claim: string) => verdicts.find((each) => each.claim.startsWith(claim))!;
    const times = about('Reinforcement learning with one reward takes log2 N times');
    expect(times.verdict).toBe('does not hold');
    expect(times.figures[0]).toMatch(
      /^episodes over examples, N = 64: 63.9 \[\d[\d.]*, \d[\d.]*\] times n=24, expected about 6: contradicts$/,
    );
    expect(about('A reward for each bit matches').verdict).toBe('not tried');
    expect(about('A warm-up teaches the form').figures[0]).toMatch(/^legal answers, warmup_single: –, /);
  });

  it('prints the data that the page of claims is made from', async () => {
    const started = headline64.map(({ parameters = {}, ...run }) => {
      const { load_checkpoint_path: base } = parameters;
      return {
        ...run,
        parameters: { ...parameters, ...(base && { load_checkpoint_path: at(`headline/${String(base)}`) }) },
      };
    });
    sweepIn(at('headline'), started);
    const { stdout } = await memrl(['study', at('headline'), '--json']);
    expect(stdout).toMatch(/"base": "warmup_/);
    expect(stdout).not.toContain(at('headline'));
    const sections = storedSections(stdout);
    const of = { condition: 'binary', N: 64 };
    const over = { condition: 'SFT', N: 64, extra: { batch_size: 1 } };
    const measure = { kind: 'episodes over examples', of, over } as const;
    expect(computeMeasure(measure, sections)!.value).toBeCloseTo(63.87, 2);
    expect(computeMeasure(measure, sections)).toEqual(computeMeasure(measure, stored('headline')!));
  });

  it('agrees with an independent computation from the same files, as the page does', () => {
    sweepIn(at('headline'), headline64);
    const other = ratio(runsOf(at('headline')), 'single', 'sft');
    const row = { condition: 'binary', N: 64 };
    const over = { condition: 'SFT', N: 64, extra: { batch_size: 1 } };
    const onPage = computeMeasure({ kind: 'episodes over examples', of: row, over }, stored('headline')!)!;
    expect(onPage).toMatchObject({ value: expect.closeTo(other.value, 9) as number, n: other.n });
    expect(onPage.interval).toEqual([other.low, other.high].map((end) => expect.closeTo(end, 9) as number));
    expect(page('docs/claims.md')).toMatch(/episodes over examples, N = 64 \| 63.9 \[/);
  });
});

describe('a difference of two settings', () => {
  it('is computed over runs of the same seeds, with its interval', () => {
    const rewards = { 0: [0.1, 0.5, 0.9, 0.3], 1: [0.2, 0.6, 1, 0.4, 7] };
    const rows = Object.entries(rewards).map(([k, values]) => ({
      ...{ title: null, varies: { k: Number(k) } },
      results: values.map((reward, seed) => ({ pair: String(seed), base: '', values: { reward } })),
    }));
    const sections = [{ kind: 'metrics', group: 'main', rows } as const];
    const told = (of: string, less: string) =>
      computeMeasure({ kind: 'difference', group: 'main', metric: 'reward', of, less }, sections);
    const tenth = expect.closeTo(0.1, 9) as number;
    expect(told('k=1', 'k=0')).toEqual({ value: tenth, interval: [tenth, tenth], n: 4 });
    expect(told('k=2', 'k=0')).toBeNull();
  });
});
