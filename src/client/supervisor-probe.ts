import { join } from 'node:path';
import { errorText } from '../base/error-text.js';
import { supervisorFiles } from '../contract/files.js';
import type { SupervisorLock } from '../contract/supervisor-lock.js';
import { checkRunsDirectory, socketProblem } from '../files/private-folder.js';
import { statRegular } from '../files/regular-file.js';
import { PROTOCOL_VERSION } from '../protocol/message.js';
import { lockOf, openSocket } from './connection.js';

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
  const path = join(runsDirectory, supervisorFiles.directory, supervisorFiles.lock);
  try {
    checkRunsDirectory(runsDirectory);
  } catch (error) {
    return { kind: 'unreadable', reason: errorText(error) };
  }
  const there = statRegular(path);
  if (there.kind !== 'file') return there.kind === 'absent' ? { kind: 'none' } : there;
  const lock = lockOf(runsDirectory);
  if (lock === null) return { kind: 'unreadable', reason: 'it is not one' };
  const socket = socketProblem(lock.socket) === null ? await openSocket(lock.socket) : null;
  if (socket === null) return { kind: 'silent', lock };
  const heard = (socket.read() as Buffer | null)?.toString() ?? '';
  socket.destroy();
  const version = Number(/"version":\s*(\d+)/.exec(heard.split('\n', 1)[0]!)?.[1]);
  return { kind: 'answers', lock, isOurs: version === PROTOCOL_VERSION };
}
