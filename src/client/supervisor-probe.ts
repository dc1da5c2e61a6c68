import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { supervisorFiles } from '../contract/files.js';
import { SupervisorLock } from '../contract/supervisor-lock.js';
import { PROTOCOL_VERSION } from '../protocol/message.js';
import { openSocket } from './connection.js';

/**
 * What is found of a runs directory's supervisor by looking, without starting one. `silent`: it holds the lock and says
 * nothing, being dead or stuck. `isOurs`: it speaks the protocol of this program.
 */
export type SupervisorProbe =
  | { kind: 'none' }
  | { kind: 'unreadable'; reason: string }
  | { kind: 'silent'; lock: SupervisorLock }
  | { kind: 'answers'; lock: SupervisorLock; isOurs: boolean };

/** Never rejects. A stuck supervisor is waited for as long as `openSocket` waits. */
export async function probeSupervisor(runsDirectory: string): Promise<SupervisorProbe> {
  let lock: SupervisorLock;
  try {
    const text = await readFile(join(runsDirectory, supervisorFiles.directory, supervisorFiles.lock), 'utf8');
    lock = SupervisorLock.parse(JSON.parse(text));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' ? { kind: 'none' } : { kind: 'unreadable', reason: code ?? message.split('\n', 1)[0]! };
  }
  const socket = await openSocket(lock.socket);
  if (socket === null) return { kind: 'silent', lock };
  const heard = (socket.read() as Buffer | null)?.toString() ?? '';
  socket.destroy();
  const version = Number(/"version":\s*(\d+)/.exec(heard.split('\n', 1)[0]!)?.[1]);
  return { kind: 'answers', lock, isOurs: version === PROTOCOL_VERSION };
}
