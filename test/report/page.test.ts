import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { pngPainter } from '../../src/cli/write-page.js';
import { pageFigures } from '../../src/report/page/page.js';
import { readPageData } from '../../src/report/page/page-data.js';
import type { Objective } from '../../src/spec/planned-run.js';
import { hasProgram } from '../has-program.js';
import { removeFolder } from '../remove-folder.js';
import { pageOf, sweepIn, type Facts } from './sweep-in-test.js';

const root = mkdtempSync(join(tmpdir(), 'page-'));
afterAll(() => removeFolder(root));
let sweeps = 0;

function sweepOf(runs: readonly Facts[], text = ''): string {
  return sweepIn(join(root, `sweep-${sweeps++}`), runs, text);
}

/** Runs of a small search: the loss falls with the learning rate, and no seed is like another. */
function search(count: number, steps = 30): Facts[] {
  return Array.from({ length: count }, (_, run) => {
    const [lr, seed] = [[0.001, 0.01, 0.1][run % 3]!, Math.floor(run / 3)];
    const lossAt = (step: number) => 1 / (1 + 50 * lr * step) + 0.01 * seed;
    const rows = Array.from({ length: steps }, (_, step) => ({ step, loss: lossAt(step), acc: 1 - lossAt(step) }));
    return {
      name: `r${run}`,
      parameters: { lr, width: run % 2 === 0 ? 'narrow' : 'wide', seed },
      rows,
      argv: ['python', 'train.py', `--lr=${lr}`],
    };
  });
}

const lowLoss: Objective = { name: 'loss', goal: 'minimize', target: null } as unknown as Objective;

