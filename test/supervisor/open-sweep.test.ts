import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { tiered } from '../tiers.js';
import type { Fleet } from '../../src/client/fleet.js';
import { isGrowing } from '../../src/cli/plain/watched-run.js';
import { expandSweep } from '../../src/spec/expand/expand-sweep.js';
import { parseSweepFile } from '../../src/spec/file/parse-sweep-file.js';
import type { Plan } from '../../src/spec/planned-run.js';
import { Testbed, waitFor } from './testbed.js';

const environment = { PATH: process.env['PATH']! };
const slots = { slots: 2, gpus: 'none' } as const;

let bed: Testbed;
beforeEach(() => {
  bed = new Testbed();
});
afterEach(() => bed.close());

const planOf = (text: string): Plan =>
  expandSweep(parseSweepFile(text, 'toy.yaml'), { runsDirectory: bed.runs, cwd: bed.runs, environment });

/** A run that notes its start, writes how far it is from the best point, and ends. */
const objective = `
const { appendFileSync } = require('node:fs');
const [x, y] = process.argv.slice(1).map(Number);
appendFileSync('starts', process.env.MEMRL_RUN_DIR + '\\n');
const loss = (x - 0.7) ** 2 + (y - 0.2) ** 2;
appendFileSync(process.env.MEMRL_RUN_DIR + '/metrics.jsonl', JSON.stringify({ step: 1, loss }) + '\\n');
`;
const script = () => {
  writeFileSync(bed.path('objective.cjs'), objective);
  return `[${process.execPath}, -e, "require('./objective.cjs')", "\${x}", "\${y}"]`;
};
const search = (more: string, command = script()) =>
  planOf(`
command: ${command}
metric: {name: loss, goal: minimize}
parameters: {x: {min: 0.0, max: 1.0}, y: {min: 0.0, max: 1.0}}
${more}`);

const runsOf = (fleet: Fleet) => [...fleet.runs.values()];
const isOver = (fleet: Fleet) =>
  fleet.connection === 'connected' && !isGrowing(fleet, 'toy') && runsOf(fleet).every(({ state }) => state === 'done');
const untilOver = (fleet: Fleet) =>
  waitFor('the end of the sweep', () => isOver(fleet) && fleet.status.settled, 60_000);
const starts = () => bed.text('starts').split('\n').filter(Boolean);
const directories = () => readdirSync(bed.path('toy')).filter((name) => existsSync(bed.path('toy', name, 'run.json')));
const lossOf = (name: string) =>
  (JSON.parse(readFileSync(bed.path('toy', name, 'metrics.jsonl'), 'utf8')) as { loss: number }).loss;

describe('a Bayesian sweep', () => {
  it('ends at its cap, and has come near the best point', async () => {
    const fleet = await bed.fleet();
    await fleet.submit(search('method: bayes\nrun_cap: 20'), environment, slots);
    expect(runsOf(fleet).length).toBeLessThan(14);
    await untilOver(fleet);
    expect(runsOf(fleet)).toHaveLength(20);
    expect(starts()).toHaveLength(20);
    expect(Math.min(...runsOf(fleet).map(({ name }) => lossOf(name)))).toBeLessThan(0.05);
  });

  it(
    'that loses its supervisor again and again has every point once, and no more than its cap',
    { tags: ['long'] },
    async () => {
      const first = await bed.fleet();
      await first.submit(search('method: bayes\nrun_cap: 16'), environment, slots);
      for (const count of [2, 5, 9]) {
        await waitFor(`${count} starts`, () => starts().length >= count, 60_000);
        await bed.killSupervisor();
        await bed.fleet();
      }
      const fleet = await bed.fleet();
      await untilOver(fleet);
      expect(runsOf(fleet)).toHaveLength(16);
      expect(new Set(starts())).toHaveProperty('size', 16);
      expect(starts()).toHaveLength(16);
      expect(directories()).toHaveLength(16);
      const points = runsOf(fleet).map(({ parameters }) => JSON.stringify(parameters));
      expect(new Set(points)).toHaveProperty('size', 16);
    },
  );
});

