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

const files = () => ({ judgedFile: join(folder, 'judged.json'), summaries: join(folder, 'summaries') });

/** So often it is looked whether a thread goes on, ms; one that only waits for a busy processor must not seem to stand still. */
const CHECK_MS = 400;

/** The thread as it is shipped. */
async function threadFile(): Promise<URL> {
  return pathToFileURL(join(dirname(await bundledSupervisor()), 'reader-thread.js'));
}

/** The same, but as soon as it looks at the run of this name it does something else: it ends, if nothing else is said. */
async function mortalThreadFile(run: string, fate = 'process.exit(7)'): Promise<URL> {
  const file = join(folder, 'mortal-thread.mjs');
  const lines = [
    "import fs from 'node:fs';",
    "import { syncBuiltinESMExports } from 'node:module';",
    'const { statSync } = fs;',
    `fs.statSync = (path, ...rest) => (String(path).includes('/${run}') ? ${fate} : statSync(path, ...rest));`,
    'syncBuiltinESMExports();',
    `await import('${(await threadFile()).href}');`,
  ];
  writeFileSync(file, lines.join('\n'));
  return pathToFileURL(file);
}

function planned(...names: string[]) {
  return plannedWith('acc > 0.5', ...names);
}

function plannedWith(when: string, ...names: string[]) {
  const parameters = { xs: Array.from({ length: 100 }, (_, n) => n) };
  const runs = plan(
    folder,
    's',
    names.map((name) => ({ name, directory: join(folder, name), parameters, stopWhen: { when, for: 1 } })),
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
  const watcher = new Watcher(told, openReaderThread(await threadFile(), files()));
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
  const watcher = new Watcher(told, openReaderThread(await mortalThreadFile('bad'), files()));
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

it(
  'is ended and opened again when it does not go on, and the run over which that was is read no more',
  { tags: ['long'] },
  async () => {
    const [good, bad] = planned('good', 'bad') as [never, never];
    const told = listener();
    const file = await mortalThreadFile('bad', '(() => { for (;;); })()');
    const watcher = new Watcher(told, openReaderThread(file, files()), CHECK_MS);
    watcher.watch(bad, 1, 1_000_000);
    watcher.watch(good, 1, 1_000_000);
    await waitFor('the other run to be read', () => watcher.vitals((good as { id: never }).id).metrics['acc'] === 0.4);
    expect(told.hindered).toHaveBeenCalledExactlyOnceWith(
      's/bad',
      expect.stringMatching(/not read any more.* did not go on/),
    );
    expect(told.log).toHaveBeenCalledTimes(2);
    expect(told.log).toHaveBeenCalledWith(expect.stringMatching(/died over s\/bad: it did not go on/));
    await watcher.close();
  },
);

it('is opened again when a rule never returns: the rule is off for all of its group, and their rows are read', async () => {
  const forEver = `${['a', 'b', 'c', 'd', 'e', 'f'].map((name) => `xs.all(${name}, `).join('')}acc < 2${')'.repeat(6)}`;
  const [first, second] = plannedWith(forEver, 'first', 'second') as [never, never];
  const told = listener();
  const watcher = new Watcher(told, openReaderThread(await threadFile(), files()), CHECK_MS);
  watcher.watch(first, 1, 1_000_000);
  watcher.watch(second, 1, 1_000_000);
  for (const run of [first, second]) {
    await waitFor('its row', () => watcher.vitals((run as { id: never }).id).metrics['step'] === 1);
    const words: unknown = expect.stringMatching(/^stop_when is switched off \(xs\.all.*: it did not go on for/);
    await waitFor('its warning', () => told.hindered.mock.calls.some(([id]) => id === (run as { id: never }).id));
    expect(told.hindered).toHaveBeenCalledWith((run as { id: never }).id, words);
  }
  expect(told.log).toHaveBeenCalledExactlyOnceWith(expect.stringMatching(/died over stop_when of s\/(first|second)/));
  expect(told.ruleMet).not.toHaveBeenCalled();
  await watcher.close();
});
