import { describe, expect, it } from 'vitest';
import { RunId } from '../../../src/base/ids.js';
import type { LaunchSpec } from '../../../src/executors/executor.js';
import { FakeMachine } from '../../../src/executors/fake/fake-executor.js';
import { conforms, type Program } from '../conformance.js';

const commands: Readonly<Record<Program, string[]>> = {
  exits: ['exit', '3'],
  waits: ['wait'],
  deaf: ['deaf'],
  missing: ['no-such-command'],
};

function specFor(argv: string[], directory = '/runs/s/run', attempt = 1): LaunchSpec {
  return { directory, attempt, argv, cwd: '/', environment: {}, needs: { gpus: 0, gpuMemory: null, cpus: 1 } };
}

conforms('the fake', () => {
  const machine = new FakeMachine();
  let directories = 0;
  const listenTo = { runsDirectory: '/runs', environment: {} };
  return {
    open: (listener) => machine.open(listenTo, listener),
    directory: () => `/runs/s/${directories++}`,
    spec: (program, directory, attempt) => specFor(commands[program], directory, attempt),
    isUp: (directory, attempt) => machine.attempt(directory, attempt)?.ending === null,
    isStill: (directory, attempt) => machine.attempt(directory, attempt)?.isPaused ?? false,
    finish: (directory, attempt) => machine.attempt(directory, attempt)?.end({ kind: 'exited', code: 4 }),
  };
});

describe('a fake machine', () => {
  const id = RunId.parse('s/run');
  const silent = { ended: () => undefined, changed: () => undefined, troubled: () => undefined, mayGiveUp: () => true };

  it('answers starts late when it is told to, and begins nothing before', async () => {
    const machine = new FakeMachine();
    const executor = machine.open({ runsDirectory: '/runs', environment: {} }, silent);
    const release = machine.holdStarts();
    const start = executor.start(id, specFor(['wait']));
    expect([machine.starts.length, machine.attempt('/runs/s/run', 1)]).toEqual([1, null]);
    release();
    expect(await start).toEqual({ kind: 'started', pid: 1000 });
    expect(machine.attempt('/runs/s/run', 1)?.ending).toBeNull();
  });

  it('refuses for now what it is too short for', async () => {
    const machine = new FakeMachine();
    machine.shortage = 'the queue is full';
    const executor = machine.open({ runsDirectory: '/runs', environment: {} }, silent);
    const refused = { kind: 'refused', reason: 'the queue is full', transient: true };
    expect(await executor.start(id, specFor(['wait']))).toEqual(refused);
    machine.shortage = null;
    expect(await executor.start(id, specFor(['wait']))).toMatchObject({ kind: 'started' });
  });
});
