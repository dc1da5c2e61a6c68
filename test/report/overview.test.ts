import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { parseHTML } from 'linkedom';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { pngPainter } from '../../src/cli/write-page.js';
import { coloursOf, modeFamilies } from '../../src/report/page/mode-families.js';
import type { Frames } from '../../src/report/page/mode-figure.js';
import { pageFigures } from '../../src/report/page/page.js';
import { readPageData } from '../../src/report/page/page-data.js';
import { stepScript } from '../../src/report/page/step-script.js';
import { hasProgram } from '../has-program.js';
import { removeFolder } from '../remove-folder.js';
import { pageOf, sweepIn, type Facts } from './sweep-in-test.js';

const root = mkdtempSync(join(tmpdir(), 'overview-'));
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

function sweepOf(runs: readonly Facts[]): string {
  return sweepIn(join(root, `sweep-${sweeps++}`), runs);
}

/** As much of an element as is looked at here. */
type Element = {
  readonly textContent: string;
  value: string;
  readonly querySelector: (selector: string) => Element | null;
  readonly querySelectorAll: (selector: string) => Iterable<Element>;
  readonly getAttribute: (name: string) => string | null;
  readonly setAttribute: (name: string, value: string) => void;
  readonly removeAttribute: (name: string) => void;
  readonly hasAttribute: (name: string) => boolean;
  readonly dispatchEvent: (event: object) => unknown;
};
type Parsed = {
  readonly document: Element;
  readonly window: Pick<Element, 'dispatchEvent'> & { readonly Event: new (name: string, options?: object) => object };
};

let routedPage = '';
beforeAll(async () => {
  routedPage = await pageOf(sweepOf(routed()));
});

/** The figure as the page has it, in a window without a browser. */
function parsed(): Parsed & { readonly figure: Element } {
  const { document, window } = parseHTML(routedPage) as unknown as Parsed;
  return { document, window, figure: document.querySelector('figure.steps')! };
}

/** The same with its script run. */
function opened() {
  const { document, window, figure } = parsed();
  // Timers are those of the moment: tests may have put others in their place.
  const timers = {
    setTimeout: (work: () => void, ms: number) => setTimeout(work, ms),
    clearTimeout: (timer: NodeJS.Timeout) => clearTimeout(timer),
  };
  runInNewContext(stepScript, { document, window, ...timers });
  const send = (to: Pick<Element, 'dispatchEvent'>, name: string, more: object = {}) => {
    to.dispatchEvent(Object.assign(new window.Event(name, { bubbles: true, cancelable: true }), more));
  };
  const bars = () => [...figure.querySelectorAll('g[data-bar]')];
  return {
    ...{ window, figure, send },
    press: (act: string) => send(figure.querySelector(`[data-act=${act}]`)!, 'click'),
    key: (name: string) => send(figure, 'keydown', { key: name }),
    shown: () => Number(figure.querySelector('output')!.textContent.replace('step ', '')),
    bar: (name: string) => bars().find((each) => each.querySelector('title')!.textContent.startsWith(name))!,
  };
}

function heightsIn(element: Element): number[] {
  return [...element.querySelectorAll('rect')].map((rect) => Number(rect.getAttribute('height')));
}

describe('metrics of several modes', () => {
  it.each<{ written: string[]; families: object[] }>([
    { written: ['train/loss', 'val/loss', 'loss', 'a/b'], families: [] },
    { written: ['eval/a/loss', 'eval/b/acc'], families: [] },
    {
      written: ['eval/a/loss', 'eval/b/loss', 'eval/b/acc', 'eval/loss'],
      families: [{ prefix: 'eval', modes: ['a', 'b'], metrics: ['loss'] }],
    },
    {
      written: ['x/y/a/loss', 'x/y/b/loss', 'e/a/loss', 'e/b/loss', 'e/a/acc', 'e/b/acc'],
      families: [
        { prefix: 'e', modes: ['a', 'b'], metrics: ['loss', 'acc'] },
        { prefix: 'x/y', modes: ['a', 'b'], metrics: ['loss'] },
      ],
    },
    { written: Array.from({ length: 9 }, (_, layer) => `grad/layer${layer}/norm`), families: [] },
  ])('are found by their names: $written', ({ written, families }) => {
    expect(modeFamilies(written)).toEqual(families);
  });

  it('have the colours of small-rl where they have its names, and none twice', () => {
    const names = [
      'both',
      'retain_only',
      'other',
      'main baseline=reward_penalty',
      'lora_rank=2 baseline=filter',
      'baseline',
      'baseline 2',
    ];
    const colours = coloursOf(names, ['#E8853B', '#111111', '#222222']);
    expect([...colours.entries()]).toEqual(
      expect.arrayContaining([
        ['both', '#E8853B'],
        ['retain_only', '#59A14F'],
        ['main baseline=reward_penalty', '#8B4513'],
        ['lora_rank=2 baseline=filter', '#9B59B6'],
        ['baseline', '#4878CF'],
      ]),
    );
    expect(new Set(colours.values()).size).toBe(names.length);
  });
});

