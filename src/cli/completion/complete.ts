import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { RunId } from '../../base/ids.js';
import { connect } from '../../client/ensure-supervisor.js';
import type { RunSummary } from '../../client/fleet.js';
import { readRuns } from '../../report/read-runs.js';
import { runsDirectory } from '../options.js';
import { print } from '../terminal.js';
import { launchOptions } from '../verb-options.js';
import { verbs } from '../verb-table.js';
import { candidates, forShell, type Known, typedLine } from './candidates.js';

/**
 * `memrl-tui __complete SHELL LINE`: one candidate on each line for the word at the end of the line. Says nothing where it
 * cannot help: a message would land in the middle of what a person types.
 */
export async function complete(shell: string, line: string): Promise<number> {
  const typed = typedLine(line);
  const runsAt = typed.words.lastIndexOf('--runs');
  const look = async () => knownIn(runsDirectory(runsAt < 0 ? undefined : typed.words[runsAt + 1]));
  const words = await candidates(typed, { verbs, launchOptions }, look).catch(() => []);
  print(forShell(shell, words, typed));
  return 0;
}

/** A person who pressed Tab waits no longer, ms. */
const PATIENCE_MS = 200;

/** What can be named in a runs directory: by the word of its supervisor, or else by its files. Starts nothing. */
async function knownIn(directory: string): Promise<Known> {
  return (await bySupervisor(directory)) ?? byFiles(directory);
}

async function bySupervisor(directory: string): Promise<Known | null> {
  const fleet = await connect(directory);
  if (fleet === null) return null;
  let timer: NodeJS.Timeout | undefined;
  const timeIsUp = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), PATIENCE_MS);
  });
  const inTime = await Promise.race([fleet.ready().then(() => true), timeIsUp]);
  clearTimeout(timer);
  const known = { sweeps: [...fleet.sweeps.keys()], runs: [...fleet.runs.values()] };
  fleet.close();
  return inTime ? known : null;
}

function byFiles(directory: string): Known {
  if (!existsSync(directory)) return { sweeps: [], runs: [] };
  const sweeps = readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
    .map(({ name }) => name);
  return { sweeps, runs: sweeps.flatMap((sweep) => runsByFiles(sweep, join(directory, sweep))) };
}

function runsByFiles(sweep: string, directory: string): RunSummary[] {
  return readRuns(directory).map(({ name, group, parameters, state, directory: own }) => ({
    ...{ id: RunId.parse(`${sweep}/${name}`), sweep, group, subgroup: null, name, directory: own, parameters, state },
    ...{
      argv: [],
      reason: null,
      attempt: 0,
      exit: null,
      slot: null,
      gpus: [],
      pid: null,
      startedAt: null,
      endedAt: null,
    },
    ...{ killAt: null, retryAt: null, priority: 0, gpuMemory: null, warning: null, progress: null, etaSeconds: null },
    ...{ metrics: {}, spark: [], health: 'ok' },
  }));
}
