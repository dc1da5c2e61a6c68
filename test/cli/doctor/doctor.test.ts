import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Check, Checked, Place } from '../../../src/cli/doctor/check.js';
import { checks, doctorLines, examine } from '../../../src/cli/verbs/doctor.js';
import { bootId, identityOf } from '../../../src/processes/process-identity.js';
import { plan } from '../../supervisor/testbed.js';
import { removeFolder } from '../../remove-folder.js';

let folder: string;
let program: string;

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'doctor-')));
  program = join(folder, 'doctor.mjs');
  await build({
    stdin: {
      contents: `import { doctor } from './src/cli/verbs/doctor.ts';
        const [runs, json] = process.argv.slice(2);
        process.exitCode = await doctor({ runs, json: json === 'json' });`,
      resolveDir: process.cwd(),
      loader: 'ts',
    },
    ...{ outfile: program, bundle: true, platform: 'node', format: 'esm', logLevel: 'warning' },
    banner: { js: "import { createRequire as rf } from 'node:module'; const require = rf(import.meta.url);" },
    alias: { 'react-devtools-core': join(process.cwd(), 'scripts/no-devtools.js') },
  });
});

afterAll(() => removeFolder(folder));

let place: Place;
beforeEach(() => {
  const runsDirectory = mkdtempSync(join(folder, 'runs-'));
  const environment = { PATH: process.env['PATH']!, XDG_RUNTIME_DIR: runsDirectory };
  place = { runsDirectory, environment, size: null, uid: process.getuid!() };
});

async function found(name: string, topic = 'Runs directory'): Promise<Checked> {
  const wanted = checks.filter((check) => check.name === name && check.topic === topic);
  const { checks: checked } = await examine(wanted, place);
  return checked[0]!;
}

describe('the program', () => {
  it('works where there is no runs directory, and leaves none behind', () => {
    const runs = join(place.runsDirectory, 'none', 'yet');
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, runs], { encoding: 'utf8' });
    expect(stderr).toBe('');
    expect([0, 2]).toContain(status);
    expect(stdout).toContain('does not exist yet');
    expect(readdirSync(place.runsDirectory)).toEqual([]);
  });

  it('says in JSON what it says in words, and ends with 2 when something is bad', () => {
    // Nobody, root included, can make anything below it.
    const { status, stdout } = spawnSync(process.execPath, [program, '/proc/runs', 'json'], {
      encoding: 'utf8',
      env: {
        ...process.env,
        PATH: `${join(process.cwd(), 'test/fixtures')}:${process.env['PATH']}`,
        FAKE_GPU_MODE: 'fail',
      },
    });
    const answer = JSON.parse(stdout) as { ok: boolean; checks: Checked[] };
    expect(answer.checks.map(({ name }) => name)).toEqual(checks.map(({ name }) => name));
    expect(answer.checks.find(({ name }) => name === 'GPUs')).toMatchObject({
      state: 'bad',
      found: expect.stringContaining('NVIDIA') as string,
      fix: expect.stringContaining('nvidia-smi') as string,
    });
    expect(answer.ok).toBe(false);
    expect(status).toBe(2);
  });

  it('leaves nothing in a runs directory', async () => {
    expect(await found('Safe writes')).toMatchObject({ found: expect.stringMatching(/ms until/) as string });
    expect(readdirSync(place.runsDirectory)).toEqual([]);
  });
});

describe('a check', () => {
  const check = (look: Check['look']): Check => ({ topic: 'Limits', name: 'x', patienceMs: 20, look });

  it('that hangs is given up, and the others are told all the same', async () => {
    const hanging = check(() => new Promise(() => undefined));
    const quick = check(() => ({ state: 'ok', found: 'well' }));
    const { checks: checked, gaveUp } = await examine([hanging, quick], place);
    expect(checked.map(({ state }) => state)).toEqual(['warn', 'ok']);
    expect(checked[0]?.found).toContain('no answer within 0.02 s');
    expect(gaveUp).toBe(true);
  });

  it('that fails says why', async () => {
    const failing = check(() => {
      throw new Error('no such thing\nat x');
    });
    expect((await examine([failing], place)).checks[0]).toMatchObject({
      state: 'warn',
      found: 'could not be checked: no such thing',
    });
  });
});

