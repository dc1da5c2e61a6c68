import { basename } from 'node:path';
import { isAlive, type ProcessIdentity } from './process-identity.js';
import { argvOf } from './process-table.js';

/** File name of the supervisor's program, by which its command line is known. */
const PROGRAM = 'supervisor.js';

/**
 * Whether exactly this process lives and is a supervisor. A lock may name any process, pid 1 as well: without a look at the command
 * line it would be held for ever, and `restart` would end a process that has nothing to do with it. A command line that cannot be
 * read is believed.
 */
export function isLivingSupervisor(identity: ProcessIdentity): boolean {
  if (!isAlive(identity)) return false;
  const argv = argvOf(identity.pid);
  return argv.length === 0 || argv.some((argument) => basename(argument) === PROGRAM);
}
