import { existsSync } from 'node:fs';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { supervisorFiles } from '../../contract/files.js';
import { cgroupFolder } from '../../processes/cgroup.js';
import { parsePlan } from '../../spec/plan-text.js';
import type { Plan } from '../../spec/planned-run.js';
import { isSecretName, redactor, redactWords } from '../../text/redaction.js';
import { ask, bad, type Check, type Finding, ok, type Place, textOf, warn } from './check.js';

export const cgroups: Check = {
  topic: 'Survival',
  name: 'Kill',
  look: async () => {
    const [mounts, groups] = await Promise.all([textOf('/proc/self/mountinfo'), textOf('/proc/self/cgroup')]);
    const folder = cgroupFolder(mounts ?? '', groups ?? '');
    const without = 'processes that leave the process group of a run are found by their environment';
    if (folder === null) return ok(`no cgroup v2 here; ${without}`);
    // Moves to its present cgroup, which changes nothing and needs the same permission.
    const isAllowed = await writeFile(join(folder, 'cgroup.procs'), String(process.pid)).then(
      () => true,
      () => false,
    );
    return ok(isAllowed ? 'each run gets its own cgroup: no process escapes' : `cgroups cannot be created; ${without}`);
  },
};

export const logout: Check = { topic: 'Survival', name: 'Logout', look: lookAtLogout };

async function lookAtLogout(place: Place): Promise<Finding> {
  if (!existsSync('/run/systemd/system')) return ok('no systemd: runs survive it');
  const property = ['org.freedesktop.login1', '/org/freedesktop/login1', 'org.freedesktop.login1.Manager'];
  const answer = await ask(place, 'busctl', 'get-property', ...property, 'KillUserProcesses');
  const user = userInfo().username;
  return judgeLogout({
    // logind does not kill root's processes by default.
    killsAll: place.uid !== 0 && (answer === null ? await isConfigured() : answer.endsWith('true')),
    lingers: existsSync(`/var/lib/systemd/linger/${user}`),
    group: (await textOf('/proc/self/cgroup')) ?? '',
    user,
  });
}

type LogoutFacts = { killsAll: boolean; lingers: boolean; group: string; user: string };

/** @param facts `killsAll`: logind kills all processes of a session at its end. `group`: text of /proc/self/cgroup. */
export function judgeLogout({ killsAll, lingers, group, user }: LogoutFacts): Finding {
  const isOfManager = /\/user@\d+\.service\//.test(group);
  if (isOfManager) {
    if (lingers) return ok('runs survive it: lingering is on');
    return warn(
      'runs end with your last session: this one belongs to your user service manager',
      `Keep it running: \`loginctl enable-linger ${user}\`.`,
    );
  }
  if (!killsAll || !/\/session-[^/]*\.scope/.test(group)) return ok('runs survive it');
  return bad(
    'systemd kills all processes of a session at logout (KillUserProcesses=yes), including runs',
    `Run \`loginctl enable-linger ${user}\`, and launch with \`systemd-run --user --scope memrl-tui …\`.`,
  );
}

/** Whether logind's configuration files tell it to kill processes. */
async function isConfigured(): Promise<boolean> {
  const folders = ['/usr/lib/systemd/logind.conf.d', '/etc/systemd/logind.conf.d'];
  const dropIns = await Promise.all(
    folders.map(async (folder) => (await readdir(folder).catch(() => [])).sort().map((name) => join(folder, name))),
  );
  const files = ['/etc/systemd/logind.conf', ...dropIns.flat()];
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8').catch(() => '')));
  const last = [...texts.join('\n').matchAll(/^\s*KillUserProcesses\s*=\s*(\w+)/gm)].at(-1);
  return /^(?:yes|true|on|1)$/i.test(last?.[1] ?? 'no');
}

export const hostConfig: Check = { topic: 'Survival', name: 'Host', look: lookAtHost };

