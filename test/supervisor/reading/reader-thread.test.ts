import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { openReaderThread } from '../../../src/supervisor/reading/reader-link.js';
import { Watcher } from '../../../src/supervisor/runs/watcher.js';
import { removeFolder } from '../../remove-folder.js';
import { bundledSupervisor, plan, waitFor } from '../testbed.js';

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'memrl-reader-'))));
afterEach(() => removeFolder(folder));

/** The thread as it is shipped. */
async function threadFile(): Promise<URL> {
  return pathToFileURL(join(dirname(await bundledSupervisor()), 'reader-thread.js'));
}

/** The same, but it ends as soon as it looks at the run of this name. */
async function mortalThreadFile(run: string): Promise<URL> {
  const file = join(folder, 'mortal-thread.mjs');
  const lines = [
    "import fs from 'node:fs';",
    "import { syncBuiltinESMExports } from 'node:module';",
    'const { statSync } = fs;',
    `fs.statSync = (path, ...rest) => (String(path).includes('/${run}') ? process.exit(7) : statSync(path, ...rest));`,
    'syncBuiltinESMExports();',
    `await import('${(await threadFile()).href}');`,
  ];
  writeFileSync(file, lines.join('\n'));
  return pathToFileURL(file);
}

function planned(...names: string[]) {
  const runs = plan(
    folder,
    's',
    names.map((name) => ({ name, directory: join(folder, name), stopWhen: { when: 'acc > 0.5', for: 1 } })),
  ).runs;
  for (const { directory, name } of runs) {
    mkdirSync(directory);
    writeFileSync(join(directory, 'metrics.jsonl'), `{"step": 1, "acc": ${name.length / 10}}\n`);
  }
  return runs;
}

const listener = () => ({
  ...{ now: () => 1_000_000, changed: vi.fn(), recalled: vi.fn(), log: vi.fn() },
  ...{ ruleMet: vi.fn(), targetReached: vi.fn(), hindered: vi.fn() },
});

it('tells what metrics say of runs that are up, that end and that have ended, and when a rule is met', async () => {
  const [live, ending, past] = planned('live', 'ending-run', 'past') as [never, never, never];
  const told = listener();
  const watcher = new Watcher(told, openReaderThread(await threadFile(), join(folder, 'judged.json')));
  const acc = (run: { id: never }) => watcher.vitals(run.id).metrics['acc'];
  watcher.watch(live, 1, 1_000_000);
  watcher.watch(ending, 1, 1_000_000);
  watcher.finish(ending);
  watcher.recall([past]);
  expect(watcher.unread).toBe(2);
  await waitFor('all that ended', () => watcher.unread === 0);
  expect([acc(ending), acc(past)]).toEqual([1, 0.4]);
  await waitFor('the one that is up', () => acc(live) === 0.4);
  expect(watcher.followedOf((live as { id: never }).id, 1)?.rows).toBe(1);
  expect(told.ruleMet).toHaveBeenCalledExactlyOnceWith('s/ending-run', 1, 'acc > 0.5');
  await watcher.close();
});

it('is opened again when it dies, and the run over which it dies is read no more', async () => {
  const [good, bad, ended] = planned('good', 'bad', 'ended') as [never, never, never];
  const told = listener();
  const watcher = new Watcher(told, openReaderThread(await mortalThreadFile('bad'), join(folder, 'judged.json')));
  const caughtUp = vi.fn();
  watcher.watch(good, 1, 1_000_000);
  watcher.catchUp(bad, 1, caughtUp);
  watcher.watch(ended, 1, 1_000_000);
  watcher.finish(ended);
  await waitFor('the ended run to be read', () => watcher.unread === 0);
  await waitFor('the live run to be read', () => watcher.vitals((good as { id: never }).id).metrics['acc'] === 0.4);
  expect(caughtUp).toHaveBeenCalledOnce();
  expect(told.hindered).toHaveBeenCalledExactlyOnceWith('s/bad', expect.stringContaining('ended with code 7'));
  expect(told.log).toHaveBeenCalledTimes(2);
  await watcher.close();
});
