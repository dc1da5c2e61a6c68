import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { parseHTML } from 'linkedom';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { pngPainter } from '../../src/cli/write-page.js';
import { type Study, studyText } from '../../src/contract/study.js';
import { pageFigures } from '../../src/report/page/page.js';
import { readPageData } from '../../src/report/page/page-data.js';
import { sliderScript } from '../../src/report/page/slider.js';
import { hasProgram } from '../has-program.js';
import { removeFolder } from '../remove-folder.js';
import { pageOf, sweepIn } from './sweep-in-test.js';

const root = mkdtempSync(join(tmpdir(), 'study-bars-'));
afterAll(() => removeFolder(root));
let sweeps = 0;

const parts = ['both', 'retain_only', 'forget_only'];
const steps = [0, 50, 100, 150, 200];

/** What a part comes to at a step. */
function valueOf(part: string, step: number): number {
  return 0.1 * (parts.indexOf(part) + 1) + step / 1000;
}

/** Bars of three parts at one name and of one at another, at each step. */
function barsOf(value: (part: string, step: number) => number) {
  return parts.map((name) => {
    const all = (name === 'both' ? ['filter', 'routing'] : ['routing']).flatMap((x) => steps.map((at) => ({ x, at })));
    const y = all.map(({ at }) => value(name, at));
    const around = (by: number) => y.map((each) => each + by);
    return {
      ...{ name, x: all.map(({ x }) => x), y, at: all.map(({ at }) => at), n: y.map(() => 3) },
      ...{ lo: around(-0.01), hi: around(0.01), min: around(-0.02), max: around(0.02) },
    };
  });
}

const beside = { x: 'setting', y: 'mean', set: 'Each part over the steps', note: 'Thick: ±1.' };
const line = { name: 'routing', x: [0, 200], y: [0, 1], lo: [0, 0.9], hi: [0, 1.1], min: [0, 0.5], max: [0, 2] };
const figures = [
  { ...beside, title: 'reward', bars: barsOf(valueOf) },
  { ...beside, title: 'hack', bars: barsOf(() => -0.2) },
  { ...beside, title: 'combined', set: 'Paid', x: 'step', series: [line] },
  { ...beside, title: 'retain', set: 'Paid', x: 'step', series: [line] },
];

