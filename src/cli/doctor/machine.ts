import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { gpuName } from '../../base/ids.js';
import { supervisorFiles } from '../../contract/files.js';
import type { GpuReading } from '../../gpu/gpu.js';
import { readGpus } from '../../gpu/read-gpus.js';
import { isOnPath } from '../../processes/program-file.js';
import { usableCores } from '../../processes/usable-cores.js';
import { ask, bad, type Check, type Finding, ok, type Place, warn } from './check.js';

/** The oldest supported version, as in package.json. */
const OLDEST = [20, 19] as const;

export const node: Check = { topic: 'Machine', name: 'Node', look: () => judgeNode(process.version) };

export function judgeNode(version: string): Finding {
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number);
  const isOld = major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]);
  if (!isOld) return ok(version);
  return bad(`${version} is older than ${OLDEST.join('.')}`, 'Install a newer one, for example with `nvm install 22`.');
}

export const python: Check = {
  topic: 'Machine',
  name: 'Python',
  look: async (place) => {
    const version = (await ask(place, 'python3', '--version')) ?? (await ask(place, 'python', '--version'));
    return ok(version === null ? 'none on the PATH (needed only by runs in Python)' : version.replace(/^Python /, ''));
  },
};

export const git: Check = {
  topic: 'Machine',
  name: 'git',
  look: async (place) => {
    const version = await ask(place, 'git', '--version');
    if (version !== null) return ok(version.replace(/^git version /, ''));
    return warn('none on the PATH: run.json will not say which code ran', 'Install git.');
  },
};

/** A file on another machine's disk may have a time so far in the future, ms. */
const SLACK_MS = 120_000;

export const clock: Check = {
  topic: 'Machine',
  name: 'Clock',
  look: async (place) => {
    const now = Date.now();
    const found = new Date(now).toISOString().replace(/\..*/, 'Z');
    const ahead = (await newest(place)) - now;
    if (ahead > SLACK_MS) {
      const minutes = Math.round(ahead / 60_000);
      return warn(
        `${found}, but files of the runs are ${minutes} min ahead of it`,
        'Set the clock: `sudo timedatectl set-ntp true`.',
      );
    }
    if ((await isSynchronized(place)) !== false) return ok(found);
    return warn(`${found}, not synchronised`, 'Switch time synchronisation on: `sudo timedatectl set-ntp true`.');
  },
};

/** Time of the supervisor's last write, Unix ms. */
async function newest({ runsDirectory }: Place): Promise<number> {
  const { directory, journal, log } = supervisorFiles;
  const files = ['', join(directory, journal), join(directory, log)].map((name) => join(runsDirectory, name));
  const times = await Promise.all(
    files.map((file) =>
      stat(file)
        .then(({ mtimeMs }) => mtimeMs)
        .catch(() => 0),
    ),
  );
  return Math.max(...times);
}

/** Whether the clock is synchronized; null: unknown. */
async function isSynchronized(place: Place): Promise<boolean | null> {
  if (!existsSync('/run/systemd/system')) return null;
  const answer = await ask(place, 'timedatectl', 'show', '--property=NTPSynchronized', '--value');
  return answer === 'yes' ? true : answer === 'no' ? false : null;
}

/** Time limit of the GPU tools, ms, as a driver that is not loaded yet needs a second or two. */
const PATIENCE_MS = 4000;
const SLOW_MS = 1500;

export const gpus: Check = {
  topic: 'Machine',
  name: 'GPUs',
  patienceMs: PATIENCE_MS + 500,
  look: async ({ environment }) => {
    const start = performance.now();
    const reading = await readGpus(environment, PATIENCE_MS);
    return judgeGpus(reading, performance.now() - start);
  },
};

/** @param tookMs Duration of the tool's answer. */
export function judgeGpus(reading: GpuReading, tookMs: number): Finding {
  if (reading.kind === 'none') return ok(`none: runs go on CPU slots (${usableCores()} cores)`);
  if (reading.kind === 'unknown') {
    return bad(reading.reason, 'Run `nvidia-smi` (or `rocm-smi`) yourself; a driver that hangs needs a reboot.');
  }
  if (reading.gpus.length === 0) {
    return warn(
      'the driver is there, but no GPU for us',
      'Check CUDA_VISIBLE_DEVICES, or the `--gpus` of the container.',
    );
  }
  const shut = reading.gpus.filter(({ computeMode }) => computeMode === 'prohibited');
  if (shut.length > 0) {
    const indexes = shut.map(({ index }) => gpuName(index)).join(', ');
    return bad(`computing is prohibited on GPU ${indexes}`, `Allow it: \`sudo nvidia-smi -i ${indexes} -c DEFAULT\`.`);
  }
  const found = `${namesOf(reading.gpus)}; answers in ${(tookMs / 1000).toFixed(2)} s`;
  if (tookMs < SLOW_MS) return ok(found);
  return warn(`${found}, which is slow`, 'Keep the driver loaded: `sudo nvidia-smi -pm 1`.');
}

/** Names of GPUs: `4 × NVIDIA H100 (79 GiB), 1 × …`. */
function namesOf(all: Extract<GpuReading, { kind: 'gpus' }>['gpus']): string {
  const counts = new Map<string, number>();
  for (const { name, memoryTotal } of all) {
    const words = memoryTotal === null ? name : `${name} (${Math.round(memoryTotal / 1024)} GiB)`;
    counts.set(words, (counts.get(words) ?? 0) + 1);
  }
  return [...counts].map(([words, count]) => `${count} × ${words}`).join(', ');
}

export const mps: Check = {
  topic: 'Machine',
  name: 'MPS',
  look: ({ environment }) => {
    if (!isOnPath('nvidia-smi', environment)) return ok('not needed without NVIDIA GPUs');
    if (isOnPath('nvidia-cuda-mps-control', environment))
      return ok('available: runs that share a GPU execute concurrently');
    return warn(
      'nvidia-cuda-mps-control is missing: runs that share a GPU take turns',
      'Install the CUDA tools of your driver if you use `per_gpu` above 1.',
    );
  },
};
