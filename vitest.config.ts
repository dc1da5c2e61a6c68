import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { bundleLeanInk } from './scripts/lean-ink.js';
import { PATIENCE_MS } from './test/patience.js';

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
    const isLong = ({ moduleId }: TestSpecification) => /\/test\/(e2e|supervisor)\//.test(moduleId);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

/** The window runs on Ink as it is shipped: without what it does not use. */
const resolve = { alias: [{ find: /^ink$/, replacement: await bundleLeanInk() }] };

/** What has the machine to itself, once all else has run: supervisors that are killed after a time must first get to something. */
const alone = ['test/supervisor/core/event-loop.test.ts', 'test/faults/faults.test.ts'];

/** Files share what they import: to import the same modules anew for each file took longer than many a test. */
const shared = {
  isolate: false,
  // Real processes and pseudo-terminals on two busy cores: patience is cheaper than a flaky red. What a test waits for ends before.
  testTimeout: 3 * PATIENCE_MS,
  hookTimeout: 3 * PATIENCE_MS,
  expect: { poll: { timeout: PATIENCE_MS } },
  tags: [{ name: 'long', description: 'Of the long tier, `npm run test:long`; `npm test` leaves it out.' }],
};

export default defineConfig({
  test: {
    // Much of the time goes into waiting for processes and screens: three files at a time keep two cores busy.
    maxWorkers: 3,
    globalSetup: 'test/programs-folder.ts',
    sequence: { sequencer: LongestFirst },
    // Projects share what is transformed.
    experimental: { fsModuleCache: true },
    tags: shared.tags,
    projects: [
      { resolve, test: { ...shared, name: 'shipped', include: ['test/**/*.test.{ts,tsx}'], exclude: alone } },
      { resolve, test: { ...shared, name: 'alone', include: alone, sequence: { groupOrder: 1 } } },
      { test: { ...shared, name: 'plain ink', include: onPlainInk, ...whateverInkIs } },
    ],
  },
});
