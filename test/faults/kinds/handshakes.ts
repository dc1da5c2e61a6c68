import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { lockOf } from '../../../src/client/ensure-supervisor.js';
import { MessageReader, ServerMessage } from '../../../src/protocol/message.js';
import { waitFor } from '../../supervisor/testbed.js';
import type { Trial } from '../kind.js';
import type { Scene } from '../scene.js';
import { codeWrong, typed } from './typed.js';

/** A program of an older version, as it was shipped: `OLDER=…/dist/memrl-tui.js npm run faults`. */
const older = process.env['OLDER'] ?? '';

/** Clients of an older and a newer version come, and the supervisor is replaced under all runs. */
export const handshakes: readonly Trial[] = [
  { name: 'a newer client', why: () => null, undergo: newer },
  { name: 'restart', why: () => null, undergo: restarted },
  { name: 'an older client', why: whyNot, undergo: visited },
];

/** Longer than an answer takes, ms. */
const PATIENCE_MS = 10_000;

async function newer(scene: Scene): Promise<string[]> {
  const cases = [
    { message: { type: 'hello', version: 1, program: '99.0.0', mood: 'good' }, answer: /"type":"ready"/ },
    {
      message: { type: 'command', request: 7, command: { verb: 'teleport' } },
      answer: /older version .*memrl-tui restart/,
    },
    { message: { type: 'negotiate', request: 8, terms: [] }, answer: /older version .*memrl-tui restart/ },
    { message: { type: 'hello', version: 99 }, answer: /"bye","kind":"refused".*memrl-tui restart/ },
  ];
  const heard = await Promise.all(cases.map(({ message, answer }) => isHeard(scene, message, answer)));
  return cases
    .filter((_, n) => !heard[n])
    .map(({ message }) => `no answer to a newer client's ${JSON.stringify(message)}`);
}

/** Whether something like this is said to who says that. */
function isHeard({ bed }: Scene, message: object, answer: RegExp): Promise<boolean> {
  return new Promise((resolve) => {
    const reader = new MessageReader(ServerMessage);
    const socket = connect(lockOf(bed.runs)!.socket, () => socket.write(`${JSON.stringify(message)}\n`));
    const settle = (isSo: boolean) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(isSo);
    };
    const timer = setTimeout(() => settle(false), PATIENCE_MS);
    socket.on('error', () => settle(false)).on('close', () => settle(false));
    socket.on('data', (chunk: Buffer) => {
      if (reader.push(chunk).some((each) => answer.test(JSON.stringify(each)))) settle(true);
    });
  });
}

async function restarted(scene: Scene): Promise<string[]> {
  const before = scene.supervisorPid;
  const wrong = codeWrong('restart', await typed(scene, ['restart']));
  const after = await waitFor('the supervisor after restart', () => scene.supervisorPid);
  return [...wrong, ...(after === before ? ['restart has replaced nobody'] : []), ...notRunning(scene)];
}

async function visited(scene: Scene): Promise<string[]> {
  const words = [
    ['ls', 'steady0', '--json'],
    ['status', '--json'],
    ['hold', 'held0', '-y'],
    ['release', 'held0', '-y'],
  ];
  const wrong: string[] = [];
  // By now the runs may be where nothing can be held or released.
  for (const each of words) {
    wrong.push(...codeWrong(`${each[0]} of an older version`, await typed(scene, each, { older }), [0, 2]));
  }
  return [...wrong, ...notRunning(scene)];
}

function notRunning({ fleet }: Scene): string[] {
  const steady = [...fleet.runs.values()].filter(({ id }) => id.startsWith('ordeal/steady'));
  const ended = steady.filter(({ state }) => state !== 'running');
  return ended.map(({ id, state }) => `${id} is ${state} after a handshake`);
}

function whyNot(): string | null {
  return existsSync(older) ? null : 'no program of an older version was named (OLDER=…/dist/memrl-tui.js)';
}
