import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WrittenFiles } from '../../src/contract/written-files.js';
import type { Fleet } from '../../src/client/fleet.js';
import { openMetrics } from '../../src/metrics/run-metrics.js';
import type { PlannedRun } from '../../src/spec/planned-run.js';
import { removeFolder } from '../remove-folder.js';
import { run, Testbed, untilSettled, untilState, waitFor } from './testbed.js';

const environment = { PATH: process.env['PATH']!, HOME: '/nowhere' };
const hasProc = existsSync('/proc/self/fd');

/** Where programs work and write; the runs directory lies in it, as `./runs` does. */
let work: string;
let bed: Testbed;
beforeEach(() => {
  work = realpathSync(mkdtempSync(join(tmpdir(), 'work-')));
  bed = new Testbed();
});
afterEach(async () => {
  await bed.close();
  removeFolder(work);
});

const place = (name: string) => join(work, name);
const openGate = (name = 'gate') => writeFileSync(place(name), '');

/** A program with `write(path, text)`, which opens for each call, and `hold(path)`, which keeps open; it ends when the gate is there, or then goes on. */
const program = (text: string, ...words: string[]): [string, ...string[]] => [
  process.execPath,
  '-e',
  `const fs = require('fs'), path = require('path');
  const made = (file) => (fs.mkdirSync(path.dirname(file), { recursive: true }), file);
  const write = (file, text) => fs.appendFileSync(made(file), text);
  const hold = (file) => { const opened = fs.openSync(made(file), 'a'); return (text) => fs.writeSync(opened, text); };
  const untilGate = (name = 'gate', then = () => {}) => {
    const look = () => fs.existsSync(name) ? then() : setTimeout(look, 20);
    look();
  };
  const args = process.argv.slice(1);
  ${text}`,
  '--',
  ...words,
];

const csv = (loss: number) => `step,loss\\n0,${loss}\\n1,${loss / 2}\\n`;
const submit = async (runs: Partial<PlannedRun>[], slots = 2): Promise<Fleet> => {
  const fleet = await bed.fleet();
  await fleet.submit(
    bed.plan(
      's',
      runs.map((each) => ({ cwd: work, ...each })),
    ),
    environment,
    { slots, gpus: 'none' },
  );
  return fleet;
};
/** A file that appears while only one of them is up is that one's. */
async function untilBothWrite(fleet: Fleet): Promise<void> {
  await waitFor('both to be up', () => [...fleet.runs.values()].filter(({ pid }) => pid !== null).length === 2);
  openGate('both');
}
const written = (name: string) => {
  const text = bed.text('s', name, 'written.json');
  return text === '' ? null : WrittenFiles.parse(JSON.parse(text));
};
const own = (name: string) => written(name)?.files.map(({ path }) => path.slice(work.length + 1)) ?? [];
const refused = (name: string) => written(name)?.refused.map(({ path }) => path.slice(work.length + 1)) ?? [];
const losses = (name: string) => [...openMetrics(bed.path('s', name)).readNow().series('loss').y];

