import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { bundleLeanInk } from './scripts/lean-ink.js';
import { SecondTries } from './test/second-tries.js';

/** Tests of what computes, reads and draws: they leave nothing behind, so files can share what they import. */
const together = [
  ...['analysis', 'base', 'client', 'contract', 'files', 'logs', 'metrics'],
  ...['protocol', 'query', 'scheduler', 'spec', 'text', 'view'],
  ...['dialogs', 'keys', 'model', 'screens', 'state', 'surface', 'widgets'].map((room) => `tui/${room}`),
  ...['advantages', 'config', 'engine', 'environments', 'evaluation', 'hugging-face', 'objectives'].map(ofLab),
  ...['probes', 'reference', 'rewards', 'rollouts', 'service', 'text', 'update'].map(ofLab),
].map((part) => `test/${part}/**/*.test.{ts,tsx}`);

/** What the whole screens look like is tested on Ink as it comes, too. */
const onPlainInk = ['app/whole-screens', 'app/screen', 'dialogs/open-dialogs'].map(
  (name) => `test/tui/${name}.test.ts`,
);

/** Some of it holds whatever Ink is. (vitest heeds a project's own pattern; its types deny it one, so it is spread in.) */
const whateverInkIs = { testNamePattern: /^(?!.*whatever is)/ };

/** Those that take long begin first: a last one that takes a minute would have the machine to itself. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification) => /\/test\/(faults|e2e)\//.test(moduleId);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

function ofLab(room: string): string {
  return `lab/${room}`;
}

/** The window runs on Ink as it is shipped: without what it does not use. */
const resolve = { alias: [{ find: /^ink$/, replacement: await bundleLeanInk() }] };

export default defineConfig({
  test: {
    // Much of the time goes into waiting for processes and screens: on two cores, three files do not keep both busy.
    maxWorkers: 4,
    // Real processes and pseudo-terminals on two cores: patience is cheaper than a flaky red.
    testTimeout: 30_000,
    hookTimeout: 30_000,
    sequence: { sequencer: LongestFirst },
    reporters: ['default', new SecondTries()],
    projects: [
      // On a machine that others load, too, one of some thousand waits is in vain. What fails twice is broken.
      {
        extends: true,
        resolve,
        test: { name: 'apart', include: ['test/**/*.test.{ts,tsx}'], exclude: together, retry: 1 },
      },
      // To import the same modules anew for each file took longer than many a test.
      { extends: true, resolve, test: { name: 'together', include: together, isolate: false } },
      {
        extends: true,
        test: { name: 'plain ink', include: onPlainInk, ...whateverInkIs, isolate: false },
      },
    ],
  },
});
