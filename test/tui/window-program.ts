/** The program of the end-to-end tests: the window on the simulated memory sweep, or whatever the first argument names. */
import { openWindow } from '../../src/tui/app/open-window.js';
import type { RunFilesPort } from '../../src/tui/state/port.js';
import { knownSummary } from './known-summary.js';
import { memorySweep } from './simulated-fleet.js';

const mode = process.argv[2] ?? 'plain';
const { fleet, files } = memorySweep();
let newsCount = 0;
const shift = Date.now() - memorySweep().now;
for (const run of fleet.runs.values()) {
  const moved = (time: number | null) => (time === null ? null : time + shift);
  fleet.change(run.id, {
    startedAt: moved(run.startedAt),
    endedAt: moved(run.endedAt),
    killAt: moved(run.killAt),
  });
}
if (mode === 'busy') setInterval(makeNews, 20);
const broken: RunFilesPort = {
  ...files,
  metrics: () => ({
    refresh: () => true,
    keys: () => [],
    series: () => {
      throw new Error('broken by the test program');
    },
  }),
};
if (mode === 'ended') {
  for (const { id } of fleet.runs.values()) fleet.change(id, { state: 'done', progress: 1, killAt: null, slot: null });
}

/** Something on every row that is shown; the first waiting run counts. */
function makeNews(): void {
  newsCount++;
  for (const { id, state } of fleet.runs.values()) {
    const metrics = { 'test/bits_known': (newsCount * 7919) % 9973 };
    fleet.change(id, state === 'queued' ? { reason: `news ${newsCount}` } : { metrics });
  }
  fleet.publish();
}

/** Once the window is there: what ends it from within. */
function endSoon(): void {
  if (mode === 'throw') setTimeout(() => failLater(), 300);
  if (mode === 'exit') setTimeout(() => process.exit(7), 300);
  if (mode === 'throw-with-picture') failWithPicture();
}

/** Fails as soon as a picture of kitty has been written. */
function failWithPicture(): void {
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = (text: string, ...rest: []) => {
    if (String(text).includes('\u001b_Ga=T')) setTimeout(failLater);
    return write(text, ...rest);
  };
}

function failLater(): never {
  throw new Error('thrown by the test program');
}

try {
  const summary = mode === 'ended' ? knownSummary(() => ['setting   bits/episode', 'A_B8      0.0121']) : undefined;
  const outcome = await openWindow({
    fleet,
    files: mode === 'broken' ? broken : files,
    sweep: 'abcd',
    stdin: process.stdin,
    stdout: process.stdout,
    environment: process.env,
    summary: summary && (() => summary),
    onReady: endSoon,
  });
  process.stdout.write(`left: ${outcome}; asked: ${fleet.asked.join(', ') || 'nothing'}\n`);
  process.exit(0);
} catch (error) {
  process.stdout.write(`failed: ${(error as Error).message}\n`);
  process.exit(1);
}
