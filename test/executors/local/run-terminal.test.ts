import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { spawn } from '@lydell/node-pty';
import { describe, expect, it } from 'vitest';
import { attachCommand, terminalOf } from '../../../src/files/run-directory/terminal-note.js';
import { readProcesses } from '../../../src/processes/process-table.js';
import { hasProgram } from '../../has-program.js';
import { waitFor } from '../../supervisor/testbed.js';
import { id, log, marked, newExecutor, orderFor, runFolder, untilLogged, waysOfHolding } from './folder.js';

const has = hasProgram('tmux', 'runs with a terminal of their own');

/** A log without the line ends of a terminal. */
const plainLog = (directory: string) => log(directory).replaceAll('\r\n', '\n');
const inTerminal = (directory: string, argv: string[], attempt = 1) =>
  ({ ...orderFor(directory, argv, attempt), input: 'terminal' }) as const;

/** A run in a terminal, which has begun. */
async function begun(script: string, home: Parameters<typeof newExecutor>[0] = null, directory = runFolder()) {
  const told = newExecutor(home);
  expect(await told.executor.start(id, inTerminal(directory, ['sh', '-c', script]))).toMatchObject({ kind: 'started' });
  await untilLogged(directory, 'begun');
  return { directory, ...told, socket: terminalOf({ directory, number: 1 })! };
}

/** Whether a tmux server lives at this socket. */
const hasServer = (socket: string) => readProcesses().some((entry) => entry.argv().includes(socket));

describe.runIf(has)('a run with a terminal of its own', () => {
  it('has it as input and output, all of which is in its log, and its own exit code', async () => {
    const script = 'test -t 0 && test -t 1 && test -t 2 && stty size; echo "$MEMRL_RUN $A"; printf "end"; exit 3';
    const directory = runFolder();
    const { executor, untilEnded, survivors } = newExecutor();
    const spec = inTerminal(directory, ['sh', '-c', `echo begun; ${script}`]);
    await executor.start(id, { ...spec, environment: { ...spec.environment, A: 'a;b #{x} %H', 'odd.name': '1' } });
    expect(await untilEnded()).toEqual({ kind: 'exited', code: 3 });
    expect(plainLog(directory)).toBe('begun\n36 120\ns/run a;b #{x} %H\nend');
    expect(survivors).toEqual([]);
    const socket = terminalOf({ directory, number: 1 })!;
    await waitFor('the end of its server', () => !hasServer(socket));
    expect(existsSync(socket)).toBe(false);
  });

  it('is adopted by a later executor, typed into, and told how it ended', async () => {
    const { directory, executor } = await begun('echo begun; read -r line; echo "got $line"; kill -9 $$');
    executor.close();
    const next = newExecutor();
    expect(next.executor.adopt(id, directory, 1)).toMatchObject({ kind: 'alive' });
    expect(await next.executor.type(id, 'ä;')).toBeNull();
    await untilLogged(directory, 'got ä;');
    expect(await next.untilEnded()).toEqual({ kind: 'signalled', signal: 'SIGKILL' });
  });

  it('is shown in another terminal, left by one key, and goes on', async () => {
    const { directory, executor, socket, untilEnded } = await begun('echo begun; read -r line; exit 4');
    const { program, args } = attachCommand(socket);
    const terminal = spawn(program, args, { cols: 80, rows: 24, env: { ...process.env, TMUX: '', TERM: 'xterm' } });
    let shown = '';
    terminal.onData((data) => (shown += data));
    const left = new Promise<number>((resolve) => terminal.onExit(({ exitCode }) => resolve(exitCode)));
    await waitFor('its screen', () => shown.includes('begun'));
    // As after fast typing, or on a busy machine: the key comes together with what was typed.
    terminal.write('typed\u001c');
    expect(await left).toBe(0);
    await untilLogged(directory, 'typed');
    expect(marked(directory).length).toBeGreaterThan(0);
    await executor.type(id, '');
    expect(await untilEnded()).toEqual({ kind: 'exited', code: 4 });
  });

  describe.each(waysOfHolding)('that is told to end, $how,', ({ home }) => {
    it('prints to its log while it stops', async () => {
      const directory = runFolder();
      const script = 'trap "sleep 0.2; echo saved; exit 5" TERM; echo begun; while :; do sleep 0.05; done';
      const { executor, untilEnded } = await begun(script, home(directory), directory);
      executor.terminate(id);
      expect(await untilEnded()).toEqual({ kind: 'exited', code: 5 });
      expect(plainLog(directory)).toMatch(/^begun\n[^]*saved\n$/);
    });

    it('is killed with all that it started, and its terminal with it', async () => {
      const directory = runFolder();
      const script = 'trap "" TERM HUP; setsid sleep 600 & echo begun; while :; do sleep 0.05; done';
      const { executor, socket, untilEnded, survivors } = await begun(script, home(directory), directory);
      executor.kill(id);
      expect(await untilEnded()).toEqual({ kind: 'signalled', signal: 'SIGKILL' });
      expect([marked(directory), survivors]).toEqual([[], []]);
      await waitFor('the end of its server', () => !hasServer(socket));
    });
  });

  it('begins an attempt once only', async () => {
    const { directory, endings } = await begun('echo begun; read -r line');
    const second = newExecutor();
    await second.executor.start(id, inTerminal(directory, ['true']));
    expect(await second.untilEnded()).toEqual({ kind: 'not-claimed' });
    expect([endings, marked(directory).length > 0]).toEqual([[], true]);
  });

  it('is refused, with the reason, where its command is not found', async () => {
    const spec = inTerminal(runFolder(), ['no-such-command']);
    expect(await newExecutor().executor.start(id, spec)).toEqual({
      ...{ kind: 'refused', transient: false },
      reason: 'command not found: no-such-command',
    });
  });
});

it('a run with a terminal is refused where there is no tmux, with how to install it', async () => {
  const spec = inTerminal(runFolder(), ['true']);
  const start = await newExecutor().executor.start(id, {
    ...spec,
    environment: { ...spec.environment, PATH: '/none' },
  });
  expect(start).toMatchObject({
    kind: 'refused',
    transient: false,
    reason: expect.stringContaining('apt install tmux') as string,
  });
  expect(existsSync(join(spec.directory, 'attempts', '1', 'pid'))).toBe(false);
});
