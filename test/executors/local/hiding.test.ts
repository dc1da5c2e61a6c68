import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { OomWatch } from '../../../src/executors/local/cgroup-home.js';
import { identityOf, isAlive } from '../../../src/processes/process-identity.js';
import { hasProgram } from '../../has-program.js';
import { waitFor } from '../../supervisor/testbed.js';
import { hasCgroups, id, newExecutor, newHome, orderFor, runFolder } from './folder.js';

/** What the ways below are made of. A hider writes its pid when it has hidden. */
const tools = `
import os, sys, time, subprocess
here = os.getcwd()
def hidden(pid=None):
    with open(here + '/hider.part', 'w') as file: file.write(str(pid or os.getpid()))
    os.rename(here + '/hider.part', here + '/hider')
def become(environment):
    os.execvpe('sleep', ['sleep', '600'], environment)
def orphan(then):
    if os.fork() > 0: return os.wait()
    os.setsid()
    if os.fork() > 0: os._exit(0)
    then()
    os._exit(0)
def deaf(*kept):
    nowhere = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2): os.dup2(nowhere, fd)
def away(): os.chdir('/')
wiped = {'PATH': os.environ['PATH']}
unmarked = {'PATH': os.environ['PATH'], 'HOME': '/'}
def leave_cgroup():
    path = [line.split(':', 2)[2].strip() for line in open('/proc/self/cgroup') if line.startswith('0::')][0]
    root = [line.split()[4] for line in open('/proc/self/mountinfo') if ' - cgroup2 ' in line][0]
    with open(root + '/cgroup.procs', 'w') as file: file.write(str(os.getpid()))
`;

/** `told`: it is not found, but whoever reads the row of the run is told that it may be there. */
type Found = 'found' | 'told' | 'neither';
/** `orTold`: or told as what the run may have left. */
type Way = { way: string; script: string; found: Found; orTold?: true };

/** Ways in which a process gets away from the run that started it, and whether it is found all the same without a cgroup. */
const ways: Way[] = [
  { way: 'stays a child', script: `\nif os.fork() == 0: hidden(); become(os.environ)`, found: 'found' },
  {
    way: 'makes a group of its own',
    script: `\nif os.fork() == 0: os.setpgid(0, 0); hidden(); become(os.environ)`,
    found: 'found',
  },
  {
    way: 'makes a session of its own',
    script: `\nif os.fork() == 0: os.setsid(); hidden(); become(os.environ)`,
    found: 'found',
  },
  { way: 'is orphaned', script: `orphan(lambda: (hidden(), become(os.environ)))`, found: 'found' },
  { way: 'is orphaned, and silent', script: `orphan(lambda: (deaf(), hidden(), become(os.environ)))`, found: 'found' },
  {
    way: 'is orphaned, silent and elsewhere',
    script: `orphan(lambda: (deaf(), hidden(), away(), become(os.environ)))`,
    found: 'found',
  },
  {
    way: 'empties its environment',
    script: `\nif os.fork() == 0: os.setsid(); deaf(); hidden(); become({})`,
    found: 'found',
  },
  {
    way: 'is orphaned, empty, and writes to the log',
    script: `orphan(lambda: (hidden(), away(), become({})))`,
    found: 'found',
  },
  {
    way: 'is orphaned, empty, and writes to the log by another descriptor',
    script: `orphan(lambda: (os.dup2(1, 9), deaf(), hidden(), away(), become({})))`,
    found: 'found',
  },
  {
    way: 'is orphaned, has a HOME, and writes to the log by another descriptor',
    script: `orphan(lambda: (os.dup2(1, 9), deaf(), hidden(), away(), become(unmarked)))`,
    found: 'found',
  },
  {
    way: 'is orphaned, empty, and works in the directory',
    script: `orphan(lambda: (deaf(), hidden(), become({})))`,
    found: 'found',
  },
  {
    way: 'is orphaned, empty, and writes below the directory',
    script: `orphan(lambda: (deaf(), os.dup2(os.open('data', os.O_WRONLY | os.O_CREAT), 9), hidden(), away(), become(wiped)))`,
    found: 'found',
  },
  {
    way: 'is orphaned and empty in the session of one that is not',
    script: `\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        if os.fork() == 0: deaf(); hidden(); away(); become({})\n        os._exit(0)\n    os.wait(); become(os.environ)`,
    found: 'found',
    // On a busy machine the one that is not empty may be killed before it has been looked at.
    orTold: true,
  },
  {
    way: 'leaves nothing to be known by, after a second among its own',
    script: `\nif os.fork() == 0:\n    if os.fork() == 0:\n        os.setsid(); deaf(); away(); open(here + '/waits', 'w').close()\n        while os.getppid() > 1 and os.path.exists('/proc/%d' % os.getppid()) and not os.path.exists(here + '/gate'): time.sleep(0.02)\n        time.sleep(0.1); hidden(); become({})\n    while not os.path.exists(here + '/gate'): time.sleep(0.02)\n    os._exit(0)`,
    found: 'found',
  },
  {
    way: 'leaves nothing to be known by, at once',
    script: `orphan(lambda: (deaf(), hidden(), away(), become({})))`,
    found: 'told',
  },
  {
    way: 'keeps a HOME and nothing else, and works in the directory',
    script: `orphan(lambda: (deaf(), hidden(), become(unmarked)))`,
    found: 'told',
  },
  {
    way: 'keeps all but the marks, and works elsewhere',
    script: `orphan(lambda: (deaf(), hidden(), away(), become({k: v for k, v in os.environ.items() if 'MEMRL' not in k} | unmarked)))`,
    found: 'told',
  },
];

