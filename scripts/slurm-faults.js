/**
 * `npm run slurm-faults [KILLS [SEED]]`: runs as jobs and in packs on a throw-away cluster of three nodes (`slurm-dev.sh`, as root), while
 * `kill -9` hits the controller, the controller within two seconds of a submission, daemons of nodes, the supervisor and workers, a fifth
 * of the kills each. What was killed is started again, as systemd does it; all else that is done is what `status` says to type.
 * Each run keeps a ledger of its own, which is judged afterwards. Exit code 1 if a run was lost, ran twice or is told of wrongly.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { readNumbers } from './arguments.js';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [kills, seed] = readNumbers([100, 1]);
const FIRST_RUNS = 80;
const RUNS_OF_A_SUBMISSION = 6;
/** A controller is killed at most so long after it has taken a submission, ms. */
const SOON_MS = 2000;
/** How long a victim is waited for, ms. */
const VICTIM_MS = 20_000;
const LAST_END_MS = 15 * 60_000;

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'slurm-faults-')));
const cluster = join(folder, 'cluster');
const ledgers = join(folder, 'ledgers');
const own = {
  SLURM_DEV_DIR: cluster,
  SLURM_DEV_NODES: '3',
  SLURM_CONF: join(cluster, 'slurm.conf'),
};
const commands = join(folder, 'bin');
const submissions = join(folder, 'submissions');
const PATH = `${process.env.PATH}:/usr/sbin:/sbin`;
const env = { ...process.env, ...own, PATH: `${commands}:${PATH}` };

let state = seed;
const random = () => (state = (state * 1103515245 + 12345) & 0x7fffffff) / 0x7fffffff;
const call = (program, args, timeout = 60_000) =>
  spawnSync(program, args, { cwd: folder, env, encoding: 'utf8', timeout });
const memrlTui = (...args) => call(process.execPath, [join(root, 'dist/memrl-tui.js'), ...args]);
const dev = (verb) => call('bash', [join(root, 'scripts/slurm-dev.sh'), verb]);

/** An `sbatch` that writes down when Slurm has taken something. */
function watchSubmissions() {
  const sbatch = spawnSync('sh', ['-c', 'command -v sbatch'], { env: { ...process.env, PATH }, encoding: 'utf8' });
  mkdirSync(commands);
  const script = `case "$*" in *--test-only*) ;; *) [ $code != 0 ] || date +%s%N >> ${submissions};; esac`;
  writeFileSync(join(commands, 'sbatch'), `#!/bin/sh\n${sbatch.stdout.trim()} "$@"\ncode=$?\n${script}\nexit $code\n`);
  chmodSync(join(commands, 'sbatch'), 0o755);
}

/** When Slurm took each submission so far, ms since 1970. */
function takenAt() {
  if (!existsSync(submissions)) return [];
  return readFileSync(submissions, 'utf8')
    .trim()
    .split('\n')
    .map((line) => Number(BigInt(line) / 1_000_000n));
}

/** Each run writes when it starts and ends, and ends with 3 where its number ends in 7. */
function writeSweep(runs) {
  const numbers = (parity) =>
    Array.from({ length: runs }, (_, number) => number).filter((number) => number % 2 === parity);
  writeFileSync(
    join(folder, 'sweep.yaml'),
    `name: faults
executor: slurm
command:
  - sh
  - -c
  - 'f=${ledgers}/$1; echo "start $(date +%s%N) $MEMRL_ATTEMPT" >> $f; sleep $2; echo "end $(date +%s%N) $MEMRL_ATTEMPT" >> $f; exit $3'
  - sh
  - \${number}
  - \${seconds}
  - \${code}
resources: { gpus: 0 }
breaker: false
retry: { max: 20, backoff: 0, on: [signal, lost] }
parameters: { seconds: { expr: "5 + number * 7 % 41" }, code: { expr: "number % 10 == 7 ? 3 : 0" } }
groups:
  jobs: { parameters: { number: [${numbers(0)}] }, slurm: { mode: jobs } }
  packs: { parameters: { number: [${numbers(1)}] }, slurm: { mode: packs, workers: 6 } }
`,
  );
}

