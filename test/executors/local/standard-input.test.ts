import {
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isReadingInput, typeLine } from '../../../src/executors/local/standard-input.js';
import { descendantsOf } from '../../../src/processes/proc-file.js';
import { readClaim } from '../../../src/executors/attempt/attempt-files.js';
import { waitFor } from '../../supervisor/testbed.js';
import { id, log, newExecutor, orderFor, runFolder, untilLogged } from './folder.js';

/** Repeats what is typed, until that is `end`. */
const echoes =
  'echo ready; while read -r line; do echo "got $line"; if [ "$line" = end ]; then exit 5; fi; done; exit 9';

/** A run that reads typed lines, and has begun. */
async function typedInto(script = echoes) {
  const directory = runFolder();
  const told = newExecutor();
  told.executor.start(id, { ...orderFor(directory, ['sh', '-c', script]), input: 'lines' });
  await untilLogged(directory, 'ready');
  return { directory, ...told };
}

describe('a run that reads typed lines', () => {
  it('reads each line, and its log shows what was typed before what came of it', async () => {
    const { directory, executor, untilEnded } = await typedInto();
    expect(await executor.type(id, 'one  two')).toBeNull();
    await untilLogged(directory, 'got one');
    expect(await executor.type(id, 'end')).toBeNull();
    expect(await untilEnded()).toEqual({ kind: 'exited', code: 5 });
    expect(log(directory)).toBe('ready\none  two\ngot one  two\nend\ngot end\n');
  });

  it('waits on, however many have typed and gone', async () => {
    const { directory, executor, endings } = await typedInto();
    for (const line of ['a', 'b', 'c']) {
      writeFileSync(join(directory, 'attempts', '1', 'stdin'), `${line}\n`);
      await untilLogged(directory, `got ${line}`);
    }
    await waitFor('it to be seen waiting', () => executor.awaitsInput(id));
    expect(endings).toEqual([]);
  });

  it('is typed into by a later executor, and after its shim was killed', async () => {
    const { directory, executor } = await typedInto();
    executor.close();
    const next = newExecutor();
    expect(next.executor.adopt(id, directory, 1)).toMatchObject({ kind: 'alive' });
    const claim = readClaim(join(directory, 'attempts', '1'));
    if (claim.kind === 'begun') process.kill(claim.identity.pid, 'SIGKILL');
    expect(await next.executor.type(id, 'still')).toBeNull();
    await untilLogged(directory, 'got still');
    await next.executor.type(id, 'end');
    expect((await next.untilEnded()).kind).toBe('unknown');
  });

  it.runIf(process.platform === 'linux')('is told apart while it waits and while it works', async () => {
    const { directory, executor } = await typedInto('echo ready; read -r line; echo working; sleep 60; read -r line');
    const waits = () => isReadingInput({ directory, number: 1 }, descendantsOf(executor.rootOf(id)!));
    await waitFor('it to wait', waits);
    await executor.type(id, 'go');
    await untilLogged(directory, 'working');
    expect(waits()).toBe(false);
  });

  it('hands its input on to the programs that it starts', async () => {
    const { directory, executor, untilEnded } = await typedInto('echo ready; cat | head -n 1; exit 0');
    await executor.type(id, 'through');
    await untilLogged(directory, 'through\nthrough');
    await executor.type(id, 'again');
    expect(await untilEnded()).toEqual({ kind: 'exited', code: 0 });
  });
});

describe('typing is refused, with the reason,', () => {
  it.each([
    {
      when: 'where the input was closed',
      script: 'exec 0<&-; echo ready; sleep 60',
      why: 'has closed its standard input',
    },
    {
      when: 'for a longer line than a pipe takes at once',
      script: echoes,
      line: 'x'.repeat(4096),
      why: 'cannot be given a line of more than 4095 bytes',
    },
  ])('$when', async ({ script, line = 'x', why }) => {
    const { directory, executor } = await typedInto(script);
    expect(await executor.type(id, line)).toBe(why);
    expect(log(directory)).toBe('ready\n');
  });

  it('where nothing is read any more, which the log says too', async () => {
    const { directory, executor } = await typedInto('echo ready; sleep 60');
    let why: string | null = null;
    for (let line = 0; line < 100 && why === null; line++) why = await executor.type(id, 'x'.repeat(4000));
    expect(why).toBe('does not read what is typed');
    expect(log(directory)).toMatch(/memrl-tui: not typed, as it does not read what is typed\n$/);
  });

  it('for a run whose input is empty, and one that nobody watches', async () => {
    const directory = runFolder();
    const { executor } = newExecutor();
    expect(await executor.type(id, 'x')).toBe('is not up');
    executor.start(id, orderFor(directory, ['sleep', '60']));
    expect(await executor.type(id, 'x')).toBe('has no standard input to type into');
    expect(executor.awaitsInput(id)).toBe(false);
  });

  it('where the run has put a link or a file in the place of its pipe', () => {
    const directory = runFolder();
    const attempt = join(directory, 'attempts', '1');
    mkdirSync(attempt, { recursive: true });
    execFileSync('mkfifo', [join(directory, 'other')]);
    const reader = openSync(join(directory, 'other'), constants.O_RDONLY | constants.O_NONBLOCK);
    symlinkSync(join(directory, 'other'), join(attempt, 'stdin'));
    expect(typeLine({ directory, number: 1 }, 'x')).toBe('has no standard input to type into');
    writeFileSync(join(directory, 'file'), 'kept');
    renameSync(join(directory, 'file'), join(attempt, 'stdin'));
    expect(typeLine({ directory, number: 1 }, 'x')).toBe('has no standard input to type into');
    expect(readFileSync(join(attempt, 'stdin'), 'utf8')).toBe('kept');
    closeSync(reader);
  });
});

it('a run that reads nothing finds the end of its input at once', async () => {
  const directory = runFolder();
  const { executor, untilEnded } = newExecutor();
  executor.start(id, orderFor(directory, ['sh', '-c', 'read -r line || exit 6']));
  expect(await untilEnded()).toEqual({ kind: 'exited', code: 6 });
});