/** The header, the clock, the slots and the submission come first; then starts, proposals and ends, in any order. */
const writes = [5, 6, 7, 8, 9, 10].flatMap((write) => [`${write}:after`, `${write}:torn`]);

describe('a supervisor that dies at a write of its journal', () => {
  tiered(writes, 1)('neither loses nor doubles a proposed run (%s)', async (at) => {
    const preload = `--import=${pathToFileURL(resolve('test/faults/die-at.mjs')).href}`;
    bed.give({ NODE_OPTIONS: preload, MEMRL_FAULT: `journal-write:${at}`, MEMRL_FAULT_LOG: bed.path('deaths') });
    const first = await bed.fleet();
    const plan = search('method: bayes\nrun_cap: 5');
    await first.submit(plan, { ...environment, NODE_OPTIONS: '' }, slots);
    await waitFor('its death', () => bed.text('deaths') !== '' && bed.supervisorPid() === null);
    first.close();
    bed.give({ MEMRL_FAULT: '' });
    const fleet = await bed.fleet();
    await untilOver(fleet);
    expect(runsOf(fleet)).toHaveLength(5);
    expect(starts()).toHaveLength(5);
    expect(new Set(starts())).toHaveProperty('size', 5);
  });
});

describe('an open sweep', () => {
  const endless = () => `[sh, -c, 'echo "$MEMRL_RUN_DIR" >> ${bed.path('starts')}; exec sleep 60', "\${x}"]`;

  it('fills the free slots, and no more, and gets nothing further once it is stopped', async () => {
    const fleet = await bed.fleet();
    await fleet.submit(search('method: random', endless()), environment, slots);
    await waitFor('both slots to be taken', () => starts().length === 2);
    expect(fleet.status).toMatchObject({ settled: false, growing: [{ sweep: 'toy', group: 'runs', cap: 100 }] });
    expect(await fleet.request({ verb: 'stop-sweep', sweep: 'toy' })).toMatchObject({ ok: true });
    await waitFor('the end', () => fleet.status.settled);
    expect(fleet.status.growing).toBeUndefined();
    expect(runsOf(fleet).map(({ state }) => state)).toEqual(['killed', 'killed']);
  });

  it('stays stopped when the supervisor dies, and goes on when it is launched again', async () => {
    const fleet = await bed.fleet();
    const plan = search('method: random', endless());
    await fleet.submit(plan, environment, slots);
    await waitFor('both slots to be taken', () => starts().length === 2);
    await fleet.request({ verb: 'stop-sweep', sweep: 'toy' });
    await waitFor('the end', () => fleet.status.settled);
    await bed.killSupervisor();
    const next = await bed.fleet();
    expect([next.runs.size, next.status.settled]).toEqual([2, true]);
    await next.submit(plan, environment, slots);
    await waitFor('a further run', () => next.runs.size === 3);
  });

  it('ends when all its points have a run', async () => {
    const fleet = await bed.fleet();
    const text = 'command: [sh, -c, "true", "${a}"]\nmethod: random\nparameters: {a: {values: [1, 2, 3]}}';
    await fleet.submit(planOf(text), environment, slots);
    await waitFor('the end', () => fleet.runs.size === 3 && fleet.status.settled);
    expect(
      runsOf(fleet)
        .map(({ name }) => name)
        .sort(),
    ).toEqual(['a1', 'a2', 'a3']);
    expect(bed.text('.supervisor', 'log')).toContain(
      'toy/runs gets no further runs: every point that was tried has a run',
    );
  });

  it('gets nothing further while its runs fail at once', async () => {
    const fleet = await bed.fleet();
    await fleet.submit(search('method: random', '["false", "${x}"]'), environment, slots);
    await waitFor('the end', () => fleet.status.settled && fleet.runs.size >= 3);
    expect(fleet.runs.size).toBeLessThan(6);
  });
});