describe('the overview of a report', () => {
  it('has a bar for each mode and group at each step: mean, deviation and ends over the seeds', () => {
    const frames = JSON.parse(parsed().figure.querySelector('script')!.textContent) as Frames;
    expect(frames.steps).toEqual(steps);
    // Two metrics: three modes of the runs that route, one of the others.
    expect(frames.bars).toHaveLength(8);
    const [both] = frames.bars;
    both!.forEach((point, index) => {
      const values = seeds.map((seed) => earned('both', steps[index]!, seed));
      expect(point![0]).toBeCloseTo(values[1]!, 4);
      expect(point![1]).toBeCloseTo(0.01, 4);
      expect(point![2]).toBeCloseTo(values[0]!, 4);
      expect(point![3]).toBeCloseTo(values[2]!, 4);
      expect(point![4]).toBe(3);
    });
  });

  it('shows the last step before anything is pressed, and without a script', () => {
    const { figure } = parsed();
    expect(figure.querySelector('output')!.textContent).toBe('step 200');
    expect(heightsIn(figure)).toEqual(heightsIn(opened().figure));
    expect(heightsIn(figure).every((height) => height > 0)).toBe(true);
    const numbersIn = (element: Element) =>
      [...element.querySelectorAll('g[data-bar] text')].map((text) => [
        Number(text.getAttribute('y')),
        text.textContent,
      ]);
    expect(numbersIn(figure)).toEqual(numbersIn(opened().figure));
    expect(numbersIn(figure)).toHaveLength(8);
  });

  it('goes from step to step by buttons, arrows and the slider, and no further than its ends', () => {
    const { figure, send, press, key, shown, bar } = opened();
    const tallness = () => heightsIn(bar('forget_only, routing'))[0]!;
    const tall = tallness();
    press('back');
    expect(shown()).toBe(150);
    key('ArrowLeft');
    expect(shown()).toBe(100);
    expect(tallness()).toBeLessThan(tall);
    expect(bar('forget_only, routing').querySelector('title')!.textContent).toBe(
      'forget_only, routing: 0.42 ± 0.01, 3 seeds',
    );
    for (let times = 0; times < 5; times++) key('ArrowRight');
    expect(shown()).toBe(200);
    key('Home');
    press('back');
    expect(shown()).toBe(0);
    const slider = figure.querySelector('input')!;
    slider.value = '2';
    send(slider, 'input');
    expect(shown()).toBe(100);
    expect(slider.getAttribute('aria-valuetext')).toBe('step 100');
    key('End');
    expect(shown()).toBe(200);
  });

  describe('in time', () => {
    beforeEach(() => void vi.useFakeTimers());
    afterEach(() => void vi.useRealTimers());

    it('plays from the first step to the last at its speed, and stops in between by Space', () => {
      const { figure, key, press, shown } = opened();
      expect(shown()).toBe(200);
      vi.advanceTimersByTime(60_000);
      expect(shown()).toBe(200);
      key(' ');
      expect(shown()).toBe(0);
      vi.advanceTimersByTime(800);
      expect(shown()).toBe(50);
      key(' ');
      vi.advanceTimersByTime(10_000);
      expect(shown()).toBe(50);
      [...figure.querySelectorAll('option')].forEach((option) => option.removeAttribute('selected'));
      figure.querySelector('option[value="200"]')!.setAttribute('selected', '');
      press('play');
      vi.advanceTimersByTime(600);
      expect(shown()).toBe(200);
      expect(figure.querySelector('[data-act=play]')!.getAttribute('aria-pressed')).toBe('false');
    });
  });

  it('prints the last step, and is where it was afterwards', () => {
    const { window, send, key, shown } = opened();
    key('Home');
    send(window, 'beforeprint');
    expect(shown()).toBe(200);
    send(window, 'afterprint');
    expect(shown()).toBe(0);
  });

  it('moves nothing between steps where somebody wants less motion, and can be reached by keys', () => {
    const { figure } = parsed();
    expect(routedPage.match(/transition:/g)).toHaveLength(1);
    expect(routedPage).toMatch(/@media \(prefers-reduced-motion: no-preference\) \{ \.steps rect \{ transition:/);
    expect(figure.getAttribute('tabindex')).toBe('0');
    expect([...figure.querySelectorAll('button, input, select')].every((each) => each.hasAttribute('aria-label'))).toBe(
      true,
    );
  });

  it('has lines of what training paid: combined, retain and hacks, a colour for each group', async () => {
    const data = await readPageData(sweepOf(routed()), { objective: null });
    expect(data.overview.panels.map(({ title }) => title)).toEqual(['combined', 'retain', 'hack_freq, happy']);
    const [combined, , hacks] = data.overview.panels;
    expect(combined!.lines.map(({ condition }) => condition)).toEqual(['filter', 'routing']);
    expect(combined!.lines[0]!.points.at(-1)).toEqual({ x: 200, mean: 1, sd: 0, least: 1, most: 1, seeds: 3 });
    expect(hacks!.lines[0]!.points.at(-1)).toMatchObject({
      mean: expect.closeTo(0.2) as number,
      least: 0.1,
      most: 0.3,
    });
    // Where there are rows, and nowhere between.
    expect(combined!.lines[0]!.points.map(({ x }) => x)).toEqual(steps);
    expect(hacks!.lines[0]!.points.at(-1)!.sd).toBeCloseTo(0.1, 12);
  });

  it('names settings by their parameters, and by their group only beside others', async () => {
    const [routing, filter] = routed();
    const cases = [routing!, filter!].map((run, index) => ({
      ...{ ...run, group: 'main', parameters: { seed: 1, baseline: ['none', 'filter'][index]! } },
    }));
    const { overview } = await readPageData(sweepOf(cases), { objective: null });
    expect(overview.modes[0]!.conditions).toEqual(['baseline=filter', 'baseline=none']);
    const beside = await readPageData(sweepOf([...cases, { ...filter!, name: 'z', group: 'other' }]), {
      objective: null,
    });
    expect(beside.overview.modes[0]!.conditions).toEqual(['main baseline=filter', 'main baseline=none', 'other']);
  });

  it('has figures that are files of their own', async () => {
    const data = await readPageData(sweepOf(routed()), { objective: null });
    const figures = pageFigures(data).filter(({ name }) => /^(last-step|over-steps)-/.test(name));
    expect(figures.map(({ name }) => name)).toEqual([
      ...['over-steps-combined', 'over-steps-retain', 'over-steps-hack-freq-happy'],
      ...['last-step-routing-eval-reward', 'last-step-routing-eval-hack-freq'],
    ]);
    const { png } = await pngPainter();
    for (const { svg } of figures) expect(png(svg).subarray(1, 4).toString()).toBe('PNG');
  });

  it('is left out where there is nothing of the kind, or one step of it', async () => {
    const plain = routed().map((run) => ({ ...run, rows: steps.map((step) => ({ step, loss: 1, 'val/loss': 2 })) }));
    expect(await pageOf(sweepOf(plain))).not.toContain('Over the steps');
    const once = routed().map((run) => ({ ...run, rows: run.rows!.slice(0, 1) }));
    const page = await pageOf(sweepOf(once));
    expect(page).not.toContain('<figure class="steps"');
  });

  it('stays below 2 MB with 20 conditions, three modes and 200 evaluations, and says what it leaves out', async () => {
    const rows = Array.from({ length: 200 }, (_, step) => ({
      step,
      ...Object.fromEntries(
        modes.flatMap((mode) =>
          Array.from({ length: 8 }, (__, metric) => [`eval/${mode}/m${metric}`, Math.sin(step + metric)]),
        ),
      ),
    }));
    const runs = Array.from({ length: 20 }, (_, lr): Facts => ({ name: `r${lr}`, parameters: { lr }, rows }));
    const page = await pageOf(sweepOf(runs));
    expect(page).toContain('8 more settings are left out here');
    expect(Buffer.byteLength(page)).toBeLessThan(2e6);
  });

  it('is text whatever modes and groups are called', async () => {
    const evil = `<img src=x onerror="1">'&`;
    const rows = steps.map((step) => ({ step, [`e/${evil}/m`]: 1, 'e/b/m': 2 }));
    const page = await pageOf(sweepOf([{ name: 'r', parameters: { [evil]: evil }, rows }]));
    expect(page).toContain('<figure class="steps"');
    expect(page).not.toContain('<img');
  });
});

const browser = ['chromium', 'chromium-browser', 'google-chrome'].find(
  (name) => spawnSync('sh', ['-c', `command -v ${name}`]).status === 0,
);

describe.skipIf(browser === undefined && !hasProgram('chromium', 'the overview of a report in a browser'))(
  'in a browser',
  () => {
    it('moves its bars by keys', async () => {
      const file = join(root, 'page.html');
      const script = `const figure = document.querySelector('figure.steps'); figure.focus();
      document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'Home', bubbles: true }));`;
      const page = await pageOf(sweepOf(routed()));
      writeFileSync(file, page.replace('</body>', `<script>${script}</script></body>`));
      const options = [
        '--headless',
        '--no-sandbox',
        '--disable-gpu',
        `--user-data-dir=${join(root, 'profile')}`,
        '--dump-dom',
      ];
      const { stdout } = spawnSync(browser!, [...options, `file://${file}`], { encoding: 'utf8', timeout: 25_000 });
      expect(stdout).toContain('<output>step 0</output>');
      expect(stdout).toContain('both, routing: 0.12 ± 0.01, 3 seeds');
    });
  },
);