/** A sweep of a run, whose study has these figures. */
function sweepWith(figures: readonly object[]): string {
  const sweep = sweepIn(join(root, `sweep-${sweeps++}`), [{ name: 'r', rows: [{ step: 1, loss: 1 }] }]);
  writeFileSync(join(sweep, 'study.json'), studyText({ figures: figures as Study['figures'] }));
  return sweep;
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

let page = '';
beforeAll(async () => {
  page = await pageOf(sweepWith(figures));
});

/** The figure as the page has it, in a window without a browser. */
function parsed(): Parsed & { readonly figure: Element } {
  const { document, window } = parseHTML(page) as unknown as Parsed;
  return { document, window, figure: document.querySelector('figure.set')! };
}

/** The same with its script run. */
function opened() {
  const { document, window, figure } = parsed();
  // Timers are those of the moment: tests may have put others in their place.
  const timers = {
    setTimeout: (work: () => void, ms: number) => setTimeout(work, ms),
    clearTimeout: (timer: NodeJS.Timeout) => clearTimeout(timer),
  };
  runInNewContext(sliderScript, { document, window, ...timers });
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

describe('bars of a study', () => {
  it('are drawn with what they are at each step', () => {
    const { places, panels } = JSON.parse(parsed().figure.querySelector('script')!.textContent) as {
      places: number[];
      panels: (number[] | null)[][][];
    };
    expect(places).toEqual(steps);
    // Three parts at one name, one of them also at the other.
    expect(panels.map((bars) => bars.length)).toEqual([4, 4]);
    steps.forEach((step, at) => {
      const around = [0, -0.01, 0.01, -0.02, 0.02].map((by) => Number((valueOf('both', step) + by).toPrecision(5)));
      expect(panels[0]![0]![at]).toEqual([...around, 3]);
    });
  });

  it('show the last step before anything is pressed, and without a script', () => {
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

  it('go from step to step by buttons, arrows and the slider, and no further than its ends', () => {
    const { figure, send, press, key, shown, bar } = opened();
    const tallness = () => heightsIn(bar('forget_only, routing'))[0]!;
    const tall = tallness();
    press('back');
    expect(shown()).toBe(150);
    key('ArrowLeft');
    expect(shown()).toBe(100);
    expect(tallness()).toBeLessThan(tall);
    expect(bar('forget_only, routing').querySelector('title')!.textContent).toBe(
      'forget_only, routing: 0.4 [0.39, 0.41] in [0.38, 0.42] n=3',
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

    it('play from the first step to the last at its speed, and stop in between by Space', () => {
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

  it('print the last step, and are where they were afterwards', () => {
    const { window, send, key, shown } = opened();
    key('Home');
    send(window, 'beforeprint');
    expect(shown()).toBe(200);
    send(window, 'afterprint');
    expect(shown()).toBe(0);
  });

  it('move at once where somebody wants less motion, and can be reached by keys', () => {
    const { figure } = parsed();
    expect(page.match(/transition:/g)).toHaveLength(1);
    expect(page).toMatch(/@media \(prefers-reduced-motion: no-preference\) \{ \.set rect \{ transition:/);
    expect(figure.getAttribute('tabindex')).toBe('0');
    expect([...figure.querySelectorAll('button, input, select')].every((each) => each.hasAttribute('aria-label'))).toBe(
      true,
    );
  });

  it('stand side by side with others of their set, with one legend and one slider', () => {
    const sets = [...parsed().document.querySelectorAll('figure.set')];
    const shown = (selector: string) => sets.map((set) => [...set.querySelectorAll(selector)].map((each) => each.textContent)); // prettier-ignore
    expect(shown('h3, h4')).toEqual([
      ['Each part over the steps', 'reward', 'hack'],
      ['Paid', 'combined', 'retain'],
    ]);
    expect(shown('.legend li')).toEqual([parts, ['routing']]);
    expect(shown('figcaption')).toEqual([['Thick: ±1.'], ['Thick: ±1.']]);
    expect(sets.map((set) => [...set.querySelectorAll('input')].length)).toEqual([1, 0]);
    expect(sets.map((set) => set.getAttribute('tabindex'))).toEqual(['0', null]);
    // Two bands around a line.
    expect([...sets[1]!.querySelectorAll('svg')][0]!.querySelectorAll('[aria-label=area]')).toHaveLength(2);
  });

  it('are figures that are files of their own', async () => {
    const drawn = pageFigures(await readPageData(sweepWith(figures), { objective: null }));
    const own = drawn.filter(({ name }) => name.startsWith('study-'));
    expect(own.map(({ name }) => name)).toEqual([
      ...['study-each-part-over-the-steps-reward', 'study-each-part-over-the-steps-hack'],
      ...['study-paid-combined', 'study-paid-retain'],
    ]);
    const { png } = await pngPainter();
    for (const { svg } of own) expect(png(svg).subarray(1, 4).toString()).toBe('PNG');
  });

  it('have no slider where nothing moves, a letter where names have no room, a gap at null, and lines across', async () => {
    const names = Array.from({ length: 9 }, (_, at) => `a setting of a long name ${at}`);
    const bars = [{ x: names, y: names.map((_, at) => (at === 3 ? null : at)) }];
    const still = await pageOf(
      sweepWith([{ title: 'f', x: 'setting', y: 'acc', bars, lines: [{ y: 5, text: 'chance' }] }]),
    );
    const { document } = parseHTML(still) as unknown as Parsed;
    expect(document.querySelector('.controls')).toBeNull();
    const [svg] = document.querySelectorAll('figure.set svg');
    expect([...document.querySelectorAll('figure.set .legend li')].map(({ textContent }) => textContent)).toEqual(
      names.map((name, at) => `${'ABCDEFGHI'[at]!}: ${name}`),
    );
    const marks = [...svg!.querySelectorAll('g[data-bar]')];
    expect(marks.map((mark) => mark.getAttribute('visibility'))).toEqual(
      names.map((_, at) => (at === 3 ? 'hidden' : null)),
    );
    expect(marks[8]!.querySelector('title')!.textContent).toBe(`${names[8]!}: 8`);
    expect(svg!.textContent).toContain('chance');
  });

  it('keep a page small where each of many stands at a step of its own', async () => {
    const at = Array.from({ length: 5000 }, (_, index) => index);
    const bars = [{ name: 'a', x: at.map(String), y: at, at }];
    const large = await pageOf(sweepWith([{ title: 'f', x: 'x', y: 'y', bars }]));
    expect(Buffer.byteLength(large)).toBeLessThan(5e6);
    expect(large).toContain('<output data-of="step">step 4999</output>');
  });

  it('are text whatever they are called', async () => {
    const evil = `<img src=x onerror="1">'&</script>`;
    const bars = [{ name: evil, x: [evil, evil], y: [1, 2], at: [0, 1] }];
    const text = await pageOf(sweepWith([{ title: evil, x: evil, y: evil, set: evil, slider: evil, bars }]));
    expect(text).toContain('<figure class="set"');
    expect(text).not.toContain('<img');
  });
});

const browser = ['chromium', 'chromium-browser', 'google-chrome'].find(
  (name) => spawnSync('sh', ['-c', `command -v ${name}`]).status === 0,
);

describe.skipIf(browser === undefined && !hasProgram('chromium', 'bars of a study in a browser'))(
  'in a browser',
  () => {
    it('moves its bars by keys', async () => {
      const file = join(root, 'page.html');
      const script = `const figure = document.querySelector('figure.set'); figure.focus();
      document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'Home', bubbles: true }));`;
      const page = await pageOf(sweepWith(figures));
      writeFileSync(file, page.replace('</body>', `<script>${script}</script></body>`));
      const options = [
        '--headless',
        '--no-sandbox',
        '--disable-gpu',
        `--user-data-dir=${join(root, 'profile')}`,
        '--dump-dom',
      ];
      const { stdout } = spawnSync(browser!, [...options, `file://${file}`], { encoding: 'utf8', timeout: 25_000 });
      expect(stdout).toContain('>step 0</output>');
      expect(stdout).toContain('both, routing: 0.1 [0.09, 0.11] in [0.08, 0.12] n=3');
    });
  },
);