describe.skipIf(!hasProc)('two runs at once in one working directory', () => {
  it('have each the file that they keep open', async () => {
    const keeping = (loss: number) => program(`hold('logs/training_${loss}.csv')('${csv(loss)}'); untilGate();`);
    const fleet = await submit([
      { name: 'a', argv: keeping(2) },
      { name: 'b', argv: keeping(4) },
    ]);
    await waitFor('both files to be known', () => own('a').length > 0 && own('b').length > 0);
    expect([own('a'), own('b')]).toEqual([['logs/training_2.csv'], ['logs/training_4.csv']]);
    await waitFor('the curve of b at the client', () => run(fleet, 's/b').metrics['loss'] === 2);
    openGate();
    await untilSettled(fleet);
    expect([losses('a'), losses('b')]).toEqual([
      [2, 1],
      [4, 2],
    ]);
    expect([run(fleet, 's/a').warning, run(fleet, 's/b').warning]).toEqual([null, null]);
  });

  it('have each the events whose file has the number of their process, and hear that the folder is shared', async () => {
    const fixture = join(import.meta.dirname, '../fixtures/metrics/torch');
    const events = readdirSync(fixture).find((name) => name.includes('tfevents'))!;
    const copying = program(
      `const bytes = fs.readFileSync('${join(fixture, events)}');
      write('runs/Nov23_host/events.out.tfevents.1.${hostname()}.' + process.pid + '.0', bytes); untilGate();`,
    );
    const fleet = await submit([
      { name: 'a', argv: copying },
      { name: 'b', argv: copying },
    ]);
    await waitFor('both to be known', () => own('a').length > 0 && own('b').length > 0);
    const pid = await waitFor('its process', () => run(fleet, 's/a').pid);
    expect(own('a')).toEqual([`runs/Nov23_host/events.out.tfevents.1.${hostname()}.${pid}.0`]);
    await waitFor('both rows to say so', () =>
      ['a', 'b'].every((name) => run(fleet, `s/${name}`).warning?.includes('runs/Nov23_host has files of') === true),
    );
    expect(run(fleet, 's/a').warning).toMatch(/files of b, too, .*`cwd: '\$\{run_dir\}'`.* gives each run its own$/);
    expect(openMetrics(bed.path('s/a')).readNow().keys().length).toBeGreaterThan(0);
    openGate();
    await untilSettled(fleet);
  });

  it('have neither a file that both write, and both rows say why and what to do', async () => {
    const argv = program(`hold('metrics.csv')('${csv(2)}'); untilGate();`, '--output_dir=.');
    const fleet = await submit(['a', 'b'].map((name) => ({ name, argv })));
    await waitFor('both rows to warn', () => [...fleet.runs.values()].every(({ warning }) => warning !== null));
    expect(run(fleet, 's/a').warning).toBe(
      "metrics.csv is not read: b wrote to it, too; `'--output_dir=${run_dir}'` in `command` gives each run its own",
    );
    openGate();
    await untilSettled(fleet);
    expect([own('a'), own('b'), losses('a'), losses('b')]).toEqual([[], [], [], []]);
    expect([refused('a'), refused('b')]).toEqual([['metrics.csv'], ['metrics.csv']]);
  });

  it('are not warned of a file that is not read where what they print has the same curves', async () => {
    const printed = (name: string) => `step=0 ${name}=2\\nstep=1 ${name}=1`;
    const argv = (name: string) =>
      program(`hold('metrics.csv')('${csv(2)}'); console.log('${printed(name)}'); untilGate();`);
    const fleet = await submit([
      { name: 'a', argv: argv('loss') },
      { name: 'b', argv: argv('other') },
    ]);
    await waitFor('both files to be refused', () => refused('a').length === 1 && refused('b').length === 1);
    await waitFor(
      'the printed curves',
      () => run(fleet, 's/a').metrics['loss'] === 1 && run(fleet, 's/b').metrics['other'] === 1,
    );
    openGate();
    await untilSettled(fleet);
    await waitFor('the warning of a to go', () => run(fleet, 's/a').warning === null);
    await expect.poll(() => run(fleet, 's/b').warning).toContain('metrics.csv is not read: a wrote to it, too');
  });

  it('have neither a file that is opened for each row, when one of them may have written it', async () => {
    const argv = (name: string) => program(`untilGate('both', () => write('${name}.csv', '${csv(2)}')); untilGate();`);
    const fleet = await submit(['a', 'b'].map((name) => ({ name, argv: argv(name) })));
    await untilBothWrite(fleet);
    await waitFor('both files to be there', () => existsSync(place('b.csv')) && existsSync(place('a.csv')));
    openGate();
    await untilSettled(fleet);
    await waitFor('both to be refused', () => refused('a').length === 2 && refused('b').length === 2);
    expect([own('a'), own('b')]).toEqual([[], []]);
    await waitFor('a to warn', () => run(fleet, 's/a').warning?.includes('b ran beside this one') === true);
  });

  it('have each what lies in the folder in which they keep a log open, as Hydra has it', async () => {
    const argv = (folder: string) =>
      program(`hold('${folder}/train.log')('begun'); write('${folder}/metrics.csv', '${csv(2)}'); untilGate();`);
    const fleet = await submit([
      { name: 'a', argv: argv('outputs/12-00-01') },
      { name: 'b', argv: argv('outputs/12-00-02') },
    ]);
    await waitFor('both to be known', () => own('a').length > 0 && own('b').length > 0);
    expect([own('a'), own('b')]).toEqual([['outputs/12-00-01/metrics.csv'], ['outputs/12-00-02/metrics.csv']]);
    openGate();
    await untilSettled(fleet);
  });
});

it('gives a run what lies below a path that only its own command names, and passes over what was there before', async () => {
  mkdirSync(place('out_a'));
  writeFileSync(place('out_a/old.csv'), 'step,loss\n0,9\n1,8\n');
  const argv = (name: string) =>
    program(`write(args[0].split('=')[1] + '/metrics.csv', '${csv(2)}'); untilGate();`, `--out=out_${name}`, 'data');
  const fleet = await submit(['a', 'b'].map((name) => ({ name, argv: argv(name) })));
  await waitFor('both files', () => existsSync(place('out_a/metrics.csv')) && existsSync(place('out_b/metrics.csv')));
  openGate();
  await untilSettled(fleet);
  await waitFor('both to be known', () => own('a').length > 0 && own('b').length > 0);
  expect([own('a'), own('b')]).toEqual([['out_a/metrics.csv'], ['out_b/metrics.csv']]);
  expect(losses('a')).toEqual([2, 1]);
});

