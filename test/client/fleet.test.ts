import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { connect, ensureSupervisor } from '../../src/client/ensure-supervisor.js';
import { encode, type ServerMessage } from '../../src/protocol/message.js';
import { waitFor } from '../supervisor/testbed.js';
import { removeFolder } from '../remove-folder.js';

let runs: string;
let server: Server | null;
beforeEach(() => {
  runs = mkdtempSync(join(tmpdir(), 'fleet-'));
  server = null;
});
afterEach(() => {
  server?.close();
  removeFolder(runs);
});

const hello: ServerMessage = { type: 'hello', version: 1, pid: 1 };

/** A supervisor that says what it is told to, to everyone who comes. */
async function pretend(serve: (socket: Socket, visit: number) => void): Promise<void> {
  const socket = join(runs, 's');
  let visits = 0;
  server = createServer((client) => {
    client.on('error', () => undefined);
    serve(client, ++visits);
  });
  await new Promise<void>((resolve) => server!.listen(socket, resolve));
  mkdirSync(join(runs, '.supervisor'));
  const lock = { pid: process.pid, startTime: '1', bootId: 'b', socket, version: 1 };
  writeFileSync(join(runs, '.supervisor', 'lock.json'), JSON.stringify(lock));
}

const say = (socket: Socket, ...messages: ServerMessage[]) => socket.write(messages.map(encode).join(''));

describe('reaching a supervisor', () => {
  it('finds none where there is none', async () => {
    expect(await connect(runs)).toBeNull();
  });

  it('finds none where nobody says hello', async () => {
    await pretend((socket) => socket.destroy());
    expect(await connect(runs)).toBeNull();
  });

  it('is refused with the reason when it is of another version', async () => {
    await pretend((socket) => {
      say(socket, hello);
      socket.once('data', () => say(socket, { type: 'bye', kind: 'refused', reason: 'I speak version 9.' }));
    });
    const fleet = (await connect(runs))!;
    await expect(fleet.ready()).rejects.toThrow('The supervisor does not answer this program: I speak version 9.');
  });

  it('is given up with the reason when it talks nonsense', async () => {
    await pretend((socket) => {
      say(socket, hello);
      socket.write('{"type":"unheard-of"}\n');
    });
    const fleet = (await connect(runs))!;
    await expect(fleet.ready()).rejects.toThrow('unheard-of');
  });

  it('comes again after it left, and keeps the old picture until the new one is whole', async () => {
    const sockets: Socket[] = [];
    await pretend((socket, visit) => {
      sockets.push(socket);
      say(socket, hello, { type: 'sweeps', sweeps: [sweep(`sweep${visit}`)] });
      if (visit === 1) say(socket, { type: 'ready', seq: 1 });
    });
    const fleet = (await connect(runs))!;
    await fleet.ready();
    say(sockets[0]!, { type: 'bye', kind: 'leaving', reason: 'got SIGTERM' });
    sockets[0]!.end();
    await waitFor('the second visit', () => sockets.length === 2);
    expect([fleet.connection, fleet.problem, [...fleet.sweeps.keys()]]).toEqual([
      'reconnecting',
      'got SIGTERM',
      ['sweep1'],
    ]);
    say(sockets[1]!, { type: 'ready', seq: 1 });
    await waitFor('the new picture', () => fleet.connection === 'connected');
    expect([fleet.problem, [...fleet.sweeps.keys()]]).toEqual([null, ['sweep2']]);
    fleet.close();
  });

  it('answers what was asked of a supervisor that is gone', async () => {
    await pretend((socket, visit) => {
      if (visit > 1) return socket.destroy();
      say(socket, hello, { type: 'ready', seq: 1 });
      return socket.on('data', (data) => data.includes('stop-sweep') && socket.destroy());
    });
    const fleet = (await connect(runs))!;
    await fleet.ready();
    const ack = await fleet.request({ verb: 'stop-sweep', sweep: 's' });
    expect(ack).toMatchObject({ ok: false, message: 'the connection to the supervisor was lost before it answered' });
    expect(await fleet.request({ verb: 'stop-sweep', sweep: 's' })).toMatchObject({ ok: false });
    fleet.close();
  });

  it.each([
    { said: 'nothing of its version', program: {}, told: '0.1.0 or earlier' },
    { said: 'its version', program: { program: '0.0.9' }, told: '0.0.9' },
  ])(
    'names the older version, which said $said, of a supervisor that hangs up at a request',
    async ({ program, told }) => {
      await pretend((socket) => {
        say(socket, { ...hello, ...program }, { type: 'ready', seq: 1 });
        socket.on('data', (data) => {
          if (data.includes('stop-sweep')) say(socket, { type: 'bye', kind: 'refused', reason: 'What?' });
          if (data.includes('stop-sweep')) socket.end();
          if (data.includes('drain')) say(socket, { type: 'ack', request: 2, ack: { ok: true, message: 'drained' } });
        });
      });
      const fleet = (await connect(runs))!;
      await fleet.ready();
      const older = {
        ...{
          ok: false,
          message: `the supervisor is an older version of memrl-tui (${told}) and does not know this request`,
        },
        fix: '`memrl-tui restart` replaces it with this version; its runs continue.',
      };
      const asked = fleet.request({ verb: 'stop-sweep', sweep: 's' });
      expect(await asked).toEqual(older);
      // Another of the same command finds no connection just now.
      expect(await fleet.request({ verb: 'stop-sweep', sweep: 's' })).toEqual(older);
      await waitFor('the next conversation', () => fleet.connection === 'connected');
      expect(await fleet.request({ verb: 'drain', gpus: [], drained: true })).toMatchObject({ ok: true });
      fleet.close();
    },
  );

  it('says what the supervisor said when it cannot start', async () => {
    const supervisor = join(runs, 'supervisor.js');
    writeFileSync(supervisor, 'console.error("no room"); process.exit(2);');
    const programs = { node: process.execPath, supervisor, bin: runs, environment: process.env };
    await expect(ensureSupervisor(runs, programs)).rejects.toMatchObject({
      ...{ name: 'UserError', message: expect.stringMatching(/did not start\.\nno room/) as string },
    });
  });

  it('says so when the program is not there at all', async () => {
    const programs = { node: join(runs, 'node'), supervisor: 'x', bin: runs, environment: {} };
    writeFileSync(programs.node, '');
    chmodSync(programs.node, 0o644);
    await expect(ensureSupervisor(runs, programs)).rejects.toThrow('did not start');
  });
});

function sweep(name: string) {
  return { name, description: null, directory: '/', groups: [], show: [], x: 'step' };
}
