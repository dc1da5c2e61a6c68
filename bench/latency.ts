import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pty from '@lydell/node-pty';
import { build } from 'esbuild';

// dist/ when bundled, bench/ in the source tree: both one below the root.
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const budget = { p50: 2, p95: 16 };
const size = { cols: 120, rows: 40 };
const keys = 100;
const warmUpMs = 2000;
const ticksPerSecond = 100;
const down = '\u001b[B';

type Result = { p50: number; p95: number; p99: number; cpu: number | null; rss: number | null; bytes: number };

/**
 * From a key to the frame that answers it, through a real pseudo-terminal at 120 × 40: 1000 runs, 10 updates a second each.
 * Beside it the same lines through Ink's own output.
 */
export async function benchLatency(): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'memrl-latency-'));
  try {
    const program = await bundle(folder);
    const ours = await measure(program, 'painter');
    const peer = await measure(program, 'ink');
    const held = ours.p50 <= budget.p50 && ours.p95 <= budget.p95;
    return [
      `key → frame, 1000 runs × 10 updates/s, ${size.cols} × ${size.rows}, ${keys} keys`,
      '                             p50       p95       p99      CPU       RSS       output',
      line('control window', ours),
      line("same lines, Ink's output", peer),
      `budget p50 ${budget.p50} ms, p95 ${budget.p95} ms: ${held ? 'held' : 'MISSED'}; ` +
        `p50 ${(peer.p50 / ours.p50).toFixed(1)}×, p95 ${(peer.p95 / ours.p95).toFixed(1)}× as fast as Ink's output`,
      ...(loadavg()[0]! > cpus().length
        ? [`the machine was busy with other things: load ${loadavg()[0]!.toFixed(1)} on ${cpus().length} cores`]
        : []),
    ];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function line(name: string, { p50, p95, p99, cpu, rss, bytes }: Result): string {
  const times = [p50, p95, p99].map((ms) => `${ms.toFixed(1)} ms`.padStart(9));
  const rest = [
    cpu === null ? '–' : `${cpu.toFixed(1)} %`,
    rss === null ? '–' : `${rss.toFixed(0)} MB`,
    `${(bytes / 1000).toFixed(0)} kB/s`,
  ];
  return `  ${name.padEnd(24)} ${[...times, ...rest.map((text) => text.padStart(9))].join(' ')}`;
}

async function bundle(folder: string): Promise<string> {
  const outfile = join(folder, 'live-window.mjs');
  await build({
    absWorkingDir: root,
    entryPoints: ['bench/programs/live-window.tsx'],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    define: { 'process.env.NODE_ENV': '"production"' },
    alias: { 'react-devtools-core': join(root, 'scripts/no-devtools.js') },
    banner: { js: "import { createRequire as r } from 'node:module'; const require = r(import.meta.url);" },
    logLevel: 'error',
  });
  return outfile;
}

async function measure(program: string, mode: 'painter' | 'ink'): Promise<Result> {
  // Ink draws nothing while CI is set.
  const env = { ...process.env, CI: 'false', CONTINUOUS_INTEGRATION: 'false' };
  const child = pty.spawn(process.execPath, [program, mode], { ...size, name: 'xterm-256color', env });
  let bytes = 0;
  let waiting: { token: string; seen: () => void } | null = null;
  let recent = '';
  child.onData((text) => {
    bytes += Buffer.byteLength(text);
    recent = (recent + text).slice(-65_536);
    if (waiting !== null && recent.includes(waiting.token)) waiting.seen();
  });
  const seen = (token: string): Promise<void> =>
    new Promise((resolve) => {
      waiting = { token, seen: resolve };
      if (recent.includes(token)) resolve();
    });
  try {
    await seen('k0.');
    await pause(warmUpMs);
    const before = { bytes, cpu: cpuSeconds(child.pid), at: performance.now() };
    const times: number[] = [];
    for (let key = 1; key <= keys; key++) {
      // Out of step with the updates: a multiple of their period would always meet the same moment.
      await pause(60 + ((key * 37) % 80));
      const start = performance.now();
      const answered = seen(`k${key}.`);
      child.write(down);
      await answered;
      times.push(performance.now() - start);
    }
    const seconds = (performance.now() - before.at) / 1000;
    const cpu = cpuSeconds(child.pid);
    return {
      ...quantiles(times),
      cpu: cpu === null || before.cpu === null ? null : ((cpu - before.cpu) / seconds) * 100,
      rss: residentMegabytes(child.pid),
      bytes: (bytes - before.bytes) / seconds,
    };
  } finally {
    child.kill('SIGKILL');
  }
}

function quantiles(times: readonly number[]): { p50: number; p95: number; p99: number } {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!;
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}

/** User and system time of a process; null where there is no /proc. */
function cpuSeconds(pid: number): number | null {
  const fields = procFile(pid, 'stat')?.split(') ').at(-1)?.split(' ');
  return fields === undefined ? null : (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

function residentMegabytes(pid: number): number | null {
  const kilobytes = /VmRSS:\s+(\d+)/.exec(procFile(pid, 'status') ?? '')?.[1];
  return kilobytes === undefined ? null : Number(kilobytes) / 1024;
}

function procFile(pid: number, name: string): string | null {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return null;
  }
}
