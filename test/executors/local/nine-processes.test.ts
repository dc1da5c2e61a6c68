import { readFileSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { attemptDirectory, readClaim } from '../../../src/executors/attempt/attempt-files.js';
import { identityOf, isAlive, type ProcessIdentity } from '../../../src/processes/process-identity.js';
import { hasProgram } from '../../has-program.js';
import { waitFor } from '../../supervisor/testbed.js';
import { hasCgroups, id, newExecutor, orderFor, runFolder, waysOfHolding } from './folder.js';

/**
 * The tree that a training run can grow: the shim, a wrapper, the program, two workers, a child in a session of its own, one
 * with an empty environment too, an orphaned daemon, and an orphaned daemon without environment or output.
 * All write their pid to `members`; the last two write nowhere else.
 */
const inShell = `
sh -c 'echo $$ >> members; while :; do sleep 600 & wait; done' &
sh -c 'echo $$ >> members; while :; do sleep 600 & wait; done' &
setsid sh -c 'echo $$ >> members; exec sleep 600' &
setsid sh -c 'echo $$ >> members; exec env -i sleep 600' &
(setsid sh -c 'echo $$ >> members; exec sleep 600' > /dev/null 2>&1 &)
(setsid sh -c 'echo $$ >> members; exec env -i sleep 600' > /dev/null 2>&1 &)
echo $$ >> members
wait
`;

const inPython = `
import multiprocessing, os, subprocess, time

def joined():
    with open('members', 'a') as file: file.write(f'{os.getpid()}\\n')

def work():
    joined()
    time.sleep(600)

def daemon(environment):
    if os.fork() > 0: return os.wait()
    os.setsid()
    if os.fork() > 0: os._exit(0)
    joined()
    nowhere = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2): os.dup2(nowhere, fd)
    os.execvpe('sleep', ['sleep', '600'], environment)

fork = multiprocessing.get_context('fork')
workers = [fork.Process(target=work) for _ in range(2)]
for worker in workers: worker.start()
subprocess.Popen(['setsid', 'sh', '-c', 'echo $$ >> members; exec sleep 600'])
subprocess.Popen(['setsid', 'sh', '-c', 'echo $$ >> members; exec env -i sleep 600'])
daemon(dict(os.environ))
daemon({'PATH': os.environ['PATH']})
joined()
for worker in workers: worker.join()
`;

const needed = 'a tree of nine processes';
const programs = [
  { language: 'shell', file: 'tree.sh', text: inShell, argv: ['sh', 'tree.sh'], there: true },
  {
    ...{ language: 'Python', file: 'tree.py', text: inPython, argv: ['python3', 'tree.py'] },
    there: hasProgram('python3', `${needed} in Python`),
  },
].filter(({ there }) => there);

hasCgroups(`the end of ${needed} in a cgroup`);
const cases = programs.flatMap((program) => waysOfHolding.map((way) => ({ ...program, ...way })));

describe.runIf(hasProgram('setsid', needed))('a tree of nine processes', () => {
  async function grown({ file, text, argv, home }: (typeof cases)[number]) {
    const directory = runFolder();
    writeFileSync(join(directory, file), text);
    const told = newExecutor(home(directory));
    const wrapper = ['sh', '-c', `echo $$ >> members; "$@"; echo over`, 'wrapper', ...argv];
    told.executor.start(id, orderFor(directory, wrapper));
    const members = await waitFor('nine processes', () => identities(directory));
    return { directory, members, ...told };
  }

  /** Null while fewer than nine are there. */
  function identities(directory: string): ProcessIdentity[] | null {
    const claim = readClaim(attemptDirectory(directory, 1));
    const path = join(directory, 'members');
    if (claim.kind !== 'begun' || !existsSync(path)) return null;
    const pids = readFileSync(path, 'utf8').split('\n').filter(Boolean).map(Number);
    const living = [claim.identity, ...pids.map(identityOf)].filter((identity) => identity !== null);
    return living.length === 9 ? living : null;
  }

  it.each(cases)('of $language is gone when it is killed, $how', async (which) => {
    const { executor, members, endings, survivors, untilEnded } = await grown(which);
    executor.kill(id);
    expect(await untilEnded()).toEqual({ kind: 'signalled', signal: 'SIGKILL' });
    expect(members.filter(isAlive)).toEqual([]);
    expect(endings).toHaveLength(1);
    expect(survivors).toEqual([]);
  });

  it.each(cases)('of $language hears a polite request, all of it, $how', async (which) => {
    const { executor, members, untilEnded } = await grown(which);
    executor.terminate(id);
    await untilEnded();
    expect(members.filter(isAlive)).toEqual([]);
  });

  it.each(cases)('of $language is found again by the next supervisor, $how', async (which) => {
    const { executor, directory, members } = await grown(which);
    executor.close();
    const next = newExecutor();
    expect(next.executor.adopt(id, directory, 1).kind).toBe('alive');
    next.executor.kill(id);
    await next.untilEnded();
    expect(members.filter(isAlive)).toEqual([]);
  });
});
