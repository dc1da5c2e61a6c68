import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { workplace } from '../../e2e/program.js';

const { at, run } = workplace();

/** Ended days ago, so that nobody takes it for a run that is up. */
function writeRun(name: string, config: object, rows: readonly object[]): void {
  const long = new Date(Date.now() - 2 * 86_400_000);
  for (const [file, text] of [
    ['config.json', JSON.stringify(config)],
    ['metrics.jsonl', rows.map((row) => `${JSON.stringify(row)}\n`).join('')],
  ] as const) {
    const path = at(`r/${name}/${file}`);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    utimesSync(path, long, long);
  }
}

/** Loss at the end, by learning rate and seed; null: it diverges. */
function writeSweep(ends: Readonly<Record<string, readonly (number | null)[]>>): void {
  for (const [lr, own] of Object.entries(ends)) {
    for (const [seed, end] of own.entries()) {
      const rows = Array.from({ length: 20 }, (_, step) => {
        return {
          step,
          'eval/loss': end === null ? 10 ** (1.2 * step) : end * (1 + (19 - step) / 5),
          'optim/norm': step,
        };
      });
      writeRun(`lr${lr}_s${seed}`, { lr: Number(lr), seed }, rows);
    }
  }
}

const clear = { 0.01: [0.9, 0.91, 0.92], 0.03: [0.2, 0.21, 0.22], 0.1: [0.4, 0.41, 0.39], 1: [null, null, null] };

describe('memrl-tui best', () => {
  it('names the setting that is best over its seeds, and what is no candidate', async () => {
    writeSweep(clear);
    const { code, out } = await run('best', 'r');
    expect(out).toMatchInlineSnapshot(`
      "r · eval/loss, lowest first · 12 of 12 runs done

      lr=0.03 is best: eval/loss 0.210 over 3 runs, told apart from all others; next is lr=0.1 (0.400 over 3 runs).
      lr=1 is no candidate: its runs diverged, collapsed or ended with NaN.

      setting  eval/loss            95 %  runs
      ──────────────────────────────────────────────────────
      lr=0.03      0.210  0.196 to 0.224     3  best
      lr=0.1       0.400  0.382 to 0.418     3
      lr=0.01      0.910  0.870 to 0.952     3
      lr=1        broken                     3  3 of 3 broke
      "
    `);
    expect(code).toBe(0);
  });

  it('says where seeds vary too much to tell settings apart, and where nothing was run twice', async () => {
    writeSweep({ 0.01: [0.3, 0.5, 0.4], 0.03: [0.35, 0.25, 0.45], 0.1: [9, 9.1, 9.2] });
    expect((await run('best', 'r')).out).toContain(
      'lr=0.03 has the best median, eval/loss 0.350 over 3 runs, but lr=0.01 (0.400 over 3 runs) cannot be told apart from it.',
    );
    expect((await run('best', 'r', 'seed=0')).out.replace(/\s+/g, ' ')).toContain(
      'lr=0.01 has the best value, eval/loss 0.300 over 1 run; next is lr=0.03 (0.350 over 1 run). No setting was run twice, so that it may be chance.',
    );
  });

  it('gives the same as JSON, and by a metric that is named by its end', async () => {
    writeSweep(clear);
    const { out } = await run('best', 'r', '--json', '--metric', 'minimize loss');
    const [answer] = JSON.parse(out) as [Record<string, unknown>];
    expect(answer).toMatchObject({
      ...{ sweep: 'r', metric: 'eval/loss', goal: 'minimize', read: true, done: 12, pending: 0, toldApart: true },
      best: { parameters: { lr: 0.03 }, median: 0.21, broken: 0, runs: ['lr0.03_s0', 'lr0.03_s1', 'lr0.03_s2'] },
      runnerUp: { parameters: { lr: 0.1 }, tied: false },
      broken: [{ parameters: { lr: 1 }, median: null, broken: 3 }],
    });
    const wrong = await run('best', 'r', '--metric', 'minimize los');
    expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('No run has a parameter or a metric `los`')]);
  });
});

describe('memrl-tui ls', () => {
  const names = (out: string) => out.split('\n').flatMap((line) => /lr[\d.]+_s\d/.exec(line)?.[0] ?? []);

  it('sorts by a metric, the best first and what broke last, by its whole name or its end', async () => {
    writeSweep(clear);
    const sorted = ['lr0.03_s0', 'lr0.03_s1', 'lr0.03_s2', 'lr0.1_s2', 'lr0.1_s0', 'lr0.1_s1'];
    expect(names((await run('ls', 'r', '--sort', 'eval/loss')).out).slice(0, 6)).toEqual(sorted);
    const { out } = await run('ls', 'r', 'loss<0.5', '--sort', 'loss', '--columns', 'loss');
    expect(names(out)).toEqual(sorted);
    expect(out).toMatch(/lr0\.03_s0 .* 0\.2000/);
    expect(names((await run('ls', 'r', '--sort', '-lr')).out)[0]).toMatch(/^lr1_/);
  });

  it('sorts by what is a parameter of some runs and a metric of others', async () => {
    writeRun('a', { lr: 2, temperature: 10 }, [{ step: 1, loss: 1 }]);
    writeRun('b', { lr: 3, temperature: 9 }, [{ step: 1, loss: 1 }]);
    writeRun('c', { lr: 1 }, [{ step: 1, temperature: 9.5 }]);
    const { code, out } = await run('ls', 'r', '--sort', 'temperature');
    expect([code, out.split('\n').flatMap((line) => /^done +(\S+)/.exec(line)?.[1] ?? [])]).toEqual([
      0,
      ['lr3_temp9', 'lr1', 'lr2_temp10'],
    ]);
  });

  it('refuses an end of several names with all of them', async () => {
    writeRun('one', { lr: 1 }, [{ step: 1, 'train/loss': 1, 'eval/loss': 2 }]);
    for (const words of [
      ['ls', 'r', 'loss<3'],
      ['ls', 'r', '--sort', 'loss'],
      ['best', 'r', '--metric', 'minimize loss'],
    ]) {
      // prettier-ignore
      const { code, err } = await run(...words);
      expect([code, err]).toEqual([2, expect.stringContaining('Write one of them whole: train/loss, eval/loss.')]);
    }
  });
});
