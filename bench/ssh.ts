import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type OpenTerminal, openTerminal } from '../scripts/terminal.js';
import { lockPath } from '../src/supervisor/core/lock.js';
import { openSlowHosts, type SlowHosts, SSHD } from '../test/slow-ssh.js';
import { waitFor } from '../test/supervisor/testbed.js';
import { median, quantile } from './support/quantile.js';

const program = join(process.cwd(), 'dist/memrl-tui.js');
const DELAY_MS = 100;
const ROUNDS = 3;
const KEYS = 60;
/** A laptop that sleeps for so long, s; `MEMRL_SLEEP_S=600` for ten minutes. */
const SLEEP_S = Number(process.env['MEMRL_SLEEP_S'] ?? 60);
const LOOK_S = 20;
const hosts = ['far', 'farther', 'farthest'];
const [down, up] = ['\u001b[B', '\u001b[A'];

const sweep = `
name: slow
resources: { gpus: 0 }
parameters: { seed: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11] }
command:
  - sh
  - -c
  - 'step=0; while :; do step=$((step+1)); echo "{\\"step\\": $step, \\"loss\\": 1}" >> "$MEMRL_RUN_DIR/metrics.jsonl"; echo line $step; sleep 0.5; done'
`;

/** A window on hosts behind a real sshd and a line of 100 ms, beside what `ssh HOST true` takes: needs sshd and root or /run/sshd. */
export async function benchSsh(): Promise<string[]> {
  if (!existsSync(SSHD) || (process.getuid!() === 0 && !existsSync('/run/sshd')))
    return [`left out: there is no ${SSHD}, or no /run/sshd (\`apt-get install openssh-server; mkdir -p /run/sshd\`)`];
  const folder = mkdtempSync(join(tmpdir(), 'memrl-ssh-'));
  const far = await openSlowHosts(folder, hosts, DELAY_MS);
  const environment = { ...process.env, PATH: `${far.bin}:${process.env['PATH']}`, XDG_CONFIG_HOME: folder };
  const place = { folder, far, environment };
  try {
    const copy = `tar -C ${process.cwd()} -czf - package.json dist | ssh`;
    for (const host of hosts) {
      await run(place, 'sh', ['-c', `${copy} ${host} 'mkdir -p .memrl-tui && tar -C .memrl-tui -xzf -'`]);
      writeFileSync(join(far.homeOf(host), 'slow.yaml'), sweep);
      await run(place, process.execPath, [program, '--host', host, 'slow.yaml', '--detach', '--slots', '12']);
    }
    return [
      `a line of ${DELAY_MS} ms to the host and back, 12 runs a host that log twice a second; medians of ${ROUNDS}`,
      '                             ssh HOST true   first picture, curves beyond it   key p50   p99',
      await opened(place, 'one host', ['far']),
      await opened(place, 'three hosts', hosts),
      await opened(place, 'through a jump host', ['jumped']),
      await opened(place, 'ControlMaster', ['shared']),
      ...(await interrupted(place)),
    ];
  } finally {
    for (const host of hosts)
      await run(place, process.execPath, [program, 'kill', '--host', host, 'slow', '--wait', '-y']).catch(() => 0);
    far.close();
    for (const host of hosts) {
      const lock = lockPath(join(far.homeOf(host), 'runs'));
      await waitFor(`the supervisor of ${host} to leave`, () => !existsSync(lock));
    }
    rmSync(folder, { recursive: true });
  }
}

type Place = { readonly folder: string; readonly far: SlowHosts; readonly environment: NodeJS.ProcessEnv };

async function opened(place: Place, name: string, on: readonly string[]): Promise<string> {
  const [logins, pictures, curves, keys]: number[][] = [[], [], [], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    const login = await timed(() => run(place, 'ssh', [on[0]!, 'true']));
    const began = performance.now();
    const window = open(place, on);
    await window.waitFor(
      (rows) => on.every((host) => on.length === 1 || rows.join('\n').includes(`@${host}`)) && isUp(rows),
    );
    const picture = performance.now() - began;
    await window.waitFor((rows) => /[⠁-⣿]{2}/.test(rows.join('\n')));
    logins!.push(login);
    pictures!.push(picture - login);
    curves!.push(performance.now() - began - login);
    for (let key = 0; key < KEYS / ROUNDS; key += 1) {
      await pause(60);
      keys!.push(await timed(() => drawn(window, key % 2 === 0 ? down : up)));
    }
    await left(window);
  }
  const [login, picture, curve] = [logins!, pictures!, curves!].map(
    (times) => `${(median(times) / 1000).toFixed(2)} s`,
  );
  const answer = [0.5, 0.99].map((share) => `${quantile(keys!, share).toFixed(0)} ms`);
  return `  ${name.padEnd(26)} ${login!.padStart(13)}   ${picture!.padStart(13)}   ${curve!.padStart(15)}   ${answer[0]!.padStart(7)} ${answer[1]!.padStart(5)}`;
}

/** Bytes a second, and how it comes back after its line was cut, and after nothing came through for a while. */
async function interrupted(place: Place): Promise<string[]> {
  const { line } = place.far;
  const window = open(place, ['far']);
  await window.waitFor(isUp);
  const before = line.bytes;
  await pause(LOOK_S * 1000);
  const rate = (line.bytes - before) / LOOK_S / 1000;
  const isBack = (rows: string[]) => !rows.join('\n').includes('reconnecting');
  line.cut();
  const cutSaid = await timed(() => window.waitFor((rows) => !isBack(rows)));
  await pause(2000);
  line.heal();
  const cutBack = await timed(() => window.waitFor(isBack));
  line.silence();
  const asleep = performance.now();
  await window.waitFor((rows) => !isBack(rows));
  const silenceSaid = performance.now() - asleep;
  await pause(SLEEP_S * 1000 - silenceSaid);
  line.heal();
  const silenceBack = await timed(() => window.waitFor(isBack));
  await left(window);
  const words = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
  return [
    `  ${rate.toFixed(1)} kB/s, both ways, while it is looked at`,
    `  a line that is cut for 2 s: said after ${words(cutSaid)}, back ${words(cutBack)} after it is whole`,
    `  a line that is silent for ${SLEEP_S} s: said after ${words(silenceSaid)}, back ${words(silenceBack)} after it is whole`,
  ];
}

function open({ folder, environment }: Place, on: readonly string[]): OpenTerminal {
  return openTerminal({
    ...{ command: process.execPath, args: [program, 'attach', ...on.flatMap((host) => ['--host', host])] },
    ...{ columns: 120, rows: 40, cwd: folder },
    environment: { ...environment, TERM: 'xterm-256color', LANG: 'C.UTF-8', CI: undefined, NO_COLOR: undefined },
  });
}

function isUp(rows: string[]): boolean {
  return rows.join('\n').includes('q detach');
}

async function left(window: OpenTerminal): Promise<void> {
  window.write('q');
  await window.ended();
}

function drawn(window: OpenTerminal, key: string): Promise<void> {
  return new Promise((resolve) => {
    const off = window.onDrawn(() => {
      off();
      resolve();
    });
    window.write(key);
  });
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/** Not waited for in place: the lines are kept by this very process. */
function run({ folder, environment }: Place, command: string, args: readonly string[]): Promise<void> {
  const child = spawn(command, args, { cwd: folder, env: environment, stdio: 'ignore' });
  return new Promise((resolve, reject) => {
    child.on('exit', (code) =>
      code === 0 ? resolve() : reject(new Error(`${command} ${args.join(' ')}: exit ${code}`)),
    );
  });
}
