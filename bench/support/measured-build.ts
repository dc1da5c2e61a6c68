import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The `dist` of the build that is measured: BENCH_DIST names that of another commit, else the one this bench lies in. */
export function ownDist(): string {
  return process.env['BENCH_DIST'] ?? fileURLToPath(new URL('.', import.meta.url));
}

/** This environment, but home, settings and sockets are in the folder, so that nothing of the person's is read or written. */
export function privateEnvironment(folder: string): NodeJS.ProcessEnv {
  const home = join(folder, 'home');
  const runtime = join(folder, 'runtime');
  for (const each of [home, runtime]) mkdirSync(each, { recursive: true, mode: 0o700 });
  const own = { HOME: home, XDG_CONFIG_HOME: home, XDG_CACHE_HOME: home, XDG_RUNTIME_DIR: runtime };
  return { ...process.env, ...own };
}

/** The process id of the supervisor of a runs directory, read from its lock. Throws where there is none. */
export function supervisorPid(runs: string): number {
  return (JSON.parse(readFileSync(join(runs, '.supervisor/lock.json'), 'utf8')) as { pid: number }).pid;
}

/** Ends the supervisor of a runs directory that a bench has made, if one is up. */
export function endSupervisor(runs: string): void {
  try {
    process.kill(supervisorPid(runs), 'SIGKILL');
  } catch {
    // None was started, or it has ended by itself.
  }
}
