import { chmodSync, readdirSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { openTerminal, type OpenTerminal } from '../../scripts/terminal.js';
import { eventually, program, workplace } from './program.js';

const place = workplace();
let terminals: OpenTerminal[] = [];
afterEach(() => {
  terminals.forEach((terminal) => terminal.close());
  terminals = [];
});

/** Each attempt writes down what it was given, and ends when the gate is open. */
const sweep = (n: number, seeds: string) => `name: little
command: [sh, -c, 'echo "$@" >> args-$0; while ! test -e gate; do sleep 0.05; done', '\${run_name}', '\${args}']
extends: n
resume_args: [--again]
parameters: { n: ${n}, seed: [${seeds}] }
groups: { A: { name: 's{seed}' } }
resources: { gpus: 0 }
`;
const starts = (name: string) => place.read(`args-${name}`).split('\n').filter(Boolean);

/** The first of three runs is up, the others wait. */
async function launched(): Promise<void> {
  place.write('little.yaml', sweep(5, '0, 1, 2'));
  expect((await place.run('little.yaml', '--slots', '1', '--detach')).code).toBe(0);
  await eventually(() => starts('s0').length === 1 && place.read('runs/little/s0/run.json') !== '', 's0 to be up');
}

function open(words: string[], environment: Record<string, string> = {}): OpenTerminal {
  const terminal = openTerminal({
    ...{ command: process.execPath, args: [program, ...words], columns: 120, rows: 40, cwd: place.folder() },
    environment: {
      ...process.env,
      TERM: 'xterm-256color',
      LANG: 'C.UTF-8',
      CI: undefined,
      VISUAL: undefined,
      ...environment,
    },
  });
  terminals.push(terminal);
  return terminal;
}

const shows = (terminal: OpenTerminal, what: RegExp) => terminal.waitFor((rows) => rows.some((row) => what.test(row)));

/** Every file of the runs, without what the supervisor and the run that is up write from time to time. */
const files = () =>
  readdirSync(place.at('runs'), { recursive: true, encoding: 'utf8' })
    .filter((path) => !path.includes('.supervisor/') && !path.startsWith('little/s0/'))
    .sort();

type Shown = {
  slots: string[];
  changes: object;
  runs: { name: string; live: string; change: string; argv: string[] }[];
};

describe('a live sweep whose file was edited', () => {
  it('is shown as what changes, and launched without a second start: queued runs begin with the new budget, running ones go on to it', async () => {
    await launched();
    place.write('little.yaml', sweep(9, '0, 3, 1, 2'));
    const before = files();
    const shown = JSON.parse((await place.run('little.yaml', '--dry-run', '--json')).out) as Shown;
    expect(shown).toMatchObject({
      slots: ['cpu 0'],
      changes: { new: 1, longer: { running: 1, queued: 2 }, again: 0, same: 0 },
      runs: [
        { name: 's0', live: 'running', change: 'longer', resumeArgs: ['--again'] },
        { name: 's3', live: null, change: 'new' },
        { name: 's1', live: 'queued', change: 'longer', resumeArgs: [] },
        { name: 's2', live: 'queued' },
      ],
    });
    expect(files()).toEqual(before);
    expect(place.read('runs/little/sweep.yaml')).toBe(sweep(5, '0, 1, 2'));
    const { code, out } = await place.run('little.yaml', '--detach');
    expect(code).toBe(0);
    expect(out).toContain('little: 1 new run, 3 with a larger budget');
    place.write('gate', '');
    expect((await place.run('wait', 'little')).code).toBe(0);
    expect(starts('s0')).toEqual(['--n=5 --seed=0', '--n=9 --seed=0 --again']);
    expect(['s1', 's2', 's3'].map(starts)).toEqual([['--n=9 --seed=1'], ['--n=9 --seed=2'], ['--n=9 --seed=3']]);
    const { out: table } = await place.run('ls', 'little');
    expect([...table.matchAll(/done +(s\d)/g)].map(([, name]) => name)).toEqual(['s0', 's3', 's1', 's2']);
  });

  it(
    'keeps what was set at its launch where the person wants it, and says so where nobody is asked',
    { tags: ['long'] },
    async () => {
      place.write('gate', '');
      place.write('little.yaml', sweep(5, '0'));
      await place.run('little.yaml', '--slots', '1', '--set', 'n=7', '--detach');
      expect((await place.run('wait', 'little')).code).toBe(0);
      const { out } = await place.run('little.yaml', '--dry-run');
      expect(out.replace(/\s+/g, ' ')).toContain('little was launched with --set n=7 last, and now is without. To keep it: memrl-tui little.yaml --set n=7'); // prettier-ignore
      place.write('little.yaml', sweep(5, '0, 1'));
      const terminal = open(['little.yaml', '--detach']);
      await shows(terminal, /Keep --set n=7\?/);
      terminal.write('y\r');
      await shows(terminal, /1 new: s1/);
      terminal.write('y\r');
      expect(await terminal.ended()).toMatchObject({ code: 0 });
      expect((await place.run('wait', 'little')).code).toBe(0);
      expect([starts('s0'), starts('s1')]).toEqual([['--n=7 --seed=0'], ['--n=7 --seed=1']]);
    },
  );

  it('is extended with what was set at its launch', async () => {
    place.write('gate', '');
    place.write('little.yaml', sweep(5, '0, 1, 2'));
    await place.run('little.yaml', '--slots', '1', '--set', 'n=7', '--detach');
    expect((await place.run('wait', 'little')).code).toBe(0);
    place.write('editor', `#!/bin/sh\nsed -i 's/0, 1, 2/0, 1, 2, 3/' "$1"\n`);
    chmodSync(place.at('editor'), 0o700);
    const terminal = open(['extend', 'little'], { EDITOR: place.at('editor') });
    await shows(terminal, /A {2}1 new: s3/);
    terminal.write('y\r');
    await eventually(() => starts('s3').length === 1, 's3 to be started');
    expect(starts('s3')).toEqual(['--n=7 --seed=3']);
  });

  it('is left alone where the person says no', async () => {
    await launched();
    place.write('little.yaml', sweep(9, '0, 1, 2'));
    const terminal = open(['little.yaml', '--detach']);
    await shows(terminal, /n grew from 5 to 9: 1 running .*; 2 queued to start with it/);
    await shows(terminal, /Proceed\?/);
    terminal.write('n\r');
    expect(await terminal.ended()).toMatchObject({ code: 2 });
    expect(place.read('runs/little/sweep.yaml')).toBe(sweep(5, '0, 1, 2'));
  });

  it('is extended from the command line, and its file is written when the person wants it', async () => {
    await launched();
    place.write('editor', `#!/bin/sh\nsed -i 's/0, 1, 2/0, 1, 2, 3/' "$1"\n`);
    chmodSync(place.at('editor'), 0o700);
    const terminal = open(['extend', 'little'], { EDITOR: place.at('editor') });
    await shows(terminal, /A {2}1 new: s3/);
    await shows(terminal, /Submit\?/);
    terminal.write('y\r');
    await shows(terminal, /Write the text to .*little\.yaml too\?/);
    expect(place.read('runs/little/sweep.yaml')).toBe(sweep(5, '0, 1, 2, 3'));
    expect(place.read('little.yaml')).toBe(sweep(5, '0, 1, 2'));
    terminal.write('y\r');
    expect(await terminal.ended()).toMatchObject({ code: 0 });
    expect(place.read('little.yaml')).toBe(sweep(5, '0, 1, 2, 3'));
  });
});