describe('the supervisor of the runs directory', () => {
  const write = (lock: object | string) => {
    mkdirSync(join(place.runsDirectory, '.supervisor'), { mode: 0o700, recursive: true });
    const text = typeof lock === 'string' ? lock : JSON.stringify(lock);
    writeFileSync(join(place.runsDirectory, '.supervisor', 'lock.json'), text);
  };
  /** A process with the command line of a supervisor, which says nothing. */
  let sleeper: ChildProcess;

  beforeAll(() => {
    sleeper = spawn('sh', ['-c', 'read x', '/somewhere/supervisor.js'], { stdio: ['pipe', 'ignore', 'ignore'] });
  });

  afterAll(() => sleeper.kill('SIGKILL'));

  it('that was killed is no trouble', async () => {
    write({ pid: 999_999_999, startTime: '1', bootId: bootId(), socket: '/nowhere', version: 1 });
    expect(await found('Supervisor')).toMatchObject({
      state: 'ok',
      found: expect.stringContaining('was killed') as string,
    });
  });

  it('that lives and does not answer is', async () => {
    write({ ...identityOf(sleeper.pid!), socket: '/nowhere', version: 1 });
    expect(await found('Supervisor')).toMatchObject({
      state: 'bad',
      fix: expect.stringContaining('`memrl-tui restart`') as string,
    });
  });

  it.each([
    { version: 1, state: 'ok' },
    { version: 99, state: 'warn' },
  ])('that speaks version $version: $state', async ({ version, state }) => {
    const socket = join(place.runsDirectory, 'sock');
    const hello = `${JSON.stringify({ type: 'hello', version, pid: sleeper.pid })}\n`;
    const server = createServer((client) => client.end(hello));
    await new Promise<void>((resolve) => server.listen(socket, resolve));
    write({ ...identityOf(sleeper.pid!), socket, version: 1 });
    expect(await found('Supervisor')).toMatchObject({ state });
    await new Promise((resolve) => server.close(resolve));
  });

  it('whose lock is torn is bad', async () => {
    write('{"pid": 1');
    expect(await found('Supervisor')).toMatchObject({ state: 'bad' });
  });

  it('that let others read the environment is told of, with the way out', async () => {
    write('{}');
    const environments = join(place.runsDirectory, '.supervisor', 'environments');
    mkdirSync(environments);
    writeFileSync(join(environments, 'a.json'), '{}');
    expect(await found('State')).toMatchObject({ state: 'ok' });
    for (const path of [join(place.runsDirectory, '.supervisor'), environments]) chmodSync(path, 0o755);
    chmodSync(join(environments, 'a.json'), 0o644);
    expect(await found('State')).toMatchObject({
      state: 'warn',
      fix: expect.stringContaining('chmod -R go=') as string,
    });
  });
});

describe('the socket', () => {
  it('has its place in the runtime directory', async () => {
    expect(await found('Socket')).toMatchObject({ state: 'ok', found: join(place.runsDirectory, 'memrl') });
  });

  it.each([
    {
      what: 'others may enter',
      make: () => mkdirSync(join(place.runsDirectory, 'memrl'), { mode: 0o755 }),
      says: 'others may enter',
    },
    { what: 'is a file', make: () => writeFileSync(join(place.runsDirectory, 'memrl'), ''), says: 'not a folder' },
  ])('has another where that $what', async ({ make, says }) => {
    make();
    place = { ...place, environment: { ...place.environment, TMPDIR: place.runsDirectory } };
    expect(await found('Socket')).toMatchObject({ state: 'warn', found: expect.stringContaining(says) as string });
  });

  it('has another where the runtime directory is a relative path, which is ignored', async () => {
    place = { ...place, environment: { XDG_RUNTIME_DIR: 'run/user', TMPDIR: place.runsDirectory } };
    expect(await found('Socket')).toMatchObject({
      state: 'warn',
      found: expect.stringContaining('relative path (run/user)') as string,
    });
  });

  it('has another where the path is too long', async () => {
    const deep = join(place.runsDirectory, 'x'.repeat(100));
    place = { ...place, environment: { XDG_RUNTIME_DIR: deep, TMPDIR: place.runsDirectory } };
    expect(await found('Socket')).toMatchObject({
      state: 'warn',
      found: expect.stringContaining('107 bytes') as string,
    });
  });
});