it(
  'gives a run what appeared while it was alone, until another writes to the same file',
  { tags: ['long'] },
  async () => {
    const appending = program(`write('results.csv', fs.existsSync('results.csv') ? '2,7\\\\n3,8\\\\n' : '${csv(2)}');
    write('only_' + process.env.MEMRL_RUN.split('/')[1] + '.csv', '${csv(2)}'); setTimeout(() => {}, 1200);`);
    const fleet = await submit(
      [
        { name: 'a', argv: appending },
        { name: 'b', argv: appending },
      ],
      1,
    );
    await untilState(fleet, 's/a', 'done');
    await waitFor('the files of a to be known', () => own('a').length === 2);
    expect(own('a').sort()).toEqual(['only_a.csv', 'results.csv']);
    await untilSettled(fleet);
    await waitFor('the file to be nobody’s', () => own('a').length === 1 && own('b').length === 1);
    expect([own('a'), own('b')]).toEqual([['only_a.csv'], ['only_b.csv']]);
    expect(refused('a')).toEqual(['results.csv']);
  },
);

it('knows, in the runs directory itself, what no sweep has written', async () => {
  const file = bed.path('Nov23_host', 'metrics.csv');
  const argv = program(`write('${file}', '${csv(2)}'); untilGate('${place('gate')}');`);
  const fleet = await submit([{ name: 'a', cwd: bed.runs, argv }]);
  await waitFor('it to be known', () => written('a')?.files.length === 1);
  expect(written('a')!.files[0]!.path).toBe(file);
  openGate();
  await untilSettled(fleet);
  expect([...fleet.sweeps.keys()]).toEqual(['s']);
});

it('gives runs with a common folder in `metrics.folders` only what each of them wrote', async () => {
  const folders = [place('lightning_logs')];
  const metrics = { show: [], x: 'step', progress: null, folders };
  mkdirSync(place('lightning_logs'));
  writeFileSync(place('lightning_logs/before.csv'), 'step,loss\n0,9\n');
  const writing = (loss: number) =>
    program(`write('lightning_logs/version_${loss}/metrics.csv', '${csv(loss)}'); setTimeout(() => {}, 100);`);
  const fleet = await submit(
    [
      { name: 'a', argv: writing(2), metrics },
      { name: 'b', argv: writing(4), metrics },
    ],
    1,
  );
  await untilSettled(fleet);
  await waitFor('both to be known', () => own('a').length > 0 && own('b').length > 0);
  expect([losses('a'), losses('b')]).toEqual([
    [2, 1],
    [4, 2],
  ]);
});

it.skipIf(!hasProc)('does not give a run the events of another program in the same folder', async () => {
  const fixture = join(import.meta.dirname, '../fixtures/metrics/torch');
  const bytes = readFileSync(
    join(
      fixture,
      readdirSync(fixture).find((name) => name.includes('tfevents'))!,
    ),
  );
  const other = spawn('sleep', ['60'], { stdio: 'ignore' });
  try {
    const fleet = await submit([{ name: 'a', argv: program(`write('mine.csv', '${csv(2)}'); untilGate();`) }]);
    await untilState(fleet, 's/a', 'running');
    writeFileSync(place(`events.out.tfevents.1.${hostname()}.${other.pid}.0`), bytes);
    await waitFor('its own file to be known', () => own('a').length > 0);
    openGate();
    await untilSettled(fleet);
    expect(own('a')).toEqual(['mine.csv']);
  } finally {
    other.kill();
  }
});

describe.skipIf(!hasProc)('kill -9 of the supervisor', () => {
  it('loses no claim: the file stays with its run, and what was written meanwhile is found', async () => {
    const keeping = program(
      `hold('logs/1.csv')('${csv(2)}');
      const late = () => fs.existsSync('late') ? (write('late.csv', '${csv(6)}'), untilGate()) : setTimeout(late, 20); late();`,
    );
    const fleet = await submit([{ name: 'a', argv: keeping }]);
    await waitFor('the file to be known', () => own('a').length === 1);
    fleet.close();
    await bed.killSupervisor();
    openGate('late');
    await waitFor('the late file', () => existsSync(place('late.csv')));
    expect(losses('a')).toEqual([2, 1]);
    const next = await bed.fleet();
    await waitFor('the late file to be known', () => own('a').length === 2);
    openGate();
    await untilSettled(next);
    expect(own('a').sort()).toEqual(['late.csv', 'logs/1.csv']);
  });

  it('keeps from a run what another one wrote that has ended meanwhile', async () => {
    const writing = (name: string) =>
      program(`untilGate('both', () => write('${name}.csv', '${csv(2)}')); untilGate('gate-${name}');`);
    const fleet = await submit([
      { name: 'a', argv: writing('a') },
      { name: 'b', argv: writing('b') },
    ]);
    await untilBothWrite(fleet);
    await waitFor('both files', () => existsSync(place('a.csv')) && existsSync(place('b.csv')));
    await bed.killSupervisor();
    fleet.close();
    openGate('gate-b');
    await waitFor('b to be over', () => bed.text('s/b/attempts/1/exit') !== '');
    const next = await bed.fleet();
    await untilState(next, 's/b', 'done');
    openGate('gate-a');
    await untilSettled(next);
    await waitFor('both to be refused', () => refused('a').length === 2 && refused('b').length === 2);
    expect([own('a'), own('b')]).toEqual([[], []]);
  });
});
