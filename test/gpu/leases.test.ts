import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GpuLeases } from '../../src/gpu/leases.js';
import { type ProcessIdentity, identityOf, isAlive } from '../../src/processes/process-identity.js';
import { waitFor } from '../supervisor/testbed.js';
import { temporaryFolder } from './fake-gpus.js';

const GPU = 'GPU-a';
const uid = process.getuid!();
const alive = identityOf(process.pid)!;
const dead = { ...alive, startTime: '1' };

let directory: string;
const children: ChildProcess[] = [];
beforeEach(() => {
  directory = join(temporaryFolder(), 'leases');
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

function leasesOf(runsDirectory: string, supervisor: ProcessIdentity = alive): GpuLeases {
  return new GpuLeases({ directory, supervisor, runsDirectory, uid });
}

function shim(): ChildProcess & { identity: ProcessIdentity } {
  const child = spawn('sleep', ['60'], { stdio: 'ignore' });
  children.push(child);
  return Object.assign(child, { identity: identityOf(child.pid!)! });
}

async function kill(child: ChildProcess & { identity: ProcessIdentity }): Promise<void> {
  child.kill('SIGKILL');
  await waitFor('its death', () => !isAlive(child.identity));
}

describe('the lease of a GPU', () => {
  it('is taken by one, kept from others, and given back', () => {
    const [one, two] = [leasesOf('/runs/one'), leasesOf('/runs/two')];
    expect([one.take(GPU), one.take(GPU), two.take(GPU)]).toEqual(['taken', 'taken', { heldBy: '/runs/one' }]);
    expect([one.others(), two.others()]).toEqual([new Map(), new Map([[GPU, '/runs/one']])]);
    expect(two.take('MIG-GPU-b/1/0')).toBe('taken');
    expect(one.others()).toEqual(new Map([['MIG-GPU-b/1/0', '/runs/two']]));
    two.release(GPU);
    expect(two.take(GPU)).toEqual({ heldBy: '/runs/one' });
    one.release(GPU);
    one.release(GPU);
    expect(two.others()).toEqual(new Map());
    expect([two.take(GPU), one.take(GPU)]).toEqual(['taken', { heldBy: '/runs/two' }]);
  });

  it('lives as long as a run does, when its supervisor has died', async () => {
    const [first, second] = [shim(), shim()];
    const crashed = leasesOf('/runs/crashed', dead);
    crashed.take(GPU);
    crashed.add(GPU, first.identity);
    crashed.add(GPU, second.identity);
    const other = leasesOf('/runs/other');
    expect(other.take(GPU)).toEqual({ heldBy: '/runs/crashed' });
    await kill(first);
    expect(other.take(GPU)).toEqual({ heldBy: '/runs/crashed' });
    await kill(second);
    expect(other.others()).toEqual(new Map());
    expect(other.take(GPU)).toBe('taken');
  });

  it('passes to the next supervisor of the same runs directory, with the runs', async () => {
    const run = shim();
    const first = leasesOf('/runs/one', dead);
    first.take(GPU);
    first.add(GPU, run.identity);
    const second = leasesOf('/runs/one', { ...dead, startTime: '2' });
    expect(second.others()).toEqual(new Map());
    expect(second.take(GPU)).toBe('taken');
    expect(leasesOf('/runs/other').take(GPU)).toEqual({ heldBy: '/runs/one' });
    await kill(run);
    expect(leasesOf('/runs/other').take(GPU)).toBe('taken');
  });

  it.each([
    { what: 'a supervisor that died', supervisor: dead },
    { what: 'a supervisor before the last reboot', supervisor: { ...alive, bootId: 'another' } },
  ])('of $what is taken over', ({ supervisor }) => {
    leasesOf('/runs/old', supervisor).take(GPU);
    const [one, two] = [leasesOf('/runs/one'), leasesOf('/runs/two')];
    expect([one.take(GPU), two.take(GPU)]).toEqual(['taken', { heldBy: '/runs/one' }]);
  });

  it('leaves one file a GPU, which all may read and only the owner write, in a folder for all', () => {
    const leases = leasesOf('/runs/one');
    for (let time = 0; time < 3; time++) {
      leases.take(GPU);
      leases.add(GPU, alive);
      leases.release(GPU);
    }
    expect(readdirSync(directory)).toEqual(['GPU-a.3']);
    expect(statSync(join(directory, 'GPU-a.3')).mode & 0o7777).toBe(0o644);
    expect(statSync(directory).mode & 0o7777).toBe(0o1777);
  });

  it('is kept from being cleared away as old, and made again if it was', () => {
    const leases = leasesOf('/runs/one');
    leases.take(GPU);
    utimesSync(join(directory, 'GPU-a.1'), 0, 0);
    leases.others();
    expect(statSync(join(directory, 'GPU-a.1')).mtimeMs).toBeGreaterThan(1e12);
    rmSync(join(directory, 'GPU-a.1'));
    leases.others();
    expect(leasesOf('/runs/two').take(GPU)).toEqual({ heldBy: '/runs/one' });
  });
});

describe('the folder of leases', () => {
  const bad = {
    'a link': (path: string) => {
      const target = join(temporaryFolder(), 'precious');
      writeFileSync(target, 'precious');
      symlinkSync(target, path);
      return () => expect(readFileSync(target, 'utf8')).toBe('precious');
    },
    'a pipe': (path: string) => void execFileSync('mkfifo', [path]),
    'a folder': (path: string) => void mkdirSync(path),
    'a huge file': (path: string) => {
      writeFileSync(path, '{');
      truncateSync(path, 2 ** 33);
    },
    'an empty file': (path: string) => writeFileSync(path, ''),
    'a lease of another GPU': (path: string) => {
      leasesOf('/runs/other').take('GPU-b');
      linkSync(join(directory, 'GPU-b.1'), path);
    },
  };
  it.each(Object.keys(bad) as (keyof typeof bad)[])(
    'may hold %s where a lease should be, which holds up nobody',
    (what) => {
      leasesOf('/runs/one').take('GPU-c');
      const check = bad[what](join(directory, 'GPU-a.7'));
      const [one, two] = [leasesOf('/runs/one'), leasesOf('/runs/two')];
      expect([one.take(GPU), two.take(GPU)]).toEqual(['taken', { heldBy: '/runs/one' }]);
      one.add(GPU, alive);
      one.release(GPU);
      expect([one.problem, two.problem]).toEqual([null, null]);
      check?.();
    },
  );

  it.runIf(uid === 0)('does not let anyone hold a GPU in the name of a process that is not theirs', () => {
    leasesOf('/runs/mallory', identityOf(1)!).take(GPU);
    chownSync(join(directory, 'GPU-a.1'), 65534, 65534);
    expect(leasesOf('/runs/one').take(GPU)).toBe('taken');
  });

  it.each<{ what: string; make: () => void; as?: number; problem: string }>([
    { what: 'a link', make: () => symlinkSync(temporaryFolder(), directory), problem: 'is not a folder' },
    { what: 'a file', make: () => writeFileSync(directory, ''), problem: 'EEXIST' },
    {
      what: 'a folder of someone else that anyone may clear',
      make: () => {
        mkdirSync(directory);
        chmodSync(directory, 0o777);
      },
      as: uid + 1,
      problem: 'anyone can remove files',
    },
    {
      what: 'below a file',
      make: () => writeFileSync((directory = join(directory, '..', 'x')), ''),
      problem: 'EEXIST',
    },
  ])('that is $what is not used: every GPU can be taken, and it is said why', ({ make, as = uid, problem }) => {
    make();
    const leases = new GpuLeases({ directory, supervisor: alive, runsDirectory: '/runs/one', uid: as });
    expect(leases.problem).toContain(problem);
    expect(leases.take(GPU)).toBe('taken');
    leases.add(GPU, alive);
    leases.release(GPU);
    expect(leases.others()).toEqual(new Map());
  });

  it('may vanish, and come back, without doing harm', async () => {
    const run = shim();
    const leases = leasesOf('/runs/one', dead);
    leases.take(GPU);
    rmSync(directory, { recursive: true });
    writeFileSync(directory, '');
    leases.add(GPU, run.identity);
    expect(leases.take('GPU-b')).toBe('taken');
    expect(leases.others()).toEqual(new Map());
    expect(leases.problem).toContain('other users of this machine cannot see which GPUs are used here: ');
    rmSync(directory);
    leases.others();
    expect(leases.problem).toBeNull();
    // Its supervisor is dead: it is the run, noted while nothing could be written, that holds the GPU.
    expect(leasesOf('/runs/two').take(GPU)).toEqual({ heldBy: '/runs/one' });
    expect(leasesOf('/runs/two').take('GPU-b')).toBe('taken');
  });

  it('tells when a GPU was taken by another while its lease was missing', () => {
    const leases = leasesOf('/runs/one');
    leases.take(GPU);
    rmSync(join(directory, 'GPU-a.1'));
    leasesOf('/runs/two').take(GPU);
    expect(leases.others()).toEqual(new Map([[GPU, '/runs/two']]));
    expect(leases.problem).toContain('/runs/two took GPU-a in the meantime');
    leases.add(GPU, alive);
    leases.release(GPU);
    expect(leasesOf('/runs/three').take(GPU)).toEqual({ heldBy: '/runs/two' });
  });

  it('may hold the highest number there is', () => {
    leasesOf('/runs/one');
    writeFileSync(join(directory, 'GPU-a.999999999'), '');
    const leases = leasesOf('/runs/two');
    expect(leases.take(GPU)).toBe('taken');
    expect(leases.problem).toContain('GPU-a.999999999 cannot be followed');
  });

  it('is rid of what was half written by processes that died', () => {
    leasesOf('/runs/one').take(GPU);
    writeFileSync(join(directory, 'draft.1.a'), '');
    writeFileSync(join(directory, 'draft.1.b'), '');
    utimesSync(join(directory, 'draft.1.b'), 0, 0);
    leasesOf('/runs/one');
    expect(readdirSync(directory).sort()).toEqual(['GPU-a.1', 'draft.1.a']);
  });
});

describe('two supervisors that want the same GPUs at the same time', () => {
  const ROUNDS = 200;

  it('never both get one, and one of them gets each', async () => {
    const program = join(temporaryFolder(), 'rival.mjs');
    const entryPoints = ['test/gpu/lease-rival.ts'];
    await build({ entryPoints, outfile: program, bundle: true, platform: 'node', format: 'esm', target: 'node20' });
    const before = leasesOf('/runs/before', dead);
    for (let round = 0; round < ROUNDS; round++) {
      // New ones, ones whose holder died, ones that were given back.
      if (round % 3 > 0) before.take(`GPU-${round}`);
      if (round % 3 > 1) before.release(`GPU-${round}`);
    }
    const go = join(temporaryFolder(), 'go');
    const rivals = ['/runs/one', '/runs/two'].map((runs) => {
      const child = spawn(process.execPath, [program, directory, runs, go, String(ROUNDS)], {
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      children.push(child);
      let said = '';
      child.stdout.on('data', (text) => (said += text));
      return () => said.split('\n');
    });
    await waitFor('both to be ready', () => rivals.every((said) => said()[0] === 'ready'));
    writeFileSync(go, '');
    await waitFor('both to be done', () => rivals.every((said) => said().length === 3));
    const [one, two] = rivals.map((said) => JSON.parse(said()[1]!) as { takings: boolean[]; problem: string | null });
    expect([one!.problem, two!.problem]).toEqual([null, null]);
    expect(one!.takings.map((taking, round) => Number(taking) + Number(two!.takings[round]))).toEqual(
      new Array(ROUNDS).fill(1),
    );
  });
});