const now = () => BigInt(Date.now()) * 1_000_000n;

let runs = 0;
/** When launches of the file began and ended, ns since 1970. A launch starts failed runs again. */
const launches = [];
async function submit(more) {
  runs += more;
  writeSweep(runs);
  const begin = now();
  const words = [join(root, 'dist/memrl-tui.js'), 'sweep.yaml', '--detach', '--yes'];
  const [status] = await once(
    spawn(process.execPath, words, { cwd: folder, env, stdio: ['ignore', 'ignore', 'inherit'] }),
    'exit',
  );
  launches.push({ begin, end: now() });
  if (status !== 0) throw new Error(`a launch ended with ${status}`);
}

function numberIn(path) {
  try {
    const text = readFileSync(path, 'utf8');
    return text.startsWith('{') ? JSON.parse(text).pid : Number(text);
  } catch {
    return 0;
  }
}

function workers() {
  return readdirSync('/proc').filter((pid) => {
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      return (
        words[0].endsWith('node') && words.some((word) => word.startsWith(join(folder, 'runs')) && /packs/.test(word))
      );
    } catch {
      return false;
    }
  });
}

/** Why the launch that is under way, or was last, did not succeed; null: it did. */
let launching = Promise.resolve(null);
/** How long after a submission the controller was killed, ms. */
const gaps = [];
const controller = () => numberIn(join(cluster, 'run/slurmctld.pid'));
const victims = {
  controller,
  'controller after a submission': async () => {
    const before = takenAt().length;
    launching = submit(RUNS_OF_A_SUBMISSION).then(
      () => null,
      (error) => error,
    );
    for (const start = Date.now(); takenAt().length === before && Date.now() - start < VICTIM_MS;) await sleep(20);
    if (takenAt().length === before) return 0;
    await sleep(random() * SOON_MS - (Date.now() - takenAt().at(-1)));
    gaps.push(Date.now() - takenAt().at(-1));
    return controller();
  },
  'daemon of a node': () => numberIn(join(cluster, `run/slurmd-n${1 + Math.floor(random() * 3)}.pid`)),
  supervisor: () => numberIn(join(folder, 'runs/.supervisor/lock.json')),
  worker: () => {
    const pids = workers();
    return Number(pids[Math.floor(random() * pids.length)] ?? 0);
  },
};

/** What was typed because `status` says so, and how often. */
const typed = {};

/** Starts again what was killed. All else is left to the person who reads `status`. */
function repair() {
  dev('start');
  for (const [line] of memrlTui('status', 'faults').stdout.matchAll(/scontrol update nodename=\S+ state=resume/g)) {
    const [program, ...args] = line.split(' ');
    call(program, args, 15_000);
    typed[line] = (typed[line] ?? 0) + 1;
  }
}

/** The rows of all runs; a supervisor that was killed is started for that. */
function rows() {
  try {
    return JSON.parse(memrlTui('ls', 'sweep:faults', '--json').stdout);
  } catch {
    return [];
  }
}

const isOver = (all) =>
  all.length === runs && all.every(({ state: word }) => ['done', 'failed', 'lost', 'killed'].includes(word));

/** A fifth of the kills for each kind, in any order. */
function plannedKills() {
  const kinds = Object.keys(victims);
  const plan = Array.from({ length: kills }, (_, kill) => ({ kind: kinds[kill % kinds.length], rank: random() }));
  return plan.sort((a, b) => a.rank - b.rank).map(({ kind }) => kind);
}

async function killOne(kind) {
  for (const start = Date.now(); !isBroken && Date.now() - start < VICTIM_MS; await sleep(200)) {
    const pid = await victims[kind]();
    if (pid <= 1 || !existsSync(`/proc/${pid}`)) continue;
    process.kill(pid, 'SIGKILL');
    return true;
  }
  return false;
}

