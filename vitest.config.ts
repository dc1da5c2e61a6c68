import { defineConfig } from 'vitest/config';

/** Tests of what computes and draws: they start no process and leave nothing behind, so files can share what they import. */
const together = [
  ...['analysis', 'base', 'contract', 'protocol', 'query', 'scheduler', 'spec', 'text'],
  ...['dialogs', 'keys', 'model', 'screens', 'state', 'surface', 'widgets'].map((room) => `tui/${room}`),
].map((part) => `test/${part}/**/*.test.{ts,tsx}`);

export default defineConfig({
  test: {
    // Much of the time goes into waiting for processes and screens: on two cores, two files do not keep both busy.
    maxWorkers: 3,
    // Real processes and pseudo-terminals on two cores: patience is cheaper than a flaky red.
    testTimeout: 30_000,
    hookTimeout: 30_000,
    projects: [
      { extends: true, test: { name: 'apart', include: ['test/**/*.test.{ts,tsx}'], exclude: together } },
      // To import the window anew for each file took longer than its tests.
      { extends: true, test: { name: 'together', include: together, isolate: false } },
    ],
  },
});
