import { spawnSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { busyLines } from './support/busy.js';
import { endSupervisor, ownDist, privateEnvironment, supervisorPid } from './support/measured-build.js';
import { endedChildrenSeconds, residentMegabytes, threadSeconds } from './support/process-figures.js';

/** Seconds after the launch between which the supervisor is looked at. */
const looks = [4, 10, 40, 70];
const LAUNCHED = 300;
const budget = { share: 0.1, megabytes: 60 };

/** What a supervisor costs whose two runs sleep; and what a launch of 300 short runs costs its client and its supervisor. */
export async function benchIdle(): Promise<string[]> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'memrl-idle-')));
  try {
    return [...(await idleLines(folder)), launchLine(folder), ...busyLines()];
  } finally {
    endSupervisor(runsIn(folder));
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function idleLines(folder: string): Promise<string[]> {
  launch(folder, 'sleeping', { lines: ['sleep 600', 'sleep 601'], options: ['--detach'] });
  const begun = performance.now();
  const pid = supervisorPid(runsIn(folder));
  const seen: { cpu: number; at: number }[] = [];
  for (const second of looks) {
    await pause(begun + second * 1000 - performance.now());
    seen.push({ cpu: threadSeconds(pid), at: performance.now() });
  }
  const megabytes = residentMegabytes(pid);
  const lines = seen.slice(1).map(({ cpu, at }, index) => {
    const share = ((cpu - seen[index]!.cpu) / ((at - seen[index]!.at) / 1000)) * 100;
    const from = looks[index]!;
    return `idle supervisor, two sleeping runs, second ${from} to ${looks[index + 1]!}: ${share.toFixed(2)} % of a core; budget ${budget.share} %: ${held(share, budget.share)}`;
  });
  tui(folder, ['kill', 'sweep:sleeping', '-y']);
  return [
    ...lines,
    `its memory: ${megabytes.toFixed(0)} MB; budget ${budget.megabytes} MB: ${held(megabytes, budget.megabytes)}`,
  ];
}

function launchLine(folder: string): string {
  endSupervisor(runsIn(folder));
  const before = endedChildrenSeconds();
  const lines = Array.from({ length: LAUNCHED }, (_, index) => `/bin/true ${index}`);
  launch(folder, 'short', { lines, options: ['--plain', '--slots', '2'] });
  const client = endedChildrenSeconds() - before;
  const supervisor = threadSeconds(supervisorPid(runsIn(folder)));
  return `launch of ${LAUNCHED} × /bin/true: ${(client + supervisor).toFixed(2)} s of CPU (client ${client.toFixed(2)}, supervisor ${supervisor.toFixed(2)})`;
}

type Launch = { readonly lines: readonly string[]; readonly options: readonly string[] };

/** Launches a list of commands as a sweep of that name. */
function launch(folder: string, name: string, { lines, options }: Launch): void {
  const file = join(folder, `${name}.txt`);
  writeFileSync(file, `${lines.join('\n')}\n`);
  tui(folder, [file, '-y', ...options]);
}

function tui(folder: string, words: readonly string[]): void {
  const env = privateEnvironment(folder);
  const program = [join(ownDist(), 'memrl-tui.js'), ...words, '--runs', runsIn(folder)];
  const { status, stdout, stderr } = spawnSync(process.execPath, program, { cwd: folder, env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${words.join(' ')} failed: ${stdout}${stderr}`);
}

function runsIn(folder: string): string {
  return join(folder, 'runs');
}

function held(value: number, limit: number): string {
  return value <= limit ? 'held' : 'MISSED';
}
