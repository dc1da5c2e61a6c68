import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lockOf, lookAtSupervisor } from '../../../src/client/ensure-supervisor.js';
import type { Fleet } from '../../../src/client/fleet.js';
import {
  LONGEST_LINE,
  MessageReader,
  type Plan,
  PROGRAM_VERSION,
  readOnlyRefusal,
  ServerMessage,
} from '../../../src/protocol/message.js';
import { numbers } from '../../faults/fault-plan.js';
import { run, Testbed, waitFor } from '../testbed.js';

const environment = { PATH: process.env['PATH']! };

let bed: Testbed;
beforeEach(() => {
  bed = new Testbed();
});
afterEach(() => bed.close());

/** All that a client shows, as text. */
const picture = ({ runs, sweeps, status }: Fleet) =>
  JSON.stringify([[...runs].sort(([a], [b]) => (a < b ? -1 : 1)), [...sweeps], status], sortKeys);

function sortKeys(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

describe('two clients', () => {
  it('see the same whenever it is quiet, whatever happened between', { tags: ['long'] }, async () => {
    const one = await bed.fleet();
    const two = await bed.fleet();
    const random = numbers(5);
    const runs = Array.from({ length: 60 }, (_, n) => ({ name: `r${n}`, argv: ['sh', '-c', `exit ${n % 3}`] }));
    await one.submit(bed.plan('s', runs), environment, { slots: 0, gpus: 'none' });
    const some = () => [...one.runs.keys()].filter(() => random() < 0.2);
    for (let round = 0; round < 12; round++) {
      const ask = [
        () => one.act('hold', some()),
        () => two.act('release', some()),
        () => two.act('kill', some()),
        () => one.act('resume', some()),
        () => two.request({ verb: 'set-slots', slots: { slots: Math.floor(random() * 3) } }),
      ];
      await Promise.all([ask[Math.floor(random() * ask.length)]!(), ask[Math.floor(random() * ask.length)]!()]);
      await waitFor('both to see the same', () => picture(one) === picture(two));
    }
    // One that comes late is told in a moment what the others have seen happen.
    await two.act('release', [...one.runs.keys()]);
    await two.request({ verb: 'set-slots', slots: { slots: 4 } });
    await waitFor('the end', () => one.status.settled && two.status.settled);
    const late = await bed.fleet();
    await waitFor('all to see the same', () => picture(one) === picture(two) && picture(two) === picture(late));
    expect(one.runs.size).toBe(60);
  });
});

/** Says these bytes after a connection is made; gives what came back until the other end hung up. */
function said(path: string, bytes: Buffer): Promise<string> {
  return new Promise((resolve) => {
    let heard = '';
    const socket: Socket = connect(path);
    socket.on('data', (chunk) => (heard += chunk.toString()));
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(heard));
    socket.write(bytes);
  });
}

describe('a client that says nonsense', () => {
  it.each([
    { what: 'garbage', bytes: Buffer.from('garbage\n') },
    { what: 'brackets a million deep', bytes: Buffer.from(`${'['.repeat(1_000_000)}\n`) },
    {
      what: 'objects a hundred thousand deep',
      bytes: Buffer.from(`${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}\n`),
    },
    { what: 'a number that is none', bytes: Buffer.from('{"type":"hello","version":1e999}\n') },
    { what: 'a prototype', bytes: Buffer.from('{"__proto__":{"type":"hello","version":1}}\n') },
    { what: 'bytes that are no text', bytes: Buffer.from([0xff, 0xfe, 0xc0, 0x80, 10]) },
    { what: 'another version', bytes: Buffer.from('{"type":"hello","version":99}\n') },
    { what: 'a line without an end', bytes: Buffer.alloc(LONGEST_LINE + 1, 'x') },
  ])('such as $what is refused in words, and nobody else notices', async ({ bytes }) => {
    const fleet = await bed.fleet();
    const pid = bed.supervisorPid();
    const heard = await said(lockOf(bed.runs)!.socket, bytes);
    expect(heard).toMatch(/"type":"bye","kind":"refused"/);
    expect(await fleet.request({ verb: 'set-slots', slots: { slots: 3 } })).toMatchObject({ ok: true });
    expect([fleet.connection, bed.supervisorPid()]).toEqual(['connected', pid]);
  });
});