describe('the page of a sweep', () => {
  it('has a curve and a row for each run, and finds both by one number', async () => {
    const page = await pageOf(sweepOf(search(12)), lowLoss);
    for (let run = 0; run < 12; run++) {
      expect(page.match(new RegExp(`<path[^>]* data-run="${run}"`, 'g'))!.length).toBeGreaterThanOrEqual(2);
      expect(page).toMatch(new RegExp(`<tr[^>]* data-run="${run}" tabindex="0"`));
    }
    expect(page).not.toContain('<title>run');
  });

  it('ranks the runs by what the sweep tries to make small', async () => {
    const page = await pageOf(sweepOf(search(12)), lowLoss);
    const best = /Best runs[\s\S]*?<\/section>/.exec(page)![0];
    const names = [...best.matchAll(/<td>(r\d+)<\/td>/g)].map(([, name]) => name);
    expect(names.slice(0, 4)).toEqual(['r2', 'r5', 'r8', 'r11']);
  });

  it('ranks the group that the sweep is about, and not what prepares for it', async () => {
    const prepare = search(4).map((run) => ({ ...run, name: `a-${run.name}`, group: 'prepare' }));
    const main = search(4).map(({ rows = [], ...run }) => ({
      ...run,
      rows: rows.map((row) => Object.assign({ bits: 1 }, row)),
    }));
    const sweep = sweepOf([...prepare, ...main]);
    const dataOf = async (objective: Objective | null) => readPageData(sweep, { objective });
    const bits = { name: 'bits', goal: 'maximize' } as Objective;
    expect(await dataOf(bits)).toMatchObject({ rankedGroup: 'main', ranking: { metric: 'bits', goal: 'maximize' } });
    // Where both write it, the first.
    expect((await dataOf(lowLoss)).rankedGroup).toBe('prepare');
  });

  it('has figures under names of their own, also where those of metrics are alike', async () => {
    const rows = [1, 2, 3].map((step) => ({ step, 'eval/loss': step ** 2, eval_loss: 1 / step }));
    const sweep = sweepOf([{ name: 'a', rows }]);
    const data = await readPageData(sweep, { objective: null });
    expect(pageFigures(data).map(({ name }) => name)).toEqual(['main-eval-loss', 'main-eval-loss-2']);
  });

  it('has figures that are files of their own: with a legend, and as strict readers want them', async () => {
    const sweep = sweepOf(search(6));
    const [svg] = pageFigures(await readPageData(sweep, { objective: lowLoss })).map((figure) => figure.svg);
    const [head] = /^<svg [^>]*>/.exec(svg!)!;
    const names = [...head.matchAll(/ ([\w:-]+)="/g)].map(([, name]) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(svg).toContain('lr=0.001');
    // This reader takes no SVG that is not well-formed.
    const { png } = await pngPainter();
    expect(png(svg!).subarray(1, 4).toString()).toBe('PNG');
  });

  it('shows the others where some runs exploded: those leave the figure at a mark, and no number is cut', async () => {
    const exploded = search(4).map((run) => ({
      ...{ ...run, name: `wild-${run.name}`, parameters: { ...run.parameters, lr: 1 } },
      rows: Array.from(
        { length: 30 },
        (_, step) => `{"step": ${step}, "loss": ${step < 29 ? `1e${step}` : 'Infinity'}}`,
      ),
    }));
    const runs = [...search(24), ...exploded];
    const data = await readPageData(sweepOf(runs), { objective: lowLoss });
    const figures = new Map(pageFigures(data).map(({ name, svg }) => [name, svg]));
    for (const name of ['main-loss', 'parameters-lr']) {
      const svg = figures.get(name)!;
      expect(svg.match(/▲/g)).toHaveLength(4);
      expect(svg).not.toMatch(/NaN|Infinity|000,000|1e2\d/);
    }
    const page = await pageOf(sweepOf(runs), lowLoss);
    expect(page).toContain('▲ 4 runs leave the axis, up to inf.');
  });

  it('has no axis for a parameter that few runs pass, or that is always the same', async () => {
    const runs = search(24).map((run, at) => ({
      ...run,
      parameters: { ...run.parameters, fixed: 1, ...(at < 6 ? { rare: at % 2 } : {}) },
    }));
    const figures = pageFigures(await readPageData(sweepOf(runs), { objective: lowLoss }));
    const parallel = figures.find(({ name }) => name.includes('together'))!.svg;
    expect([...parallel.matchAll(/>(lr|width|fixed|rare|loss)</g)].map(([, name]) => name)).toEqual([
      'lr',
      'width',
      'loss',
    ]);
  });

  it('says which parameter matters, where it was made and from what code', async () => {
    const page = await pageOf(sweepOf(search(24)), lowLoss);
    expect(page).toContain('Which parameters matter for loss');
    expect(page).toContain('parallel coordinates');
    expect(page).toContain('commit c0ffee123456 with changes');
    expect(page).toContain('2023-11-14 22:13 UTC');
    expect(page).toContain('<code>memrl-tui report s --html s.html</code>');
  });

  it('tells why runs failed', async () => {
    const failed: Facts = { name: 'bad', outcome: { kind: 'failed', code: 1, line: 'CUDA out of memory' } };
    const page = await pageOf(sweepOf([...search(3), failed]));
    expect(/Failed runs[\s\S]*?<\/section>/.exec(page)![0]).toContain('CUDA out of memory');
    expect(await pageOf(sweepOf(search(3)))).not.toMatch(/Failed runs|What went wrong/);
  });

  it('begins with the kinds of what went wrong, how often, and the parameter behind each', async () => {
    const runs = Array.from({ length: 60 }, (_, seed): Facts => {
      const dim = seed % 3 === 0 ? 512 : 64;
      const line = `CUDA out of memory. Tried to allocate ${seed + 2}.50 GiB`;
      const ends: Partial<Facts> =
        dim === 512 ? { outcome: { kind: 'failed', code: 1, line } } : { rows: [{ step: 1, loss: 1 + seed }] };
      return { name: `r${seed}`, parameters: { dim, seed }, ...ends };
    });
    runs.push({ name: 'odd', parameters: { dim: 64, seed: 99 }, outcome: { kind: 'failed', code: 2, line: 'bad 7' } });
    const page = await pageOf(sweepOf(runs));
    const first = /<h2>[^]*?<\/section>/.exec(page)![0];
    const rows = [...first.matchAll(/<tr data-run[^]*?<\/tr>/g)].map(([row]) =>
      [...row.matchAll(/<td[^>]*>([^]*?)<\/td>/g)].map(([, cell]) => cell!.replace(/<[^>]+>/g, '').trim()),
    );
    expect(first).toContain('<h2>What went wrong</h2>');
    expect(rows[0]!.slice(0, 2)).toEqual(['20', 'CUDA out of memory. Tried to allocate # GiB']);
    expect(rows[0]![2]).toMatch(/^dim=512 \(20 of 20 runs, else 0 of 40; p &#60; 1e-\d+\)$/);
    expect(rows[1]).toEqual(['1', 'bad 7', '–', 'odd']);
  });

  it('draws many settings in colours of the parameter that matters most, with a legend, and says which', async () => {
    const runs = Array.from({ length: 24 }, (_, run): Facts => {
      const [width, lr] = [run % 12, [0.1, 0.001][Math.floor(run / 12)]!];
      const rows = Array.from({ length: 9 }, (_row, step) => ({ step, loss: 10 * lr + 1e-4 * width + 1 / (1 + step) }));
      return { name: `r${run}`, parameters: { kind: run % 2 === 0 ? 'a' : 'b', width, lr }, rows };
    });
    const page = await pageOf(sweepOf(runs), lowLoss);
    const [first] = /<tbody>[\s\S]*?<\/tr>/.exec(page)!;
    expect(first).toMatch(/width=0 .*lr=0.001/);
    const figure = /<figure>\s*<h3>loss<\/h3>[\s\S]*?<\/figure>/.exec(page)![0];
    expect(figure).toContain('coloured by lr');
    const [low, high] = ['lr=0.001', 'lr=0.1'].map((text) => new RegExp(`(#\\w{6})[^#]*${text}<`).exec(figure)![1]!);
    const strokes = [...figure.matchAll(/<path[^>]* data-run="(\d+)"[^>]*>/g)].map(([path, run]) => {
      return [Number(run), /stroke="(#\w{6})"/.exec(path)?.[1]] as const;
    });
    expect(new Map(strokes)).toEqual(new Map(runs.map((_, run) => [run, run < 12 ? high : low])));
  });

  it('folds a table of many settings, so that it is not what one has to scroll through', async () => {
    const settings = (count: number): Facts[] =>
      Array.from({ length: count }, (_, at) => ({
        name: `r${at}`,
        parameters: { lr: at },
        rows: [{ step: 1, loss: at }],
      }));
    expect(await pageOf(sweepOf(settings(50)))).toMatch(/<summary>50 rows<\/summary>/);
    expect(await pageOf(sweepOf(settings(20)))).not.toContain('<summary>');
  });

  it('is text whatever the runs wrote: nothing of it becomes markup or script', async () => {
    const evil = `</script><script>alert(1)</script><img src=x onerror=alert(1)>"'&`;
    const page = await pageOf(
      sweepOf([
        {
          ...{ name: 'r', parameters: { [evil]: evil, seed: 1 }, argv: ['sh', '-c', evil] },
          ...{
            rows: [
              { step: 1, [evil]: 1 },
              { step: 2, [evil]: 2 },
            ],
          },
          outcome: { kind: 'failed', code: 1, line: evil },
        },
      ]),
    );
    expect(page).not.toContain('<img');
    expect(page).not.toContain('<script>alert');
    expect(page.match(/<\/script>/g)).toHaveLength(2);
  });

  it('asks nobody else for anything', async () => {
    const page = await pageOf(sweepOf(search(6)), lowLoss);
    const addresses = page.match(/\b(?:https?:)?\/\/[\w.]+/g) ?? [];
    expect(addresses.filter((address) => !address.includes('www.w3.org'))).toEqual([]);
    expect(page).not.toMatch(/\b(?:src|href)=/);
  });

  it('stays below 2 MB with 160 runs of many rows and two metrics', async () => {
    const page = await pageOf(sweepOf(search(160, 1000)), lowLoss);
    expect(Buffer.byteLength(page)).toBeLessThan(2e6);
  });

  it('has no section for runs that are done and measured nothing, and one for those that are not done', async () => {
    const data: Facts = { name: 'data_s0', group: 'data' };
    const headings = (page: string) => [...page.matchAll(/<h2>(.*?)<\/h2>/g)].map(([, text]) => text);
    const done = await pageOf(sweepOf([...search(3), data]));
    expect(headings(done)).toEqual(['main', 'Best runs', 'All runs']);
    expect(done).toContain('<td>data_s0</td>');
    const failed = await pageOf(sweepOf([...search(3), { ...data, outcome: { kind: 'killed' } }]));
    expect(headings(failed)).toContain('data');
  });

  it('can be made of runs that have written nothing', async () => {
    const page = await pageOf(sweepOf([{ name: 'a' }, { name: 'b', outcome: { kind: 'killed' } }]));
    expect(page).toContain('All runs');
    expect(page).not.toContain('<figure>');
  });
});

const browser = ['chromium', 'chromium-browser', 'google-chrome'].find((name) => {
  return spawnSync('sh', ['-c', `command -v ${name}`]).status === 0;
});

describe.skipIf(browser === undefined && !hasProgram('chromium', 'the page of a report in a browser'))(
  'in a browser',
  () => {
    /** The page after some lines of script were run in it, as the browser has it then. */
    async function after(script: string): Promise<string> {
      const file = join(root, `page-${sweeps}.html`);
      const page = await pageOf(sweepOf(search(6)), lowLoss);
      writeFileSync(file, page.replace('</body>', `<script>${script}</script></body>`));
      const profile = join(root, 'profile');
      const options = ['--headless', '--no-sandbox', '--disable-gpu', `--user-data-dir=${profile}`, '--dump-dom'];
      return spawnSync(browser!, [...options, `file://${file}`], { encoding: 'utf8', timeout: 25_000 }).stdout;
    }

    it('shows a card for the curve that is pointed at', async () => {
      const page = await after(
        `document.querySelector('path[data-run="4"]').dispatchEvent(new MouseEvent('mouseover', { bubbles: true }));`,
      );
      const card = /<aside[\s\S]*?<\/aside>/.exec(page)![0];
      expect(card).not.toContain('hidden');
      expect(card).toContain('<h3>r4</h3>');
      expect(card).toContain('python train.py --lr=0.01');
      expect(page).toMatch(/<tr[^>]*data-run="4"[^>]*class="on"|<tr[^>]*class="on"[^>]*data-run="4"/);
    });

    it('can be filtered, sorted, and gone through with the keyboard', async () => {
      const page = await after(`
      const search = document.getElementById('search');
      search.value = 'lr=0.1';
      search.dispatchEvent(new Event('input'));
      document.querySelectorAll('#runs-table th button')[3].click();
      document.querySelector('#runs-table tr[data-run="5"]').focus();
      const press = (key) => document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
      press('Enter');
      const seen = [];
      for (const key of ['ArrowUp', 'ArrowUp', 'ArrowDown', 'ArrowDown', 'ArrowUp']) {
        press(key);
        seen.push(document.activeElement.dataset.run);
      }
      document.title = seen.join(' ');`);
      // Rows that are filtered out are passed over.
      expect(page).toContain('<title>2 2 5 5 2</title>');
      const rows = [...page.matchAll(/<tr data-run="(\d)" tabindex="0"([^>]*)>/g)];
      expect(rows.filter(([, , rest]) => !rest!.includes('hidden')).map(([, run]) => run)).toEqual(['2', '5']);
      expect(/<aside[\s\S]*?<\/aside>/.exec(page)![0]).toContain('<h3>r5</h3>');
      expect(page).toContain('aria-sort="ascending"');
    });

    it('lets every control be reached and named, and fits a narrow screen', async () => {
      const page = await after(`
      const controls = [...document.querySelectorAll('button, input, tr[tabindex]')];
      const isNamed = (each) => (each.getAttribute('aria-label') ?? each.textContent).trim() !== '';
      const figures = [...document.querySelectorAll('figure svg')];
      const frame = document.createElement('iframe');
      frame.style.width = '390px';
      frame.srcdoc = '<!doctype html>' + document.documentElement.outerHTML.replace(/<script>[^]*?<\\/script>/g, '');
      frame.onload = () => {
        const inner = frame.contentDocument.documentElement;
        const wide = frame.contentDocument.querySelector("figure svg[width='860']").getBoundingClientRect().width;
        document.title = JSON.stringify({
          named: controls.every((each) => each.tabIndex === 0 && isNamed(each)),
          figures: figures.length > 0 && figures.every((each) => each.getAttribute('aria-label')),
          overflow: inner.scrollWidth - inner.clientWidth,
          readable: wide >= 600,
        });
      };
      document.body.append(frame);`);
      const found = JSON.parse(/<title>(\{.*\})<\/title>/.exec(page)![1]!) as object;
      expect(found).toEqual({ named: true, figures: true, overflow: 0, readable: true });
    });
  },
);
