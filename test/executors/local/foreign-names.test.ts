/** What the directory of a run names outside it, written there by somebody else: nothing of that is touched. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { attemptDirectory, claimLine, readClaim } from '../../../src/executors/attempt/attempt-files.js';
import { terminalOf } from '../../../src/files/run-directory/terminal-note.js';
import { hostIdentity, identityOf, isAlive } from '../../../src/processes/process-identity.js';
import { hasProgram } from '../../has-program.js';
import { removeFolder } from '../../remove-folder.js';
import { waitFor } from '../../supervisor/testbed.js';
import { hasCgroups, id, newExecutor, newHome, orderFor, runFolder, untilLogged } from './folder.js';

const hasTmux = hasProgram('tmux', 'terminals that somebody else names');
const haveCgroups = hasCgroups('a cgroup that somebody else names');

/** The socket of another program, which notes what it gets. */
async function foreignSocket() {
  const folder = mkdtempSync(join(tmpdir(), 'foreign-'));
  const socket = join(folder, 'socket');
  let got = '';
  const server = createServer((peer) => peer.on('data', (bytes) => (got += bytes.toString()))).listen(socket);
  await waitFor('the socket', () => existsSync(socket));
  onTestFinished(() => {
    server.close();
    removeFolder(folder);
  });
  return { socket, received: () => got };
}

/** A process of the user that is of no run. */
function bystander(program = 'sleep', args = ['600'], environment: NodeJS.ProcessEnv = { PATH: process.env['PATH'] }) {
  const child = spawn(program, args, { detached: true, stdio: 'ignore', env: environment });
  onTestFinished(() => void child.kill('SIGKILL'));
  return identityOf(child.pid!)!;
}

/** Claims the first attempt of a run in the name of a process. */
function claimWith(directory: string, pid: number, cgroup: string | null = null): void {
  const folder = attemptDirectory(directory, 1);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'pid'), claimLine(readFileSync(`/proc/${pid}/stat`, 'utf8'), hostIdentity(), cgroup));
}

describe.runIf(hasTmux)('a socket that the directory of a run names', () => {
  it.each([
    { who: 'that started it', isAdopted: false },
    { who: 'that adopted it', isAdopted: true },
  ])('is neither typed into nor deleted by the executor $who', async ({ isAdopted }) => {
    const directory = runFolder();
    const first = newExecutor();
    const script = 'echo begun; read -r line; echo "got $line"';
    await first.executor.start(id, { ...orderFor(directory, ['sh', '-c', script]), input: 'terminal' });
    await untilLogged(directory, 'begun');
    const { socket, received } = await foreignSocket();
    writeFileSync(join(attemptDirectory(directory, 1), 'terminal'), `${socket}\n`);
    if (isAdopted) first.executor.close();
    const { executor, untilEnded } = isAdopted ? newExecutor() : first;
    if (isAdopted) executor.adopt(id, directory, 1);
    expect(terminalOf({ directory, number: 1 })).not.toBe(socket);
    expect(await executor.type(id, 'hello')).toBeNull();
    expect(await untilEnded()).toEqual({ kind: 'exited', code: 0 });
    await untilLogged(directory, 'got hello');
    expect([existsSync(socket), received()]).toEqual([true, '']);
  });
});

describe.runIf(existsSync('/proc/self/environ'))('a process that the claim of a run names', () => {
  it.each([
    { what: 'of no run', environment: { PATH: process.env['PATH'] } },
    { what: 'of another run', environment: { PATH: process.env['PATH'], MEMRL_RUN_DIR: tmpdir(), MEMRL_ATTEMPT: '1' } },
  ])('is not signalled when it is $what, and the run is not taken for up', ({ environment }) => {
    const [directory, other] = [runFolder(), bystander('sleep', ['600'], environment)];
    claimWith(directory, other.pid);
    const { executor } = newExecutor();
    expect(executor.adopt(id, directory, 1)).toMatchObject({
      kind: 'withdrawn',
      neverRan: false,
      reason: expect.stringContaining(`names process ${other.pid}, which is not of this run`) as string,
    });
    executor.kill(id);
    expect(isAlive(other)).toBe(true);
  });

  it('is left alone where the run itself lives, which goes on with its own process', async () => {
    const [directory, other] = [runFolder(), bystander()];
    const first = newExecutor();
    first.executor.start(id, orderFor(directory, ['sh', '-c', 'echo begun; sleep 600']));
    await untilLogged(directory, 'begun');
    first.executor.close();
    claimWith(directory, other.pid);
    const { executor, untilEnded } = newExecutor();
    expect(executor.adopt(id, directory, 1)).toMatchObject({ kind: 'alive' });
    executor.kill(id);
    await untilEnded();
    expect(isAlive(other)).toBe(true);
  });

  it.runIf(haveCgroups)('and a cgroup of another run are not touched either', async () => {
    const [directory, neighbour] = [runFolder(), runFolder()];
    const home = newHome(neighbour);
    const there = newExecutor(home);
    there.executor.start(id, orderFor(neighbour, ['sh', '-c', 'echo begun; sleep 600']));
    const own = newExecutor();
    own.executor.start(id, orderFor(directory, ['sh', '-c', 'echo begun; sleep 600']));
    await Promise.all([directory, neighbour].map((each) => untilLogged(each, 'begun')));
    const claims = [directory, neighbour].map((each) => readClaim(attemptDirectory(each, 1)));
    const [mine, theirs] = claims.map((claim) => (claim.kind === 'begun' ? claim : null));
    own.executor.close();
    claimWith(directory, mine!.identity.pid, theirs!.cgroup);
    const next = newExecutor();
    expect(next.executor.adopt(id, directory, 1)).toMatchObject({ kind: 'alive' });
    next.executor.kill(id);
    await next.untilEnded();
    expect(isAlive(theirs!.identity)).toBe(true);
  });
});