/** Number of zombies from which on the process table may fill up. */
const MANY_ZOMBIES = 50;

async function lookAtHost({ environment }: Place): Promise<Finding> {
  const job = environment['SLURM_JOB_ID'];
  const container = containerOf(environment);
  const first = ((await textOf('/proc/1/comm')) ?? '').trim();
  return hostFinding({ job: job ?? null, container, first, zombies: await zombies() });
}

type HostConfig = { job: string | null; container: string | null; first: string; zombies: number };

/** @param facts `first`: the name of process 1. */
export function hostFinding({ job, container, first, zombies: dead }: HostConfig): Finding {
  if (job !== null) return ok(`in Slurm job ${job}: runs end with it, and resume in the next`);
  if (container === null) return ok('no container');
  const found = `in a container (${container}): runs end with it, and resume in the next if --runs is a volume`;
  if (dead < MANY_ZOMBIES) return ok(found);
  return warn(
    `${found}; ${dead} zombie processes remain, because process 1 (${first}) does not reap them`,
    'Start the container with an init: `docker run --init`.',
  );
}

function containerOf(environment: Place['environment']): string | null {
  if (environment['KUBERNETES_SERVICE_HOST']) return 'Kubernetes';
  if (existsSync('/run/.containerenv')) return 'podman';
  if (existsSync('/.dockerenv')) return 'docker';
  return environment['container'] ?? null;
}

async function zombies(): Promise<number> {
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  const stats = await Promise.all(pids.map((pid) => textOf(`/proc/${pid}/stat`)));
  return stats.filter((text) => text !== null && text.slice(text.lastIndexOf(')') + 2).startsWith('Z')).length;
}

/** Size limit of plans that are read, in bytes. */
const LARGEST = 32 * 2 ** 20;

export const secrets: Check = { topic: 'Survival', name: 'Secrets', look: lookAtSecrets };

/** Checks for exposed secrets: every user of the machine can read command lines; and a sweep file is copied beside its runs. */
async function lookAtSecrets({ runsDirectory, environment }: Place): Promise<Finding> {
  const folder = join(runsDirectory, supervisorFiles.directory, supervisorFiles.plans);
  const redact = redactor(environment);
  const exposed = new Map<string, { commands: number; settings: number }>();
  for (const plan of await plansIn(folder)) {
    const commands = plan.runs.filter(({ argv }) =>
      redactWords(argv, redact).some((word, index) => word !== argv[index]),
    );
    const settings = plan.runs.filter(({ env }) => Object.keys(env).some(isSecretName));
    if (commands.length + settings.length > 0) {
      exposed.set(plan.sweep, { commands: commands.length, settings: settings.length });
    }
  }
  return judgeSecrets(exposed);
}

/** @param exposed By sweep: the numbers of runs whose command, or whose `env` in the sweep file, contains a secret. */
export function judgeSecrets(exposed: ReadonlyMap<string, { commands: number; settings: number }>): Finding {
  if (exposed.size === 0) return ok('none in commands or sweep files');
  const places = [...exposed].map(([sweep, { commands, settings }]) =>
    commands > 0 ? `${sweep}: in the commands of ${commands} runs` : `${sweep}: under \`env\` for ${settings} runs`,
  );
  return warn(
    `in plain text for others to read (${places.join('; ')})`,
    'Export them in your shell before you launch: runs get your environment, and nobody else sees it.',
  );
}

async function plansIn(folder: string): Promise<Plan[]> {
  const names = await readdir(folder).catch(() => []);
  const plans: Plan[] = [];
  for (const name of names.filter((each) => each.endsWith('.json'))) {
    const path = join(folder, name);
    if ((await stat(path)).size > LARGEST) continue;
    plans.push(...planIn(await readFile(path, 'utf8')));
  }
  return plans;
}

/** The plan in a text; empty if it is none. */
function planIn(text: string): Plan[] {
  try {
    return [parsePlan(text)];
  } catch {
    return [];
  }
}