describe('secrets', () => {
  const keep = (runs: Parameters<typeof plan>[2]) => {
    const plans = join(place.runsDirectory, '.supervisor', 'plans');
    mkdirSync(plans, { recursive: true });
    writeFileSync(join(plans, 'a.json'), JSON.stringify(plan(place.runsDirectory, 'abcd', runs)));
  };

  it.each([
    {
      what: 'in commands',
      run: { argv: ['x', '--api-key=abcdefgh1234'] as [string, ...string[]] },
      says: 'commands of 2 runs',
    },
    { what: 'under env', run: { env: { WANDB_API_KEY: 'abcdefgh1234' } }, says: '`env` for 2 runs' },
  ])('$what are told of, not told', async ({ run, says }) => {
    keep([run, run, {}]);
    const check = await found('Secrets', 'Survival');
    expect(check).toMatchObject({ state: 'warn', found: expect.stringContaining(says) as string });
    expect(JSON.stringify(check)).not.toContain('abcdefgh1234');
  });

  it('that are not there are not', async () => {
    keep([{}, {}]);
    expect(await found('Secrets', 'Survival')).toMatchObject({ state: 'ok' });
  });
});

describe('the lines', () => {
  const some: Checked[] = [
    { topic: 'Machine', name: 'Node', state: 'ok', found: 'v22.1.0' },
    {
      ...{ topic: 'Machine', name: 'GPUs', state: 'bad' },
      found: 'nvidia-smi did not answer within 4 s, although the driver is loaded and the device files are there',
      fix: 'Restart the machine, or run `sudo rmmod nvidia_uvm nvidia` and `sudo modprobe nvidia` by hand.',
    },
    { topic: 'Limits', name: 'Open files', state: 'warn', found: '256 at a time', fix: 'Run `ulimit -n 4096`.' },
  ];
  const text = (list: Checked[], width: number) =>
    doctorLines(list, width).map((line) => line.map((span) => span.text).join(''));

  it('stand in columns, with the way out below; commands are not broken', () => {
    expect(`\n${text(some, 64).join('\n')}\n`).toMatchInlineSnapshot(`
      "
      Machine
        ✓ Node        v22.1.0
        ✗ GPUs        nvidia-smi did not answer within 4 s, although
                      the driver is loaded and the device files are
                      there
                      → Restart the machine, or run
                        \`sudo rmmod nvidia_uvm nvidia\` and
                        \`sudo modprobe nvidia\` by hand.

      Limits
        ! Open files  256 at a time
                      → Run \`ulimit -n 4096\`.

      1 thing must be fixed, 1 thing could be improved.
      "
    `);
  });

  it.each([40, 60, 80, 200])('are never wider than %d, but for a command and the last line', (width) => {
    const long = some.map((check) => ({ ...check, found: check.found.repeat(3) }));
    for (const line of text(long, width)) expect(line.trimEnd().length).toBeLessThanOrEqual(Math.max(width, 52));
  });

  it('end with one word of all', () => {
    const all = (...states: Checked['state'][]) =>
      text(
        states.map((state) => ({ ...some[0]!, state })),
        80,
      ).at(-1);
    expect(all('ok', 'ok')).toBe('No problems found.');
    expect(all('ok', 'warn')).toBe('Everything works, 1 thing could be improved.');
    expect(all('bad', 'warn', 'warn')).toBe('1 thing must be fixed, 2 things could be improved.');
  });
});