describe('a client that is refused', () => {
  it.each([250, 650])('is told why when it reads slowly, and %i runs go on changing', async (length) => {
    const fleet = await bed.fleet();
    const runs = Array.from({ length }, (_, n) => ({ name: `${'long-name-'.repeat(15)}${n}` }));
    await fleet.submit(bed.plan('s', runs), environment, { slots: 0, gpus: 'none' });
    const socket = connect(lockOf(bed.runs)!.socket, () => socket.write('{"type":"hello","version":99}\n'));
    // It has not begun to read, and what it is sent does not fit in the buffers of the kernel.
    for (const slots of [3, 4, 5, 6]) await fleet.request({ verb: 'set-slots', slots: { slots } });
    const heard = await new Promise<string>((resolve) => {
      let text = '';
      socket.on('data', (chunk) => (text += chunk.toString()));
      socket.on('error', () => undefined).on('close', () => resolve(text));
    });
    expect(heard).toMatch(/"type":"bye","kind":"refused".*memrl-tui restart/);
  });
});

describe('a client of a newer version', () => {
  const older = `the supervisor is an older version of memrl-tui (${PROGRAM_VERSION}) and does not know this request`;
  const fix = '`memrl-tui restart` replaces it with this version; its runs continue.';

  it.each([
    { what: 'an unknown verb', message: { type: 'command', command: { verb: 'constructor' } } },
    { what: 'a path for an id', message: { type: 'command', command: { verb: 'kill', ids: ['../../x'] } } },
    { what: 'a page of no plan', message: { type: 'submit', plan: 7, more: true } },
    { what: 'an unknown kind of request', message: { type: 'negotiate', terms: [] } },
  ])('is told so, by the answer, of $what', async ({ message }) => {
    const fleet = await bed.fleet();
    // What a newer client would send, its type is not known here.
    const ask = fleet.request.bind(fleet) as (command: unknown) => ReturnType<Fleet['request']>;
    if (message.type === 'command') expect(await ask(message.command)).toEqual({ ok: false, message: older, fix });
    const heard = await answerTo(lockOf(bed.runs)!.socket, { request: 1, ...message });
    expect(heard).toMatchObject({ type: 'ack', request: 1, ack: { ok: false, message: older, fix } });
    expect(fleet.connection).toBe('connected');
  });

  it(
    'loses no more of a plan than the keys that are not known, in every page and in the sweep, and is told their names',
    { tags: ['long'] },
    async () => {
      const fleet = await bed.fleet();
      const { runs, ...frame } = bed.plan(
        's',
        Array.from({ length: 250 }, (_, n) => ({ name: `r${n}` })),
      );
      const newer = {
        ...frame,
        colour: 'red',
        runs: runs.map((run) => ({
          ...run,
          resources: { ...run.resources, mood: 'good' },
          done: { exit: 0, how: 'well' },
        })),
      };
      const ack = await fleet.submit(newer as unknown as Plan, environment, { slots: 20, gpus: 'none' });
      expect(ack).toMatchObject({
        ok: true,
        message: expect.stringContaining(`is left out: the supervisor is an older version`) as string,
      });
      for (const name of ['colour', 'mood', 'how']) expect(ack.message).toContain(`\`${name}\``);
      await waitFor(
        'the end',
        () => fleet.status.settled && [...fleet.runs.values()].every(({ state }) => state === 'done'),
      );
      expect(fleet.runs.size).toBe(250);
    },
  );
});

describe('a client that only looks', () => {
  it('is refused whatever it asks for, by the supervisor and before it is asked', async () => {
    const fleet = await bed.fleet();
    const plan = bed.plan('s', [{ name: 'a', argv: ['sleep', '60'] }]);
    await fleet.submit(plan, environment, { slots: 1, gpus: 'none' });
    await waitFor('the run to be up', () => run(fleet, 's/a').state === 'running');
    const hello = { type: 'hello', version: 1, readOnly: true };
    for (const message of [
      { type: 'command', command: { verb: 'kill', ids: ['s/a'] } },
      { type: 'submit', plan, environment: {}, slots: {}, more: false },
    ]) {
      const heard = await answerTo(lockOf(bed.runs)!.socket, hello, { request: 1, ...message });
      expect(heard).toMatchObject({ request: 1, ack: readOnlyRefusal });
    }
    const looking = await lookAtSupervisor(bed.runs);
    await looking.ready();
    expect(await looking.act('kill', [run(looking, 's/a').id])).toEqual(readOnlyRefusal);
    expect([looking.status.readOnly, looking.status]).toEqual(['This window is read-only.', looking.status]);
    looking.close();
    expect([run(fleet, 's/a').state, fleet.status.readOnly]).toEqual(['running', undefined]);
  });
});

/** The first answer to what is said there. */
function answerTo(path: string, ...messages: object[]): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const reader = new MessageReader(ServerMessage);
    const socket = connect(path, () =>
      socket.write(messages.map((message) => `${JSON.stringify(message)}\n`).join('')),
    );
    socket.on('error', reject).on('close', () => reject(new Error('no answer')));
    socket.on('data', (chunk: Buffer) => {
      const ack = reader.push(chunk).find(({ type }) => type === 'ack');
      if (ack === undefined) return;
      socket.destroy();
      resolve(ack);
    });
  });
}
