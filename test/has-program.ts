import { spawnSync } from 'node:child_process';

/** Whether a program is installed. Says loudly which tests are left out when it is not. */
export function hasProgram(name: string, needed: string): boolean {
  const found = spawnSync('sh', ['-c', `command -v ${name}`]).status === 0;
  if (!found) console.warn(`SKIPPED, because ${name} is not installed here: ${needed}`);
  return found;
}