async function ordeal() {
  const counts = {};
  for (const [index, kind] of plannedKills().entries()) {
    if (isBroken) break;
    await sleep(300 + random() * 1700);
    // Where no worker is there to be killed the controller is.
    const killed = (await killOne(kind)) ? kind : 'controller';
    if (killed === kind || (await killOne(killed))) counts[killed] = (counts[killed] ?? 0) + 1;
    await sleep(random() * 1500);
    const refused = await launching;
    if (refused !== null) throw refused;
    repair();
    if (index % 10 === 9)
      console.log(
        `${index + 1} kills, ${rows().filter(({ endedAt }) => endedAt !== null).length} of ${runs} runs ended`,
      );
  }
  let all = [];
  for (const start = Date.now(); !isOver(all) && Date.now() - start < LAST_END_MS; all = rows()) {
    repair();
    await sleep(1000);
  }
  return { counts, all };
}

/** What a run wrote, oldest first. */
function ledgerOf(number) {
  const path = join(ledgers, String(number));
  const lines = existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
  return lines.map((line) => line.split(' ')).map(([what, at, attempt]) => ({ what, at: BigInt(at), attempt }));
}

/** What was not as promised, in words. */
function violations(row) {
  const { number } = row.parameters;
  const lines = ledgerOf(number);
  const code = number % 10 === 7 ? 3 : 0;
  const found = [];
  if (row.state !== (code === 0 ? 'done' : 'failed') || (code === 3 && row.exit?.code !== 3))
    found.push(`is ${row.state} (${row.reason ?? row.exit?.code})`);
  if (!lines.some(({ what }) => what === 'end')) found.push('never came to its end');
  for (const [index, { what, at, attempt }] of lines.entries()) {
    const next = lines[index + 1];
    if (next === undefined) continue;
    const folderOf = join(row.directory, 'attempts', attempt);
    // What was killed between its last line and its end is started again as it should be; and so is what failed before a launch.
    const hasEnded =
      existsSync(join(folderOf, 'exit')) && !/got SIGTERM/.test(readFileSync(join(folderOf, 'pid'), 'utf8'));
    const isLaunchedAgain = code !== 0 && launches.some(({ begin, end }) => at < end && begin < next.at);
    if (what === 'end' && !isLaunchedAgain && hasEnded && numberIn(join(folderOf, 'exit')) === code)
      found.push(`ran again after its end`);
    const later = lines.slice(index + 1).find((line) => line.what === 'end' && line.attempt === attempt);
    if (what === 'start' && later !== undefined && next !== later) found.push('ran twice at a time');
  }
  return found.map(
    (words) => `run ${number} ${words}: ${lines.map((line) => `${line.what} ${line.attempt}`).join(', ')}`,
  );
}

// A signal ends the kills; what was done by then is judged.
let isBroken = false;
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => (isBroken = true));

mkdirSync(ledgers);
watchSubmissions();
const started = dev('start');
if (started.status !== 0) {
  console.error(
    started.stderr || 'The cluster did not start: it takes root, slurmctld, slurmd, slurm-client and munge.',
  );
  process.exit(1);
}
try {
  await submit(FIRST_RUNS);
  const { counts, all } = await ordeal();
  const found = [
    ...all.flatMap(violations),
    ...(all.length === runs ? [] : [`${runs - all.length} runs are not told of`]),
  ];
  const again = all.filter(({ attempt }) => attempt > 1).length;
  for (const [kind, count] of Object.entries(counts)) console.log(`kill -9 of the ${kind}: ${count}`);
  console.log(
    `milliseconds from a submission to the kill of its controller: ${gaps.toSorted((a, b) => a - b).join(', ')}`,
  );
  for (const [line, times] of Object.entries(typed)) console.log(`typed, as status says: ${line} (${times} times)`);
  for (const words of found) console.log(`VIOLATED: ${words}`);
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  console.log(
    `${total} kills, ${all.length} runs, ${again} of them started again, seed ${seed}: ${found.length} violations`,
  );
  if (found.length > 0) console.log(`Their files: ${folder}`);
  process.exitCode = found.length === 0 ? 0 : 1;
} finally {
  const supervisor = numberIn(join(folder, 'runs/.supervisor/lock.json'));
  if (supervisor > 1 && existsSync(`/proc/${supervisor}`)) process.kill(supervisor, 'SIGKILL');
  dev('stop');
  if (process.exitCode === 0) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