const outOfCgroup: Way[] = [
  { way: 'leaves nothing to be known by, at once', script: ways.at(-3)!.script, found: 'found' },
  { way: 'keeps a HOME and nothing else, and works in the directory', script: ways.at(-2)!.script, found: 'found' },
  {
    way: 'moves itself out of the cgroup',
    script: `orphan(lambda: (leave_cgroup(), deaf(), hidden(), away(), become(os.environ)))`,
    found: 'found',
  },
  {
    way: 'moves itself out of the cgroup and leaves nothing to be known by',
    script: `orphan(lambda: (leave_cgroup(), deaf(), hidden(), away(), become({})))`,
    found: 'neither',
  },
];

const needed = 'ways in which a process hides from the end of its run';
const isPossible = hasProgram('python3', needed);
const isRoot = process.getuid?.() === 0;

function textOf(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}

/** Starts a run with such a process, kills it, and says whether the process was killed, too. */
async function found({ script }: Way, inCgroup: boolean): Promise<Found> {
  const directory = runFolder();
  writeFileSync(join(directory, 'hide.py'), `${tools}\n${script.trim()}\ntime.sleep(600)\n`);
  let looks = 0;
  const oom = new OomWatch(() => {
    looks += 1;
    return 0;
  });
  const { executor, suspects, untilEnded } = newExecutor(inCgroup ? newHome(directory) : null, oom);
  executor.start(id, orderFor(directory, ['python3', 'hide.py']));
  const isPatient = script.includes('waits');
  if (isPatient) {
    await waitFor('it to wait', () => existsSync(join(directory, 'waits')));
    const before = looks;
    // All that is looked at once a second is looked at in one go.
    await waitFor('somebody to have looked', () => looks > before);
    writeFileSync(join(directory, 'gate'), '');
  }
  const pid = await waitFor('it to have hidden', () => Number(textOf(join(directory, 'hider'))));
  await waitFor('it to be asleep', () => textOf(`/proc/${pid}/comm`) === 'sleep\n');
  const identity = identityOf(pid)!;
  executor.kill(id);
  await untilEnded();
  if (!isAlive(identity)) return 'found';
  process.kill(pid, 'SIGKILL');
  return suspects.includes(pid) ? 'told' : 'neither';
}

/** By way: whether it is found. */
async function tried(of: readonly Way[], inCgroup: boolean): Promise<Record<string, Found>> {
  const all = of.map(async (way) => {
    const is = await found(way, inCgroup);
    return [way.way, way.orTold === true && is === 'told' ? 'found' : is] as const;
  });
  return Object.fromEntries(await Promise.all(all));
}

const said = (of: readonly Way[]) => Object.fromEntries(of.map(({ way, found }) => [way, found]));

describe.runIf(isPossible)('a process that hides from the end of its run', () => {
  it('is found without a cgroup, or told as what the run may have left', async () => {
    expect(await tried(ways, false)).toEqual(said(ways));
  });

  it.runIf(hasCgroups(needed) && isRoot)('is found with a cgroup, or known not to be', async () => {
    expect(await tried(outOfCgroup, true)).toEqual(said(outOfCgroup));
  });
});
